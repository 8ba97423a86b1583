"""Whether a sentence can be understood and is of use alone, without what was said before it.

Theory of operation. An item is read months later, between others. "I took them to a snowy one" says nothing then;
"That one is Max, my childhood dog" does, since what it says tells what it speaks of. So a pronoun needs something in its
own sentence that it may stand for: words of matter before it, or, where it is the subject, the figure, the name or the
relation that the sentence gives it. Then small talk is cut out, and what is left has to have some matter. The rules know
English; of other languages they refuse little.

Source: DESIGN section 4, "Extraction"; own rules, tuned on the first two conversations of locomo-dev and two companion
chats; the rows are in `phrases`.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from everfold.core.extraction.phrases import IDENTITY, NO_ITEM, NO_MATTER, SMALL_TALK, Phrase
from everfold.core.statements.classification import break_words
from everfold.core.statements.rules import DATE_WORDS
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.words import STOP_WORDS, read_matter, read_words

LEAST_MATTER: Final = 2
"""So many words of matter make an item; one does beside a figure, a name or a day. Source: own choice, on the data above."""
_SENTENCES: Final = 256
"""How many sentences stay looked up: the few of a message, of which each is asked about several things."""
_OPENERS: Final = re.compile(
    r"^(?:(?:oh|well|so|and|but|also|yes|yeah|yep|no|hey|hi|hello|ok|okay|thanks|thank you|btw|however|plus|anyway|besides)[,!.]? +)+"
)
_WORD: Final = re.compile(r"[\w'&+/@.-]*\w")
_ASKS: Final = re.compile(r"\?[\s\"')]*$")
_NAME: Final = re.compile(r"(?<=[\w,:;&-] )(?!I\b|I'|OK\b)[A-Z][\w&'+-]*(?!\W*$)|(?<=\b(?:is|am|as) )[A-Z]\w+")
"""A word with a capital within the sentence; the last one may be that of the one who is spoken to."""
_NAMED_LAST: Final = re.compile(r"\b(?:in|at|to|from|for|by|with|of|called|named|is|near) (?:the )?[A-Z]\w+\W*$")
_PRONOUN: Final = re.compile(
    r"\b(?:it|them|they|he|him|she|her(?= (?:to|in|at|on|for|and|but|with)\b)|those|these|one|ones|this|that)\b"
    r"(?:'\w+)?"
)
_POINTING: Final = frozenset(("this", "that", "these", "those"))
_NOUN_BEHIND: Final = re.compile(
    r" (?!to\b|in\b|at\b|on\b|for\b|and\b|but\b|after\b|before\b|when\b|with\b|from\b)\w{3,}"
)
_OBJECT: Final = re.compile(r"(?<=\w )(?:it|them|one|ones)\b(?!'\w)(?! (?:is|was|will|would|has|gave|gives)\b)")
_HARMLESS: Final = re.compile(
    r"\b(?:this|these|that|those) (?:\w+ )?(?:week|weekend|month|year|morning|afternoon|evening|summer|spring|autumn|fall|winter|days?|time|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday)\b|\b(?:no|any|every|some|each|more than|at least|only|number) ?one\b|\bone (?:of|day|step|more|year|month|week|hour|\w+s?\b(?= (?:a|per)\b))"
    r"|\bit's all the same\b|\b(?:is|was|it's) (?:it )?(?:that|better|best|forbidden|important|possible)\b|\bit is\b(?= (?:better|best|forbidden|important|possible))"
    r"|\b(?:so|such|say|said|know|knew|think|thought|hope|sure|mention|note|means?|told|tell|glad|prefer|remember|way|everyone|everything|all|thing|things|something|is|was|now|in case|find|found) that\b"
    r"|(?<=\w )that(?= (?:is|was|are|were|has|have|had|i|we|you|he|she|it|they|my|our|the|works?|helps?|rehearses|makes?|can|will|'s|\w+s)\b)"
)
"""Words of pointing that point at nothing before: days, conjunctions, and what has its noun behind it."""
_SUBJECT: Final = re.compile(
    r"(?:it|they|he|she|this|that|these|those)(?:'\w+)?(?: one| ones)?\b(?! (?:week|month|year|time)\b)"
)
_RELATION: Final = re.compile(
    r"^(?:\w+(?:'s|'re)|\w+ (?:one |ones )?(?:is|was|are|were)) (?:called |named |the |an? )?(?:(?:\w+, |\w+ )?(?:my|our)\b|(\w+))"
)
"""What a pronoun that is the subject is: a person's own, or what the first word behind the verb names."""
_OF_SOMEBODY: Final = re.compile(r"(?:he|she|they)(?:'s|'re| is| are| was| were) (?:my|our)\b")
"""Who a person is to the speaker, which tells something with a name only: "He is my brother." says it of no one."""
_FIRST_VERB: Final = re.compile(
    r"^(?:i|we)(?:'\w+)?(?: (?:also|just|really|will|would|can|could|should|have|had|am|was|gonna|going to|want to|wanna|need to|gotta|shall|still|only|even|then|always|never|try to|tried to))*"
    r" \w+(?: \w+ing)? (?:it|them|him|her|some of (?:them|these|those)|(?:this|that|these|those)(?=\W*$|[,.;!]| (?:to|in|at|on|for|and|but|after|before|when|with|from)\b))(?!\w)"
)
"""What a person did with something that only the sentence before it names."""


_OWN_TURN: Final = re.compile(
    r"\b(?:i|we)(?:'ll| will|'m gonna|'m going to|'re going to| really)? ?(?:have to|need to|need still|must(?! (?:not|never|ask)\b)|gotta|got to|should|hope|wish|know|guess|think|plan|want to|'ll|will)\b"
)
"""What the speaker has to do themselves: a task, whatever word of duty it has."""


def is_self_contained(sentence: str, *, least_matter: int = LEAST_MATTER) -> bool:
    """Whether a sentence is understood without the one before it, and is no question, praise, small talk or advice.

    Args:
        sentence: As it was said.
        least_matter: So many words of matter it has; one less beside a figure, a name or a day.
    """
    lowered = lower(sentence)
    if ("?" in lowered and _ASKS.search(lowered)) or _has_phrase("no item", lowered):
        return False
    bare = _cut_openers(lowered)
    if find_identity(lowered):
        return not _lacks_object(bare) and (_OF_SOMEBODY.match(bare) is None or _has_fact(sentence))
    if _points_back(sentence, bare):
        return False
    return _has_matter(sentence, _cut_small_talk(bare), least_matter)


def is_advice(sentence: str) -> bool:
    """Whether a sentence is praise or advice to the one who listens, or a comment on what is shown."""
    return _has_phrase("no item", lower(sentence))


def is_small_talk(sentence: str) -> bool:
    """Whether nothing of matter is left of a sentence without its small talk."""
    bare = _cut_small_talk(_cut_openers(lower(sentence)))
    return bare.isascii() and not _list_matter(bare)


def find_identity(lowered: str) -> bool:
    """Whether a sentence, as `lower` gives it, tells who the person is: name, home, work, family, health, age, pets."""
    return _has_phrase("identity", lowered)


def has_own_turn(lowered: str) -> bool:
    """Whether a sentence says what its speaker has to do, will do or thinks, and so orders nothing."""
    return _OWN_TURN.search(lowered) is not None


def points_back(sentence: str) -> bool:
    """Whether a sentence speaks of something that only the one before it names."""
    return _points_back(sentence, _cut_openers(lower(sentence)))


def lower(sentence: str) -> str:
    """A sentence in lower case with plain apostrophes, on one line."""
    return " ".join(sentence.replace("\u2019", "'").lower().split())


_Table: TypeAlias = Literal["identity", "no item", "small talk"]
_TABLES: Final[dict[_Table, tuple[Phrase, ...]]] = {
    "identity": IDENTITY,
    "no item": NO_ITEM,
    "small talk": SMALL_TALK,
}


class _Rows(NamedTuple):
    """The patterns of all tables: those that each cue leaves possible, and those without a cue, each with its table."""

    by_cue: dict[str, list[tuple[_Table, str]]]
    others: list[tuple[_Table, str]]


@cache
def _read_rows() -> _Rows:
    rows = _Rows({}, [])
    for table, phrases in _TABLES.items():
        for row in phrases:
            for cue in row.cues.split():
                rows.by_cue.setdefault(cue, []).append((table, row.pattern))
            if not row.cues:
                rows.others.append((table, row.pattern))
    return rows


@lru_cache(maxsize=_SENTENCES)
def _list_tried(lowered: str) -> dict[_Table, list[str]]:
    """The patterns of each table that a sentence may have, by its words; kept, since each table is asked for in turn."""
    by_cue, others = _read_rows()
    cues = by_cue.keys() & break_words(lowered)
    found = dict.fromkeys(row for cue in sorted(cues) for row in by_cue[cue])
    if not lowered.isascii():
        found |= dict.fromkeys(others)
    tried: dict[_Table, list[str]] = {}
    for table, pattern in found:
        tried.setdefault(table, []).append(pattern)
    return tried


def _has_phrase(table: _Table, lowered: str) -> bool:
    """Whether a sentence has a phrase of a table."""
    return any(compile_pattern(pattern).search(lowered) for pattern in _list_tried(lowered).get(table, ()))


def _cut_small_talk(bare: str) -> str:
    for pattern in _list_tried(bare).get("small talk", ()):
        bare = compile_pattern(pattern).sub(" ", bare)
    return bare


def _cut_openers(lowered: str) -> str:
    opened = _OPENERS.match(lowered)
    return lowered[opened.end() :] if opened else lowered


def _points_back(sentence: str, bare: str) -> bool:
    """Whether a pronoun stands for what the sentence, given also in small letters without its openers, does not name."""
    if _FIRST_VERB.match(bare) is not None:
        return True
    if _PRONOUN.search(bare) is None:
        return False
    plain = _HARMLESS.sub(" ", bare)
    subject = _SUBJECT.match(plain)
    if subject is not None:
        return not _is_told(sentence, plain)
    found = _PRONOUN.search(plain)
    if found is None or len(_list_matter(plain[: found.start()])) >= LEAST_MATTER:
        return False
    is_of_noun = found[0] in _POINTING and _NOUN_BEHIND.match(plain, found.end()) is not None
    return not (is_of_noun and any(map(str.isdigit, plain)))


def _lacks_object(bare: str) -> bool:
    """Whether something is done with what the sentence does not name, its subject aside."""
    found = _OBJECT.search(_HARMLESS.sub(" ", bare))
    return found is not None and len(_list_matter(bare[: found.start()])) < LEAST_MATTER


def _is_told(sentence: str, plain: str) -> bool:
    """Whether a sentence tells what its subject, a pronoun, is: by a figure, or as a name or a person's own."""
    if any(map(str.isdigit, plain)):
        return True
    relation = _RELATION.match(plain)
    if relation is None:
        return False
    return relation[1] is None or re.search(rf"\b{re.escape(relation[1].capitalize())}\b", sentence) is not None


def _has_matter(sentence: str, plain: str, least_matter: int) -> bool:
    matter = _list_matter(plain)
    if len(matter) >= least_matter or not plain.isascii():
        return True
    return bool(matter) and (_has_fact(sentence) or not _DAYS.isdisjoint(plain.split()))


_DAYS: Final = frozenset(DATE_WORDS.split())


def _has_fact(sentence: str) -> bool:
    return any(map(str.isdigit, sentence)) or _has_name(sentence)


def _has_name(sentence: str) -> bool:
    return _NAME.search(sentence) is not None or _NAMED_LAST.search(sentence) is not None


def _list_matter(text: str) -> Sequence[str]:
    """The words of a text that tell its matter, each once."""
    empty = _read_empty_words()
    return [word for word in dict.fromkeys(read_matter(text).split()) if word not in empty and len(word) > 1]


@cache
def _read_empty_words() -> frozenset[str]:
    return STOP_WORDS.union(_stem(NO_MATTER.split()))


def _stem(words: Iterable[str]) -> Iterable[str]:
    return (stem for word in words for stem in read_words(word))
