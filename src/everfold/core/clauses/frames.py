"""Frames: a clause as its subject, its verb and the phrases behind it, for finding the one phrase in which two differ.

A phrase begins at a preposition. Verbs that only place or name a thing ("is", "sits", "takes place") are one verb, so
that "the picnic is at the lake" and "the picnic takes place in the park" are compared.

Source: own grammar, tuned on the pairs of `tests/data/supersession` that `core/replacement` names.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from everfold.core.clauses.assertions import (
    BE,
    DETERMINERS,
    HAVE,
    REMEMBERED_READINGS,
    Assertion,
    is_adverb,
    list_stems,
    read_assertion,
)
from everfold.core.clauses.slots import (
    ADJECTIVES,
    CODE,
    INDEFINITE,
    MANY,
    MODALS,
    MONTHS,
    PARTICLES,
    STATES,
    TITLES,
    WEEKDAYS,
    ValueSort,
    is_number,
    names_time,
)
from everfold.core.clauses.slots import (
    is_past as is_past_form,
)
from everfold.core.statements.rules import list_word_set
from everfold.core.text.stems import PLAIN_FORMS, stem


def _list_stem_set(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


JOINS: Final = list_word_set(
    "at on in to for from by with under near about into through via over behind between until till after before within off onto while above below against"
    " since up during without inside outside beside around"
    " im am um auf bei beim mit von vom zu zum zur nach aus für bis ab über unter vor hinter neben gegen durch"
    " à au aux chez dans sur pour par avec sous en vers entre jusqu'à al con para por desde hasta sobre bajo"
    " alla alle allo ai nel nella da dal dalla per tra fra su sul sulla bij naar met voor op om uit tot onder em ao às com pela pelo até"
    " в с у к до за под по из"
)
"""Where a phrase begins."""
AUXILIARIES: Final = (
    BE
    | HAVE
    | list_word_set(
        "will would shall should must be been being going to got get gets set supposed scheduled planned due wird werden wurde wurden soll sollte muss worden sera été fue foi foram doit va"
        " será debe sarà deve zal moet wordt vai deve"
    )
)
NAMING: Final = _list_stem_set(
    "be is are sit stand stay live lie take place hold happen locate base run go come cost last start begin host store keep park call name meet rehearse hang"
    " called named titled"
)
CALLED: Final = _list_stem_set("called named titled")
_NOW: Final = _list_stem_set(
    "instead now anymore only again wieder agora jetzt ahora adesso maintenant just exactly nu теперь doch"
)
_FREQUENCIES: Final = list_word_set(
    "once twice daily weekly monthly yearly hourly every half whole fortnightly täglich wöchentlich"
)
_HOW_OFTEN: Final = _FREQUENCIES - {"half", "whole"} | {"times"}
TIMES: Final = _list_stem_set("every month week day year morning evening night weekend hour") | frozenset(
    map(stem, WEEKDAYS | MONTHS)
)
"""Words that only say when or how often."""
_GENERIC: Final = _list_stem_set(
    "next new current own whole entire regular daily still date day time name number price deadline amount rate cost limit size place location venue start end"
    " address total actual entry existing default asking role job position post title slot subscription account membership right correct"
)
AGENTS: Final = frozenset(
    map(
        stem,
        (
            "landlord doctor company boss manager airline school marketing management ops client customer team office owner vet pharmacist bank hotel organiser organizer legal"
            " finance design compliance"
        ).split(),
    )
)
"""Who changes a thing without being it."""
LIGHT: Final = _list_stem_set(
    "go come work do make take use get see keep have run be say want like way thing one on still only just everything everyone usually always currently require"
    " really much very there some stay plan planning supposed upcoming also together good time happen"
)
"""Words that may be missing where the same is said again."""
_SAME: Final = (
    "mother mom mum mama mommy|father dad papa daddy|grandmother grandma granny|grandfather grandpa|child kid|bicycle bike|telephone phone|physiotherapist physio physiotherapy"
    "|apartment flat|photo picture|e-mail email mail|colour color|favourite favorite|application app|repository repo|appointment appt|wifi wi-fi"
    "|centre center|medication medicine|refrigerator fridge|gigabyte gig gb|database db|information info|doctor dr|require need|price cost fee charge|deadline due|weight weigh|manager boss supervisor|password pw passcode|birthday bday|favourite fav|fly flight|telephone mobile cell|lesson class|allergic allergy|medication tablet pill|height high|width wide|length long|depth deep"
)
"""Words for one thing."""
_PLAIN: Final = {stem(word): stem(family.split()[0]) for family in _SAME.split("|") for word in family.split()}
GENERIC: Final = frozenset(_PLAIN.get(word, word) for word in _GENERIC)
"""Words beside which the same thing is meant: "the gym's opening time" is told of the gym."""
_FRACTION: Final = re.compile(r"\d+\.\d+")
DURATIONS: Final = _list_stem_set("month week day year hour minute quarter")


class Phrase(NamedTuple):
    """What stands behind a verb, up to the next preposition.

    Attributes:
        join: Its preposition, empty for what directly follows the verb.
        words: The stems of what it says, numbers too.
        unit: Those of them that are no number and no time.
        sort: What sort of value it is; `word` for anything without a rule.
        is_definite: Whether it names one thing: by a name, a number, an article or an owner.
    """

    join: str
    words: frozenset[str]
    unit: frozenset[str]
    sort: ValueSort
    is_definite: bool


class Frame(NamedTuple):
    """A clause taken apart.

    Attributes:
        clause: The clause itself.
        subject: The stems of what it speaks of; empty for an order and for what the speaker tells of themselves.
        verb: The stem of its verb, "be" for one that only places or names.
        phrases: What stands behind the verb.
        is_past: Whether it tells of something that happened, or only may.
        is_copula: Whether its verb is "is" or "is called".
    """

    clause: Assertion
    subject: frozenset[str]
    verb: str
    phrases: tuple[Phrase, ...]
    is_past: bool
    is_copula: bool


_COURSES: Final = frozenset(
    ("class", "course", "training", "degree", "apprenticeship", "internship", "thesis", "project")
)


def is_under_way(frame: Frame) -> bool:
    """Whether a clause tells what has an end: what a person is in the middle of, is on, or takes as a course."""
    tokens = frame.clause.tokens
    return (
        frame.verb == "be"
        or not _COURSES.isdisjoint(tokens)
        or any(
            token in BE and any(word.endswith("ing") for word in tokens[at + 1 : at + 3])
            for at, token in enumerate(tokens)
        )
    )


def list_plain(tokens: Iterable[str]) -> frozenset[str]:
    """The stems of lower-cased words that carry meaning, those for one thing as one."""
    return make_plain(list_stems(tokens))


@lru_cache(maxsize=REMEMBERED_READINGS)
def make_plain(stems: frozenset[str] | tuple[str, ...]) -> frozenset[str]:
    """Stems, those of words for one thing as one."""
    return frozenset(_PLAIN.get(one, one) for one in stems) - _NOW


@lru_cache(maxsize=REMEMBERED_READINGS)
def read_frame(text: str) -> Frame | None:
    """A clause as a frame, or None where no verb is known."""
    clause = read_assertion(text)
    if clause.verb_at < 0:
        return None
    at = clause.verb_at
    while at < len(clause.tokens) and _is_auxiliary(clause.tokens, at):
        at += 1
    verb, is_past = "be", clause.tokens[clause.verb_at] in ("was", "were", "had", "war", "waren")
    if at < len(clause.tokens) and (
        at == clause.verb_at or _is_participle(clause.tokens[at]) or _is_doing(clause.tokens, at)
    ):
        (verb,) = make_plain((stem(PLAIN_FORMS.get(clause.tokens[at], clause.tokens[at])),)) or ("be",)
        is_past |= at == clause.verb_at and is_past_form(clause.tokens[at])
        at += 1
    return Frame(
        clause=clause,
        subject=make_plain(clause.subject),
        verb="be" if verb in NAMING else verb,
        phrases=tuple(_list_phrases(clause, at)),
        is_past=is_past or clause.tokens[clause.verb_at] in MODALS,
        is_copula=verb in CALLED or (verb == "be" and not BE.isdisjoint(clause.tokens[clause.verb_at : at])),
    )


def _is_auxiliary(tokens: Sequence[str], at: int) -> bool:
    word, follows = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
    if word in HAVE:
        return _is_participle(follows) or follows in AUXILIARIES or is_adverb(follows)
    return word in AUXILIARIES or is_adverb(word)


def _is_participle(word: str) -> bool:
    if any(word in states for states in STATES):
        return False
    is_form = len(word) > 4 and word.endswith(("ed", "ing")) and not word.endswith("eed")  # noqa: PLR2004
    return is_form or (word in PLAIN_FORMS and word not in HAVE) or word in ("set", "put")


def _is_doing(tokens: Sequence[str], at: int) -> bool:
    """Whether a word that may also name a state is a verb, by what follows: "working for", "taken by"."""
    return tokens[at : at + 2] in _DOINGS


_DOINGS: Final = frozenset(
    (verb, join)
    for verb in ("working", "taken", "paid", "booked", "settled")
    for join in ("for", "at", "with", "by", "from")
)


def _list_phrases(clause: Assertion, start: int) -> Iterator[Phrase]:
    join, places = "", list[int]()
    for at in range(start, len(clause.tokens)):
        is_often = clause.tokens[at] in _OFTEN and bool(places)
        if not is_often and (clause.tokens[at] not in JOINS or _is_roughly(clause.tokens, at)):
            places.append(at)
            continue
        if places and (phrase := read_phrase(clause, join, places)).words:
            yield phrase
        join, places = clause.tokens[at], [at] if is_often else []
    if places and (phrase := read_phrase(clause, join, places)).words:
        yield phrase


_OFTEN: Final = list_word_set("every each daily weekly monthly")
"""Where a phrase begins that says how often."""


def _is_roughly(tokens: Sequence[str], at: int) -> bool:
    """Whether a word only says that the number behind it is not exact ("about 20 minutes")."""
    return tokens[at] in ("about", "around", "over", "under", "within") and any(map(counts, tokens[at + 1 : at + 2]))


def read_phrase(clause: Assertion, join: str, places: Sequence[int]) -> Phrase:
    """The words at some places of a clause, which follow a preposition."""
    tokens, raw = [clause.tokens[at] for at in places], [clause.raw[at] for at in places]
    times = [token for token in tokens if is_time(token, join)]
    numbers = [token for token in tokens if counts(token) and token not in times]
    words = list_plain(tokens)
    if not times and not numbers and tokens[0] in ("a", "an") and DURATIONS.issuperset(map(stem, tokens[1:])):
        numbers = tokens[:1]
    unit = list_plain(token for token in tokens if token not in times and token not in numbers) - {"time"}
    if not _HOW_OFTEN.isdisjoint(tokens):
        unit = (unit - DURATIONS) | {"often"}
    sort = _sort_phrase(join, tokens, raw, unit, has_time=bool(times), has_number=bool(numbers))
    is_language = len(tokens) == 1 and raw[0].istitle() and tokens[0] in ADJECTIVES
    is_definite = is_language or sort != "word" or (tokens[0] in DETERMINERS and tokens[0] not in INDEFINITE)
    return Phrase(join=join, words=words, unit=unit, sort=sort, is_definite=is_definite)


_CLOCK: Final = _list_stem_set("am pm clock uhr h month next week half past last sharp o'clock noon")


def _sort_phrase(
    join: str, tokens: Sequence[str], raw: Sequence[str], unit: frozenset[str], *, has_time: bool, has_number: bool
) -> ValueSort:
    core = [word for word, token in zip(raw, tokens, strict=True) if token not in DETERMINERS and list_stems((token,))]
    is_lasting = join == "to" and bool(unit) and DURATIONS.issuperset(unit)
    is_clock = (
        has_number
        and not is_lasting
        and (unit <= _CLOCK if join in _AT else join not in _LASTING and bool(join) and bool(unit) and unit <= _CLOCK)
    )
    if has_time or is_clock:
        return "when"
    if has_number:
        return "number"
    if len(core) == 1 and CODE.fullmatch(core[0].lower()):
        return "code"
    if is_named(_leave_relative(core)) and not ADJECTIVES.issuperset(tokens):
        return "name"
    is_state = len(core) == 1 and any(core[0].lower() in states for states in STATES)
    return "state" if is_state else "word"


def _leave_relative(words: Sequence[str]) -> Sequence[str]:
    """A name without the relative that it is of: "her sister Amy"."""
    return words[1:] if len(words) > 1 and words[0] in MANY else words


_LASTING: Final = list_word_set("for für pour para per voor por")
_AT: Final = list_word_set("at um om à alle las")


def is_time(token: str, join: str = "") -> bool:
    """Whether a word is a day or a time; "3.8" is one only behind "at"."""
    return names_time(token) and (join in _AT or not _FRACTION.fullmatch(token))


def counts(token: str) -> bool:
    """Whether a word is a number, or says how often."""
    return is_number(token) or token in _FREQUENCIES or _FRACTION.fullmatch(token) is not None


def is_named(words: Sequence[str]) -> bool:
    """Whether words as they were written are a name, perhaps with a title."""
    return any(word[:1].isupper() for word in words) and all(
        word[:1].isupper() or word.lower() in TITLES | PARTICLES for word in words
    )


def list_own_names(clause: Assertion) -> frozenset[str]:
    """The proper names in a subject that name the thing itself, none where one is only its owner's."""
    before = clause.raw[: clause.verb_at]
    if "'s" in before or clause.verb_at < 1 or _NAMED_BEHIND.search(" ".join(before)):
        return frozenset()
    return list_plain(word.lower() for word in before[1:] if word[:1].isupper()) - {""}


def turn_to_thing(frame: Frame) -> Frame | None:
    """Give "I keep the key in the hall" as "the key is in the hall"; None for what tells nothing of a thing of the speaker's."""
    clause, phrases = frame.clause, frame.phrases
    verb = clause.tokens[clause.verb_at]
    has_thing = len(phrases) > 1 and not phrases[0].join and phrases[0].is_definite
    if not clause.is_first or verb not in _KEEPING | _CAUSING or not has_thing:
        return None
    at = next((at for at in range(clause.verb_at + 1, len(clause.tokens)) if clause.tokens[at] in JOINS), 0)
    thing, place = clause.raw[clause.verb_at + 1 : at], clause.raw[at:]
    return read_frame(" ".join((*thing, "is" if verb in _KEEPING else f"{verb}s", *place))) if at and thing else None


_KEEPING: Final = list_word_set("keep store park leave hide have hang put stored parked put moved hold host")
_CAUSING: Final = list_word_set("open close start begin end finish run serve sell")
"""What the speaker does with a thing, and the thing does itself: "we close the bar at ten"."""


_NAMED_BEHIND: Final = re.compile(rf"\b(?:{'|'.join(sorted(JOINS))}|of) [A-Z\d]")
"""A name behind a preposition tells which thing it is, and is not the thing's own ("the call with Ann")."""


def turn_around(frame: Frame) -> Frame | None:
    """Give "Grace is my roommate" as "my roommate is Grace"; None where no noun with an article or an owner stands behind "is"."""
    clause = frame.clause
    behind, before = clause.raw[clause.verb_at + 1 :], clause.raw[: clause.verb_at]
    if not frame.is_copula or clause.is_first or not behind or not before:
        return None
    if behind[0].lower() not in DETERMINERS or behind[0].lower() in INDEFINITE:
        return None
    return read_frame(" ".join((*behind, clause.raw[clause.verb_at], *before)))
