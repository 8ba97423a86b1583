"""Whether one statement takes the place of another, decided over the two alone.

Theory of operation. A newer statement either says itself that something is not so any more (`change_marks`), or it is the
older one word for word but for one value of a thing that has one such value at a time (`slots`). In both cases the two
must speak of the same thing: a number or a name that tells things apart has to be equal, and words that they share beyond
that prove nothing. Without certainty nothing is replaced: both statements stand, each with its date.

Source: DESIGN section 4, "Item"; `bench/supersession.py` measures it.
"""
# ruff: noqa: RUF001  (letters of other scripts are what this is about)

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from everfold.core.statements.assertions import (
    BE,
    HABITS,
    HAVE,
    POINTERS,
    REMEMBERED_READINGS,
    REMEMBERED_TEXTS,
    VERBS,
    WIDE,
    WORK,
    Assertion,
    expand,
    list_stems,
    list_tokens,
    read_assertion,
)
from everfold.core.statements.change_marks import MARKS, ChangeMark, MarkKind
from everfold.core.statements.changed_values import is_changed
from everfold.core.statements.changes import DENIALS, says_change
from everfold.core.statements.frames import JOINS, list_own_names
from everfold.core.statements.given_up import list_given_up, split_clauses
from everfold.core.statements.other_things import speaks_of_another
from everfold.core.statements.quotes import is_negative
from everfold.core.statements.single_values import is_same_but_one
from everfold.core.statements.slots import (
    Slot,
    ValueSort,
    find_slot,
    holds_one,
    is_definite,
    is_one_of_many,
    is_past,
    is_value,
    list_units,
    list_values,
    sort_value,
)
from everfold.core.text.patterns import compile_pattern

_CUES: Final = (
    r"\b(?:correction|typo|update|wrong|oops|mistake|change|mistaken|meant|scratch|forget|mis(?:read|spoke|typed|remembered)|mind|make (?:it|that)|as i said|wait|turn(?:s|ed) out|what i said|actually"
    r"|now|these days|currently|as of|instead|effective|rather|not|no longer|i said|it was|stop\w*|used to|is wrong|quit|gave up|given up|ceased|cancel\w*|called off|moved|postponed|rescheduled|changed|extended"
    r"|raised|lowered|renamed|relocated|migrated|upgraded|delayed|pushed|brought forward|shifted|shortened|increased|reduced|cut|set|put off|updated|reassigned|transferred|switched|from now|in place of|before"
    r"|went|converted|replaced|left|dropped|swapped|strike|disregard|ignore|my bad|correct|i was off|mixed|after all|in fact|by now|meanwhile|lately|recently|since|starting|become|became|going forward|nowadays|this time"
    r"|bumped|rose|gone|came|climbed|fell|grew|rebooked|slipped|assigned|handed|passed|promoted|downgraded|halved|doubled|corrected|renewed|sold|new|took over|takes over|resigned|retired|rid|gave|broke up|divorced|goodbye"
    r"|out of|away|phased|scrapped|ditched|abandoned|second thoughts?|missed|please note|from today|from tomorrow|lifted|scaled|reset|shrunk|put back|put forward"
    r"|korrektur|nein|falsch|meinte|geirrt|vertan|verschrieben|jetzt|nun|ab sofort|inzwischen|mittlerweile|neuerdings|\w*statt\w*|nicht|kein\w*|aufgehört|abgesagt|gestrichen|fällt aus|verschoben|umgezogen|verlegt"
    r"|geändert|gewechselt|erhöht|gesenkt|verlängert|umbenannt|vorgezogen|gezogen|\w+gestiegen|umgestellt|anstelle"
    r"|erratum|non|pardon|voulais|trompée?|maintenant|désormais|dorénavant|à présent|en fait|plutôt|pas|plus|au lieu|à la place|arrêté|annulé\w*|déplacé\w*|reporté\w*|décalé\w*|repoussé\w*|avancé\w*|prolongé\w*|passé\w*"
    r"|transféré\w*|changé\w*|déménagé\w*|emménagé\w*|remplacé"
    r"|corrección|perdón|quise|equivoqué|ahora|en realidad|actualmente|no|en vez|en lugar|ya no|dejé|cancelad\w+|movi\w+|cambi\w+|aplaz\w+|pospu\w+|traslad\w+|pasad\w+|pasó|pasamos|pasé|adelantad\w|retrasad\w|mud\w+"
    r"|correzione|scusa|volevo|sbagliat\w|adesso|ora|d'ora|in realtà|attualmente|invece|al posto|più|smesso|annullat\w|spostat\w|rinviat\w|rimandat\w|cambiat\w|anticipat\w|trasferit\w|passat\w"
    r"|correctie|nee|sorry|bedoelde|vergist|nu|voortaan|tegenwoordig|eigenlijk|niet|geen|in plaats|gestopt|afgelast|geannuleerd|verplaatst|verzet|verschoven|verhuisd|uitgesteld|gewijzigd|verlengd|verhoogd|overgestapt|gegaan"
    r"|correção|desculpa|não|dizer|enganei|agora|na verdade|atualmente|em vez|no lugar|ao invés|já não|parei|adiad\w+|mudad\w+|mudou|passou|foi|alterad\w+|transferid\w+|antecipad\w+|remarcad\w+"
    r"|поправка|исправление|нет|ошибка|виду|ошибся|ошиблась|теперь|сейчас|отныне|на самом деле|не|вместо|больше|уже|отмен\w+|перенес\w+|переехал\w*)\b"
    r"|更正|纠正|不对|说错|不是|不再|已经不|取消|改|推迟|提前|换成|搬到|移到|訂正|間違え|すみません|ではなく|じゃなくて|もう|中止|変更|延期|移動|引っ越"
)
"""Words of which one stands in whatever has a mark: most statements have none, and are not searched for marks."""
_ADDITIVE: Final = re.compile(
    r"\b(?:also|too(?=\s*(?:[.,;!?]|$))|as well|another|additionally|in addition|auch|außerdem|aussi|también|anche|ook|também|ещё|еще|тоже)\b|也|还"
)
_OPEN: Final = re.compile(
    r"\?\s*$|\b(?:(?<!asked )(?<!asks )if|whether|might|maybe|perhaps|possibly|probably|could be|could have|would be|would have|may be|may have|not sure|wenn|falls|vielleicht|peut-être|quizás|forse"
    r"|misschien|talvez|если|возможно|может быть)\b"
)
"""Questions and suppositions change nothing."""
_CLAUSES: Final = re.compile(
    r"\s*(?:(?<!\d)[,;:!?]|[,;:!?](?!\d)|[。，；、])+\s*|(?<!\b[DdMm]r)(?<!\b[Mm]rs)(?<!\b[Mm]s)(?<!\b[Ss]t)(?<!\b[Nn]o)(?<!\bProf)\.\s+|\s+(?:and|but|und|aber|et|pero|sino|sondern|maar|mas|а|но)\s+|\s+[-–—]\s+"
)

_REMEMBERED_PAIRS: Final = 4 * REMEMBERED_TEXTS
"""How many pairs stay compared: the lines of a rollup meet again at every rollup, some 1,700 pairs each time.
Source: own measurement, the endless log at a limit of 8,000."""


class Change(NamedTuple):
    """What a statement says of others.

    Attributes:
        kinds: Its marks.
        rejected: The stems of each value that it says is not so, and of what was used until now, in `switched`.
        ended: The stems of each clause that says what is not so any more.
        moved: What it says was moved, with where to.
        clauses: Its clauses without marks and without what it rejects.
        content: The stems of all of it.
        plain: All of it without the words that say that it changes something.
        is_bare: Whether it names no subject of its own ("no, make it 12, not 300").
        is_first: Whether the speaker is the subject of a clause.
        is_idle: Whether it changes nothing: it asks, supposes, or adds to what was said.
    """

    kinds: frozenset[MarkKind]
    rejected: tuple[frozenset[str], ...]
    switched: tuple[frozenset[str], ...]
    ended: tuple[Assertion, ...]
    moved: tuple[tuple[Assertion, tuple[str, ...]], ...]
    clauses: tuple[Assertion, ...]
    content: frozenset[str]
    plain: Assertion
    is_bare: bool
    is_first: bool
    is_idle: bool


@lru_cache(maxsize=REMEMBERED_TEXTS)
def is_marked(text: str) -> bool:
    """Whether a statement says itself that it changes or corrects something."""
    return bool(read_change(text).kinds) or says_change(text)


def _has_same_condition(older: str, change: Change) -> bool:
    """Whether both hold under one condition: what asks or supposes nothing else may change it."""
    found = _CONDITION.search(older)
    return found is not None and list_stems(list_tokens(found["when"].lower())) <= change.content


_CONDITION: Final = re.compile(r"(?i)\bif (?P<when>[^,;.]+)")


@lru_cache(maxsize=_REMEMBERED_PAIRS)
def replaces(newer: str, older: str, *, is_saved: bool = False, is_near: bool = False) -> bool:
    """Whether a newer statement clearly takes the place of an older one.

    Args:
        newer: In words, as it was said.
        older: The same.
        is_saved: The person asked to keep the older one: only a marked correction replaces it.
        is_near: It was said shortly before, so that a correction without a subject may mean it.
    """
    change = read_change(newer)
    if newer == older or (change.is_idle and not _has_same_condition(older, change)):
        return False
    expanded = expand(older).strip()
    said = read_assertion(expanded)
    if said.content.isdisjoint(change.content) and not (said.is_first and change.is_first):
        return False
    if not _takes_place(newer, change, older, said, is_saved=is_saved, is_near=is_near):
        return False
    return not speaks_of_another(expand(newer).strip(), expanded) and not _only_adds(newer, change, said)


def _takes_place(newer: str, change: Change, older: str, said: Assertion, *, is_saved: bool, is_near: bool) -> bool:
    """Whether a change or another value is told, of a thing of this name."""
    is_marked_change = bool(change.kinds)
    if is_marked_change and _corrects(change, said, is_near=is_near):
        return True
    if is_changed(newer, older, is_marked=is_marked_change, is_near=is_near):
        return True
    return not is_saved and (_updates(newer, change, older, said) or is_same_but_one(newer, older))


def _only_adds(newer: str, change: Change, said: Assertion) -> bool:
    """Whether a statement says again all that the older one says, and takes nothing back."""
    if not said.content <= change.content or change.kinds & _TAKING_BACK:
        return False
    clauses = map(read_assertion, split_clauses(expand(newer)))
    return (
        any(said.content <= clause.content for clause in clauses)
        and not list_given_up(expand(newer))
        and not DENIALS.search(newer)
        and not _is_denied(said)
    )


_TAKING_BACK: Final[frozenset[MarkKind]] = frozenset(("corrects", "rejects", "ends", "moves", "shifts", "switches"))


@lru_cache(maxsize=REMEMBERED_READINGS)
def read_change(text: str) -> Change:
    """The marks of a statement, and what they say of others."""
    expanded = expand(text).strip()
    lowered = expanded.lower()
    kinds: set[MarkKind] = set()
    rejected: list[frozenset[str]] = []
    switched: list[frozenset[str]] = []
    moved: list[tuple[Assertion, tuple[str, ...]]] = []
    plain = expanded
    if compile_pattern(_CUES).search(lowered):
        for mark, found in _find_marks(lowered):
            kinds.add(mark.kind)
            if mark.kind in ("rejects", "switches"):
                (rejected if mark.kind == "rejects" else switched).append(_read_group(found, "old"))
            elif mark.kind == "moves":
                moved.append(_read_moved(expanded, found))
                if found.groupdict().get("old"):
                    switched.append(_read_group(found, "old"))
        plain = _strip_marks(expanded)
    clauses = tuple(map(read_assertion, _list_clauses(plain)))
    ended = tuple(_list_ended(expanded)) if "ends" in kinds else ()
    whole = read_assertion(expanded)
    return Change(
        kinds=frozenset(kinds),
        rejected=tuple(filter(None, rejected)),
        switched=tuple(filter(None, switched)),
        ended=ended,
        moved=tuple(moved),
        clauses=clauses,
        content=whole.content,
        plain=read_assertion(_strip_now(expanded)) if kinds else whole,
        is_idle=bool(_ADDITIVE.search(lowered) or _OPEN.search(lowered)),
        is_bare=all(map(_is_bare, clauses)),
        is_first=any(clause.is_first for clause in (whole, *clauses)),
    )


def _list_clauses(plain: str) -> list[str]:
    """A statement, and each of its clauses; one without a subject has that of the clause before it."""
    clauses, subject = [plain], ""
    for part in _split(plain):
        read = read_assertion(part)
        if read.verb_at == 0 and subject and not read.is_first:
            clauses.append(f"{subject} {part}")
        elif read.verb_at > 0 and not read.is_pointing:
            subject = " ".join(read.raw[: read.verb_at])
        clauses.append(part)
    return [part for part in dict.fromkeys(clauses) if part]


def _is_bare(clause: Assertion) -> bool:
    """Whether a clause names nothing but a value."""
    words = clause.tokens[max(clause.verb_at, 0) :]
    named = [word for word in words if list_stems((word,)) and word not in VERBS | POINTERS]
    return clause.is_pointing and (not named or is_value(named))


def _find_marks(lowered: str) -> Iterator[tuple[ChangeMark, re.Match[str]]]:
    for mark in MARKS:
        if (found := compile_pattern(mark.pattern).search(lowered)) is not None:
            yield mark, found


def _read_group(found: re.Match[str], name: str) -> frozenset[str]:
    groups = found.groupdict()
    return list_stems(list_tokens(groups.get(name) or groups.get(f"{name}2") or "")) - {"on", "one"}


def _read_moved(expanded: str, found: re.Match[str]) -> tuple[Assertion, tuple[str, ...]]:
    """What was moved, as the subject of a clause, and the words of where to."""
    start, end = found.span("subject")
    subject = _strip_now(expanded[start:end])
    first, last = found.span("new")
    thing = read_assertion(f"{subject} is") if subject.strip() else read_assertion("I am")
    return thing, list_tokens(expanded[first:last])


def _strip_now(text: str) -> str:
    return _strip_marks(text, ("corrects", "now", "instead"))


def _strip_marks(text: str, kinds: Sequence[MarkKind] = ("corrects", "rejects", "now", "instead")) -> str:
    """A sentence without the words of its marks, and without what it says is not so."""
    for mark in sorted((one for one in MARKS if one.kind in kinds), key=lambda one: one.kind != "rejects"):
        text = compile_pattern(f"(?i:{mark.pattern})").sub(_keep_end, text)
    return " ".join(text.split()).strip(" ,;:.!")


def _keep_end(found: re.Match[str]) -> str:
    """What is put for a mark: nothing, or the comma that ends a group."""
    return " " if not found[0].startswith((",", ";", ":")) else ", "


def _split(text: str) -> list[str]:
    return [part.strip(" .") for part in _CLAUSES.split(text) if part.strip(" .")]


def _list_ended(expanded: str) -> Iterator[Assertion]:
    """The clauses that deny something, without the words that do."""
    for part in _split(expanded):
        for mark in MARKS:
            if mark.kind == "ends" and compile_pattern(mark.pattern).search(part.lower()):
                said = re.sub(compile_pattern(_ENDING), " ", part.lower())
                yield read_assertion(_restore(part, " ".join(said.split())))
                break


_ENDING: Final = (
    r"\bno longer\b|\bnot\b|\bany ?more\b|\bany longer\b|\b(?:stopped|quit|gave up|given up|ceased)\b|\b(?:do|does|did)\b|\b(?:has been|have been|is|are|was|got) (?:cancell?ed|called off)\b"
    r"|\b(?:nicht|kein\w*) mehr\b|\baufgehört\b|\b(?:ist |wurde |wird )?(?:abgesagt|gestrichen)\b|\bfällt aus\b|\bne\b|\bplus\b|\barrêté\b|\b(?:est |a été )?annulée?s?\b|\bya no\b|\bmás\b|\bdejé de\b|\b(?:está |fue )?cancelad[oa]s?\b"
    r"|\bnon\b|\bpiù\b|\bsmesso di\b|\b(?:è |è stata |è stato )?annullat[oaie]\b|\b(?:niet|geen) (?:meer|langer)\b|\bgestopt met\b|\b(?:is )?(?:afgelast|geannuleerd)\b|\bjá não\b|\bnão\b|\bmais\b|\bparei de\b|\bno\b"
    r"|\bбольше не\b|\bуже не\b|\bотмен[её]н[ао]?\b|不再|已经不|取消|了|もう|中止|ません|ない"
)


def _restore(original: str, lowered: str) -> str:
    """The text with its first letter as it was."""
    return original[:1] + lowered[1:] if lowered[:1] == original[:1].lower() else lowered


# --- marked corrections


def _corrects(change: Change, said: Assertion, *, is_near: bool) -> bool:
    is_event = _is_event(change, said)
    return (
        any(_is_ended(change, ended, said) for ended in change.ended)
        or any(_is_rejected(change, old, said, is_near=is_near) for old in change.rejected if not is_event)
        or any(_is_switched(change, old, said) for old in change.switched)
        or any(_is_moved(thing, new, said, is_near=is_near) for thing, new in change.moved)
        or any(_is_restated(change, clause, said) for clause in change.clauses)
    )


def _is_event(change: Change, said: Assertion) -> bool:
    """Whether the older clause tells what happened once, which another event does not undo."""
    verb = said.tokens[said.verb_at] if said.verb_at >= 0 else ""
    return is_past(verb) and verb not in BE | HAVE and "corrects" not in change.kinds


def _is_ended(change: Change, ended: Assertion, said: Assertion) -> bool:
    """Whether all that is denied is what the older one says, of the same thing."""
    if not ended.content or _is_denied(said):
        return False
    if ended.content <= said.subject and ended.verb_at < 0:
        return _says_when(said)
    if not ended.content <= said.content or said.is_first != ended.is_first:
        return False
    if said.verb_at < 0:
        return ended.content == said.content and len(said.content) > 1
    if said.is_first or (said.verb_at >= 0 and not said.subject):
        return bool(ended.predicate) and _covers_list(ended, said)
    is_told = bool(said.subject) and _covers_subject(change.content, said) and not ended.content <= said.subject
    return is_told and _covers_list(ended, said)


def _covers_list(ended: Assertion, said: Assertion) -> bool:
    """Whether nothing of a list is left over that was not denied."""
    return not said.is_joined or said.content <= ended.content


def _is_rejected(change: Change, old: frozenset[str], said: Assertion, *, is_near: bool) -> bool:
    """Whether the older one says what is rejected, of what the newer one speaks of."""
    if not old <= said.content or _is_denied(said) or any(old <= clause.content for clause in change.clauses):
        return False
    if _keeps_measure(change, old, said):
        return True
    if not _leaves_none(old, said):
        return False
    left = said.subject - old
    if not said.subject and not said.is_first:
        return _shares_order(change, old, said) or (change.is_bare and is_near)
    if change.is_bare and is_near:
        return old.isdisjoint(said.subject)
    if said.is_first:
        rest = said.content - old - list_stems(said.tokens[said.verb_at :][:1])
        return rest <= change.content and change.is_first and (bool(rest) or _keeps_verb(change, said))
    if old & said.subject:
        rest = said.predicate - old
        return bool(rest) and rest <= change.content
    return bool(left) and (_covers_subject(change.content | old, said) or (is_near and _names_head(change, old, said)))


def _keeps_measure(change: Change, old: frozenset[str], said: Assertion) -> bool:
    """Whether another value is told with the same two words behind the only one: "5.90 euros flat instead of 4.90"."""
    if sum(token[0].isdigit() for token in said.tokens) != 1:
        return False
    measures = {said.tokens[at + 1 : at + 3] for at, token in enumerate(said.tokens[:-2]) if {token} == old}
    return is_value(tuple(old)) and any(
        token[0].isdigit() and clause.tokens[at + 1 : at + 3] in measures
        for clause in change.clauses
        for at, token in enumerate(clause.tokens[:-2])
    )


def _names_head(change: Change, old: frozenset[str], said: Assertion) -> bool:
    """Whether what was told shortly before is named again in short, with the number or time of it that is not so."""
    nouns = said.tokens[: said.verb_at]
    head = next((at for at, noun in enumerate(nouns) if noun in _OF), len(nouns))
    return is_value(tuple(old)) and bool(list_stems(nouns[:head])) and list_stems(nouns[:head]) <= change.content


_OF: Final = frozenset(
    "of for with at in on to from für mit von bei im am de du des pour avec à del con para di per van voor met da do".split()
)


def _leaves_none(old: frozenset[str], said: Assertion) -> bool:
    """Whether nothing of a list would be lost with what is rejected."""
    return not said.is_joined or not said.predicate - old - list_stems(said.tokens[said.verb_at :][:1])


def _keeps_verb(change: Change, said: Assertion) -> bool:
    verb = said.tokens[said.verb_at] if said.verb_at >= 0 else ""
    return change.is_first and any(
        verb == clause.tokens[clause.verb_at] for clause in change.clauses if clause.verb_at >= 0
    )


def _shares_order(change: Change, old: frozenset[str], said: Assertion) -> bool:
    """Whether an order, or a note without a verb, is the same but for what is rejected."""
    rest = said.content - old
    return bool(rest) and rest <= change.content


def _is_switched(change: Change, old: frozenset[str], said: Assertion) -> bool:
    """Whether the older one says that what was left until now is used, worked with or lived in."""
    if not old <= said.content or said.verb_at < 0 or _is_denied(said):
        return False
    if said.tokens[said.verb_at] not in HABITS or old.isdisjoint(said.predicate - said.subject):
        return False
    if not said.predicate - old - list_stems(said.tokens[said.verb_at :][:1]) <= change.content:
        return False
    if said.is_first:
        return change.is_first
    return bool(said.subject) and _covers_subject(change.content, said)


def _covers_subject(content: frozenset[str], said: Assertion) -> bool:
    """Whether words tell the whole subject of a clause, or at least the name that it has ("my sister Clara")."""
    return said.subject <= content or (bool(names := list_own_names(said)) and names <= content)


def _is_moved(thing: Assertion, new: tuple[str, ...], said: Assertion, *, is_near: bool) -> bool:
    """Whether the older one says where, when or how much it was, of what has moved."""
    if said.verb_at < 0:
        return bool(thing.subject) and thing.subject <= said.content and _says_when(said)
    if not _is_same_thing(thing, said) and not (is_near and _points_back(thing, said)):
        return False
    verb, rest = said.tokens[said.verb_at], said.raw[said.verb_at + 1 :]
    if verb in WORK:
        return False
    told = sort_value(tuple(token.lower() for token in new), new, (), ())
    if told == "when":
        return _says_when(said)
    if thing.is_first:
        return verb in _LIVING
    if new[0][:1].isdigit():
        return any(character.isdigit() for token in rest for character in token)
    sort = sort_value(tuple(token.lower() for token in rest), rest, (), ())
    return _names_place(rest) or (verb in HABITS and sort == told and sort not in ("word", "mixed", "state"))


def _names_place(rest: tuple[str, ...]) -> bool:
    """Whether words name a place: "in Ulm", "in room 4", "in the hall", but not "in tune"."""
    if len(rest) < 2 or rest[0].lower() not in _PLACES:  # noqa: PLR2004  (a preposition and the place)
        return False
    return rest[1][0].isupper() or rest[1].lower() in _DEFINITE or any(token[0].isdigit() for token in rest[1:])


_DEFINITE: Final = frozenset(
    "the my our der dem den die das meinem unserem le la les el los il lo de het o a room".split()
)
_LIVING: Final = frozenset(
    "live lives living wohne wohnt wohnen lebe habite habitons vis vivo vivimos abito abitiamo woon wonen moro moramos живу живём 住".split()
)
_PLACES: Final = frozenset("in at on under with im am auf bei à au en nel a op no na в parked booked 在 room".split())


def _says_when(said: Assertion) -> bool:
    return any(sort_value((token.lower(),), (token,), (), ()) == "when" for token in said.raw) or _has_wide_day(said)


def _has_wide_day(said: Assertion) -> bool:
    return bool(re.search(r"[周星]|曜", "".join(said.tokens))) and bool(re.search(f"[{WIDE}]", "".join(said.tokens)))


def _points_back(newer: Assertion, older: Assertion) -> bool:
    """Whether "the operation" is the one that was called somebody's shortly before."""
    at = older.tokens.index("'s") if "'s" in older.tokens[: older.verb_at] else 0
    owner = list_stems(older.tokens[:at])
    return newer.tokens[:1] == ("the",) and bool(owner) and newer.subject | owner == older.subject


def _is_same_thing(newer: Assertion, older: Assertion) -> bool:
    """Whether two clauses have the same subject: the speaker, or the same words."""
    if newer.is_first or older.is_first:
        return newer.is_first and older.is_first
    if newer.subject < older.subject and newer.subject and newer.subject == list_own_names(older):
        return True
    return bool(newer.subject) and newer.subject == older.subject


def _is_restated(change: Change, clause: Assertion, said: Assertion) -> bool:
    """Whether a clause says what the older one says, with another value, and marks it as a correction."""
    if clause.tokens == said.tokens:
        return False
    slot = find_slot(said, clause)
    if slot is not None and holds_one(said, slot, is_marked=True):
        return True
    if not change.kinds & {"corrects", "instead"} or _is_event(change, said) or not _has_same_verb(clause, said):
        return False
    if slot is not None and (is_definite(said) or not said.verb_at):
        return _may_be_corrected(slot, said, is_named="corrects" in change.kinds)
    shared = clause.predicate & said.predicate
    is_same = _is_same_thing(clause, said) and len(shared) > 1 and len(said.predicate - clause.predicate) <= 1
    return is_same and "corrects" in change.kinds


def _may_be_corrected(slot: Slot, said: Assertion, *, is_named: bool) -> bool:
    """Whether another value in one place corrects the older one; `is_named`: the newer one says that it is a correction."""
    is_shared = len(slot.before) > said.verb_at + 1 or bool(slot.after) or said.tokens[said.verb_at] not in BE
    is_shared |= {slot.older[0], slot.newer[0]} <= {"a", "an"}
    if not is_named and not JOINS.isdisjoint((*slot.older[1:], *slot.newer[1:])):
        return False
    return slot.older_sort == slot.newer_sort != "mixed" and (is_shared or slot.older_sort not in ("word", "state"))


def _denies(clause: Assertion) -> bool:
    return DENIALS.search(" ".join(clause.tokens)) is not None


def _has_same_verb(one: Assertion, other: Assertion) -> bool:
    return one.verb_at >= 0 and other.verb_at >= 0 and one.tokens[one.verb_at] == other.tokens[other.verb_at]


# --- the same but for one value


def _updates(newer: str, change: Change, older: str, said: Assertion) -> bool:
    """Whether the newer one is the older one with another value, or with the opposite sign, and says nothing of a list."""
    told = change.plain
    if said.is_joined:
        return False
    slot = find_slot(said, told)
    if slot is not None:
        return holds_one(said, slot, is_marked=bool(change.kinds & {"now", "instead", "corrects"}))
    if _differs_in_value(said, told):
        return True
    is_opposite = is_negative(older) != is_negative(newer)
    return is_opposite and told.content == said.content and len(said.content) > 1 and said.is_first == told.is_first


def _differs_in_value(said: Assertion, told: Assertion) -> bool:
    """Whether two clauses have the same words but for one number or time, in whatever order, of one thing."""
    if said.verb_at < 0 or not said.subject or said.subject != told.subject or not _has_same_verb(said, told):
        return False
    older, newer = list_values(said), list_values(told)
    changed: list[ValueSort] = [sort for sort in ("when", "number", "code") if older.get(sort) != newer.get(sort)]
    if len(changed) != 1 or changed[0] not in older or changed[0] not in newer or not is_definite(said):
        return False
    is_same = said.content - older[changed[0]] == told.content - newer[changed[0]]
    is_one = len(older[changed[0]]) == len(newer[changed[0]]) == 1 and not is_one_of_many(said)
    return is_same and is_one and list_units(said) == list_units(told) and said.tokens[said.verb_at] in BE


def _is_denied(said: Assertion) -> bool:
    return is_negative(" ".join(said.tokens))
