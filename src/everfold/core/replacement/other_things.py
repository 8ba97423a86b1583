"""Whether a newer statement speaks of another thing of the same sort: a number, an owner or a word beside the noun tells.

"My son's therapist" is not "my therapist", "the guest password" is not "the password", "the course book" is not "the
course", and what is told of the end of something takes nothing from what is told of its start.

Source: own rules, tuned on the pairs of `tests/data/supersession` that the package names.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from everfold.core.changes.given_up import split_clauses
from everfold.core.clauses.assertions import (
    BE,
    VERBS,
    Assertion,
    is_adverb,
    list_stems,
    list_tokens,
    read_assertion,
)
from everfold.core.clauses.frames import (
    AUXILIARIES,
    DURATIONS,
    GENERIC,
    JOINS,
    LIGHT,
    TIMES,
    counts,
    list_own_names,
    list_plain,
    make_plain,
)
from everfold.core.clauses.slots import MANY, names_time
from everfold.core.statements.quotes import NOTHING
from everfold.core.statements.rules import KIN_WORDS, list_word_set
from everfold.core.text.stems import PLAIN_FORMS, stem

_BESIDE: Final = list_word_set(
    "the my our a an his her their your wrong correct different new old so that because me us you finally and und et y e en der die das den mein meine unser unsere le la les mon ma"
    " notre el los mi il mio mia de het mijn o meu minha"
)
"""What may stand before a noun without telling its thing from another."""
_FOREIGN: Final = list_word_set(
    "der die das und ist nicht ein eine mein meine unser unsere le la les mon ma notre est el los las mi es il lo è o os um uma meu minha é het een mijn de ora agora nu para"
    " wurde haben habe ich wir je nous yo io noi ik wij eu nós não"
)
"""Of languages in which no noun stands behind another to tell what it is of."""
_PARTICLES: Final = list_word_set("out up off back down over away forward ahead quit put cut set got let")
_BEHIND_HAS: Final = (("got",), ("been",), ("a",), ("an",), ("now",), ("not",))
"""Behind these "Tim's" is no owner: he has got something, or is something now."""
_OF: Final = list_word_set("for of de für von di van do da")
_OPPOSITES: Final = tuple(
    (list_word_set(one), list_word_set(other), is_verb)
    for one, other, is_verb in (
        ("start starts begin begins", "end ends finish finishes", True),
        ("open opens", "close closes", True),
        ("arrive arrives land lands", "leave leaves depart departs", True),
        ("first", "last second third", False),
        ("old", "new", False),
        ("this", "next last", False),
        ("adult adults", "child children", False),
        ("front", "back", False),
        ("upper", "lower", False),
        ("morning", "evening night", False),
        ("summer", "winter", False),
    )
)
"""What tells two things of one sort apart, as a verb or beside a subject's noun."""
_JOURNEY: Final = re.compile(
    r"\bfrom (?:(?!\b(?:is|are|was|were|has|have|be|went|goes?|rose|fell|came|up|down)\b)[\w'.]+ ){1,4}to\b"
)
_TRAVELS: Final = list_word_set("bus train tram ferry flight fly drive take takes ride coach leave leaves walk")
_OF_WORDS: Final = 4


def covers_subject(subject: frozenset[str], older: Assertion, told: frozenset[str]) -> bool:
    """Whether words tell the subject of an older clause: with its numbers, and the name that it has or most of its words."""
    numbers = frozenset(word for word in subject if word[:1] == "#" or any(letter.isdigit() for letter in word))
    names = list_own_names(older)
    if not subject or not numbers <= told:
        return False
    left = subject - GENERIC - told
    if not left or (names and names - GENERIC <= told):
        return True
    return len(left) < len(subject & told) and left.isdisjoint(_list_telling(older))


def _list_telling(older: Assertion) -> frozenset[str]:
    """The words of a subject that tell which thing it is: its noun, names, owners, and the nouns behind prepositions."""
    before, raw = older.tokens[: older.verb_at], older.raw[: older.verb_at]
    ends = [at - 1 for at, word in enumerate(before) if word in JOINS or word == "of"] + [len(before) - 1]
    owners = [before[at - 1] for at, word in enumerate(before) if word == "'s" and at]
    names = [word.lower() for at, word in enumerate(raw) if at and word[:1].isupper()]
    return list_plain((*(before[at] for at in ends if at >= 0), *owners, *names)) | _TELLING.intersection(before)


_TELLING: Final = list_word_set("his her their your first second third last next other another both each every")


def speaks_of_another(newer: str, older: str) -> bool:
    """Whether the newer statement, both expanded, names another thing of the sort that the older one speaks of."""
    return (
        _is_turned(newer, older)
        or _has_other_modifier(newer, older)
        or _has_other_twin(newer, older)
        or _has_other_roles(newer, older)
        or _has_other_occasion(newer, older)
        or _is_told_of_kin(newer, older)
    )


def _has_other_roles(newer: str, older: str) -> bool:
    """Whether who did something is now whom it is done to: "Ann lends Ben a book" and "Ben lends Ann a book"."""
    said = _list_persons(_SPEAKER.sub("me ", older))
    if len(said) < _TWO or _IS.search(older):
        return False
    told = [[word for word in _list_persons(clause) if word in said] for clause in split_clauses(newer)]
    return any(len(names) > 1 and names != [word for word in said if word in names] for names in told)


def _has_other_occasion(newer: str, older: str) -> bool:
    """Whether both say at what part of the day or week something is so, not at the same, and not of the same thing."""
    said, told = (frozenset(_OCCASION.findall(text.lower())) for text in (older, newer))
    if not said or not told or not said.isdisjoint(told):
        return False
    return not list_plain(list_tokens(_OCCASION.sub(" ", older.lower()))) <= list_plain(list_tokens(newer.lower()))


_OCCASION: Final = re.compile(
    r"\b(?:during the|at|by|in the|on) (day|night|mornings?|evenings?|afternoons?|weekends?|weekdays|winter|summer)\b"
)


def _list_persons(text: str) -> list[str]:
    """The names in a text and the speaker as "me", in their order."""
    words = ("me" if word == "us" else word for word in list_tokens(text))
    return list(
        dict.fromkeys(
            word for word in words if word == "me" or (word.istitle() and word != "I" and word.lower() not in _BESIDE)
        )
    )


_TWO: Final = 2
_SPEAKER: Final = re.compile(r"^(?:I|We|i|we) ")
_IS: Final = re.compile(r"\b(?:is|are)\b")


def _is_told_of_kin(newer: str, older: str) -> bool:
    """Whether what speakers told of themselves or of a thing of theirs is told of a person of theirs now, and of no one else."""
    said = read_assertion(older)
    if not said.is_first and said.tokens[0] not in _OWNERS:
        return False
    clauses = [read_assertion(clause) for clause in split_clauses(newer) if list_tokens(clause)]
    if any(clause.is_first or not _SELF.isdisjoint(clause.tokens) for clause in clauses):
        return False
    known = set(list_tokens(older.lower()))
    is_of_kin = [
        clause.tokens[0] in _OWNERS and not _KIN.isdisjoint(set(clause.tokens[1:_KIN_WORDS]) - known)
        for clause in clauses
    ]
    is_told_beside = any(
        not is_theirs and clause.verb_at > 0 and not clause.subject.isdisjoint(said.content) and not said.is_first
        for clause, is_theirs in zip(clauses, is_of_kin, strict=True)
    )
    return any(is_of_kin) and not is_told_beside


_KIN_WORDS: Final = 4
_OWNERS: Final = list_word_set("my our")
_KIN: Final = (
    MANY
    | list_word_set(KIN_WORDS)
    | list_word_set("grandma grandpa grandmother grandfather granny ex fiancé parents in-laws")
)
_SELF: Final = list_word_set("me us myself i we")


def _is_turned(newer: str, older: str) -> bool:
    told, said = [word.lower() for word in list_tokens(newer)], [word.lower() for word in list_tokens(older)]
    clause = read_assertion(older)
    named = said[: max(clause.verb_at, 0)]
    for first, second, is_verb in _OPPOSITES:
        for one, other in ((first, second), (second, first)):
            if _has_only(said if is_verb else named, one, other) and _has_only(told, other, one):
                return True
    if not _TRAVELS.isdisjoint(said) and ("home" in told) != ("home" in said):
        return True
    return not _JOURNEY.search(newer.lower()) and any(
        _goes_back(told, said[at], said[at + 1]) for at in range(len(said) - 1) if said[at] in _WAYS
    )


def _has_only(words: Sequence[str], one: frozenset[str], other: frozenset[str]) -> bool:
    return not one.isdisjoint(words) and other.isdisjoint(words)


def _goes_back(told: Sequence[str], join: str, place: str) -> bool:
    pairs = frozenset(pairwise(told))
    return (
        bool(list_stems((place,))) and (join, place) not in pairs and any((way, place) in pairs for way in _WAYS[join])
    )


_WAYS: Final = {"to": ("from",), "from": ("to", "for"), "for": ("from",)}


def _has_other_modifier(newer: str, older: str) -> bool:
    """Whether the subject of the older one stands in the newer one, but nowhere without a word that makes it another's."""
    said = read_assertion(older)
    subject = make_plain(said.subject) - GENERIC or make_plain(said.subject)
    if said.is_first or not subject:
        return False
    return _is_of_theirs(newer, said) or names_another(newer, subject, make_plain(said.content))


def _is_of_theirs(newer: str, said: Assertion) -> bool:
    """Whether the speaker's own thing stands in the newer statement only as his, hers or theirs."""
    before = said.tokens[: max(said.verb_at, 0)]
    if before[:1] not in (("my",), ("our",)) or "'s" in before or not _KIN.isdisjoint(before):
        return False
    owners = [last for last, word in pairwise(list_tokens(newer.lower())) if word == before[-1]]
    return bool(owners) and all(owner in ("his", "her", "their") for owner in owners)


def _has_other_twin(newer: str, older: str) -> bool:
    """Whether a noun of the older one's subject has another word before it: "the north side" and "the south side"."""
    said = read_assertion(older)
    told = list_tokens(newer.lower())
    known = make_plain(said.content)
    for word, noun in pairwise(said.tokens[: max(said.verb_at, 0)]):
        if _is_other_noun(word, NOTHING) and list_plain((noun,)) and word not in told:
            before = [one for one, other in pairwise(told) if other == noun]
            if before and all(one not in _BESIDE and _is_other_noun(one, known) for one in before):
                return True
    return False


def names_another(newer: str, subject: frozenset[str], known: frozenset[str]) -> bool:
    """Whether some words stand in the newer statement only beside others that are not known."""
    found = [
        _is_modified(clause, at, subject, known)
        for clause in map(read_assertion, split_clauses(newer))
        for at, word in enumerate(clause.tokens)
        if list_plain((word,)) & subject
    ]
    return bool(found) and all(found)


def _is_modified(clause: Assertion, at: int, subject: frozenset[str], known: frozenset[str]) -> bool:
    """Whether the noun at a place of a clause has an owner, a word or a phrase beside it that the older one lacks."""
    raw, told = clause.raw, clause.tokens
    follows = told[at + 1] if at + 1 < len(told) else ""
    if follows == "'s":
        is_verb = told[at + 2 : at + 3] in _BEHIND_HAS
        return not is_verb and not list_plain(told[at + 2 : at + 3]) <= subject | GENERIC
    if follows in ("next", "opposite"):
        return True
    is_english = _FOREIGN.isdisjoint(told)
    is_in_subject = at + 1 < clause.verb_at
    if (
        is_english
        and follows
        and raw[at + 1].islower()
        and _is_other_noun(follows, known, may_be_verb=not is_in_subject)
    ):
        return True
    before = at - 1
    while before >= 0 and list_plain((told[before],)) & subject:
        before -= 1
    if before > 0 and told[before] == "'s" and not make_plain((stem(told[before - 1]),)) <= known:
        return True
    if (
        is_english
        and before >= 0
        and told[before] not in _BESIDE
        and told[before] != "'s"
        and _is_other_noun(told[before], known)
    ):
        return True
    end = clause.verb_at if at < clause.verb_at and follows in JOINS else at + 2 + _OF_WORDS
    return follows in (JOINS | _OF if at < clause.verb_at else _OF) and _is_of_another(told[at + 2 : end], known)


def _is_of_another(words: Sequence[str], known: frozenset[str]) -> bool:
    end = next((at for at, word in enumerate(words) if word in JOINS or word in VERBS or word in BE), len(words))
    named = list_plain(words[:end]) - LIGHT - DURATIONS
    return bool(named) and not named & (known | GENERIC) and not any(map(counts, words[:end]))


_PREFIX: Final = re.compile(r"^(?:out|over|re|un|mis)(?=\w{3})")
"""Before an irregular verb: "outgrew", "rewrote"."""


def _is_other_noun(word: str, known: frozenset[str], *, may_be_verb: bool = True) -> bool:
    """Whether a word is a noun that the older one lacks: no verb, no number, no word of grammar."""
    if not word.isascii():
        return False
    is_grammar = (
        word in JOINS | VERBS | AUXILIARIES | _PARTICLES
        or is_adverb(word)
        or _PREFIX.sub("", word) in PLAIN_FORMS
        or counts(word)
    )
    if is_grammar or names_time(word) or word.endswith(("ed", "ing")) or not word[:1].isalpha():
        return False
    stems = list_plain((word,))
    return bool(stems) and not stems & (known | GENERIC | LIGHT | TIMES) and not (may_be_verb and _may_be_verb(word))


def _may_be_verb(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss")
