"""What kind of statement a sentence is, by general rules of language: English, and the plainest forms of seven more.

Theory of operation: each rule names the cue words without which it cannot hold. The words of a sentence are looked up
in one table that gives, as bits, the rules worth trying, the more binding kind first; the first pattern that is found
and not denied decides. Most sentences of a talk carry few cues, so they cost a lookup per word and few patterns.
The patterns speak of grammar (clause starts, modals and their subjects, polarity, tense), never of a subject matter.

Source: DESIGN G3, section 2 "standing statement"; precision, recall and cost in bench/statements.py and
bench/extraction.py.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, reduce
from operator import or_
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from everfold.core.statements.kinds import StatementKind, StatementRule
from everfold.core.statements.rule_tables import DENIALS, QUESTIONS, RULES, STORIES
from everfold.core.statements.rules import (
    DATE_WORDS,
    FAILURE_WORDS,
    FIRST_RULE,
    HAS_DATE,
    IMPERATIVE,
    IMPERATIVES,
    MAY_ASK,
    MAY_BIND,
    MAY_DATE,
    MAY_DATE_WORDS,
    MAY_FAIL,
    MAY_STATE,
    SPACING,
    STATE_WORDS,
    PatternForm,
    is_anchored,
    list_word_set,
    read_cues,
    read_pattern,
)

StatedKind = Literal[
    "remember", "correction", "decision", "constraint", "identity", "preference", "commitment", "task", "question"
]

_TAGS: Final = (
    *("ok", "okay", "please", "pls", "understood", "alright", "got it", "is that clear"),
    *("ja", "verstanden", "d'accord", "vale", "va bene", "tá", "goed", "хорошо", "ладно"),
)
"""What makes a question of an order in its form alone, behind it and before the mark."""
_ENCLOSED: Final = re.compile(r"[\"()\[\]{}<>*`/\\|=—\u2013…_]")
_ASCII_ENCLOSED: Final = b'"()[]{}<>*`/\\|=_'
ENCLOSING: Final = "("
JOINT: Final = ".a"
ENCLOSED_JOINT: Final = ENCLOSING + "a"
"""A mark with a word directly behind it: of those that enclose nothing, and of those that do."""
_LETTERS: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'-")


def _mark_byte(code: int) -> int:
    """How a byte shows in `mark_words`: as a mark that encloses, a letter, a digit, a blank, or another mark."""
    if code in _ASCII_ENCLOSED:
        return ord(ENCLOSING)
    if code in _LETTERS:
        return ord("a")
    return code if code in b"0123456789 " else ord(".")


_ASCII_MARKED: Final = bytes(map(_mark_byte, range(256)))
_WIDE_ENCLOSED: Final = "\u2014\u2013\u2026"
_find_dash: Final = re.compile(r"[ -]-\w").search
_find_elision: Final = re.compile(r"'(?!(?:t|m|s|d|ve|ll|re)\b)\w").search
"""An apostrophe with a word behind it: a quotation, or two words that are one as in French."""
_ASCII_BREAKS: Final = bytes(32 if chr(code) in '.,;:!?"()[]{}<>*`/\\|=_' else code for code in range(256))
_ASCII_LETTERS: Final = bytes(code if re.match("[a-z-]", chr(code)) else 32 for code in range(256))
_BREAKS: Final = str.maketrans(dict.fromkeys('.,;:!?"()[]{}<>*`/\\|=—\u2013…_', " "))
_OPENED: Final = (
    r"(?:please|pls|plz|now|then|next|ok|okay|and|also|just|so|hey)?,? ?(?:please |pls |let's |lets )?([a-z]+) "
)
_PUT_OFF: Final = (
    r"@(?:as soon as|once|after|when|until|before|by (?:the end|noon|\d|next)|by tonight|later|next (?:time|week|month)|in (?:an?|\d+|two|three) (?:hours?|minutes?|days?|weeks?)"
    r"|end of (?:the )?(?:day|week|month))\b"
)
_PASSING: Final = r"@(?:brb|right back|be back|let me|see you|wait|a (?:break|walk|shower|nap|look|bit)|grab|laugh|cry|die|make it|keep(?: on)? \w*ing|do (?:my|our) best|give it an?|get through|cherish|be sure to)\b|@haha"
_STATED: Final[dict[StatementKind, StatedKind]] = {"need": "task", "open": "question"}
_FIRST: Final = len(SPACING) - 1
"""Where in a text with `SPACING` before it a pattern may begin: at the blank before the sentence."""
_AFTER: Final = ("", *",.!?:;")
"""What may follow a word: looking up words with their marks, splitting at blanks is all that a sentence costs."""

_Cues: TypeAlias = dict[str, tuple[int, tuple[tuple[str, int], ...]]]
"""Bits by word, with the parts of a sentence that count beside it, each with their bits."""
_Search: TypeAlias = Callable[[str, int], re.Match[str] | None]


@cache
def _read_cue_table() -> _Cues:
    """The cues of all rules and flags, each also with the mark that may follow it."""
    cues: dict[str, int] = {}
    parts: dict[str, dict[str, int]] = {}
    for bit, listed in _list_cues():
        for word, part in read_cues(listed):
            bits = cues if part is None else parts.setdefault(word, {})
            bits[part or word] = bits.get(part or word, 0) | bit
            cues.setdefault(word, 0)
    return {word + mark: (bits, tuple(parts.get(word, {}).items())) for word, bits in cues.items() for mark in _AFTER}


def _list_cues() -> Iterator[tuple[int, str]]:
    """The bit of each flag and each rule with its cues."""
    yield HAS_DATE, DATE_WORDS
    yield MAY_DATE, MAY_DATE_WORDS
    yield MAY_FAIL, FAILURE_WORDS
    yield MAY_STATE, STATE_WORDS
    yield IMPERATIVE, " ".join(IMPERATIVES)
    yield MAY_ASK, _join_question_cues("task")
    yield MAY_BIND, _join_question_cues("constraint")
    for at, rule in enumerate(RULES):
        yield 1 << at + FIRST_RULE, rule.cues


def _join_question_cues(kind: StatementKind) -> str:
    return " ".join(rule.cues for rule in QUESTIONS if rule.kind == kind)


@cache
def _join_question_bits(kind: StatementKind) -> int:
    """The bits without which no question is of a kind: all that its cues set."""
    table = _read_cue_table()
    return reduce(or_, (table[word][0] for word in _join_question_cues(kind).split()))


_OUTCOME_WORDS: Final = list_word_set(f"{FAILURE_WORDS} {STATE_WORDS}")
_ASCII_OUTCOME_WORDS: Final = frozenset(map(str.encode, _OUTCOME_WORDS))
"""The same as bytes, which are split in three quarters of the time."""


class Statement(NamedTuple):
    """What a sentence is and where in it that shows (an offset in the sentence).

    A tuple, since one is made for most sentences of a talk.
    """

    kind: StatedKind
    standing: bool
    at: int
    lasting: bool


_BARE_TASK: Final = Statement("task", False, 0, False)
_QUESTION: Final = Statement("question", False, 0, False)
_BINDING: Final = frozenset({"constraint", "remember"})
_OPEN_QUESTION: Final = Statement("question", False, 0, True)


def collect_cues(lowered: str, words: list[str]) -> int:
    """The rules and flags that a lower-cased text, given also as split at blanks, leaves possible, as bits; 0 means none."""
    return collect_word_cues(lowered, break_words(lowered) if is_enclosing(lowered) else words)


def collect_word_cues(lowered: str, words: list[str]) -> int:
    """The same by the words of a text, those that marks enclose set free."""
    table = _read_cue_table()
    cues = 0
    for word in words:
        if word not in table:
            continue
        bits, parts = table[word]
        cues |= bits
        for part, more in parts:
            if part in lowered:
                cues |= more
    return cues


def is_enclosing(text: str) -> bool:
    """Whether marks without a blank beside them may hide words of a text: brackets, quotes, slashes, dashes."""
    if text.isascii():
        data = text.encode()
        return len(data.translate(None, _ASCII_ENCLOSED)) < len(data)
    return _ENCLOSED.search(text) is not None


def mark_words(lowered: str) -> str:
    """A lower-cased text, as long, with `ENCLOSING` for each mark that may hide words beside it.

    In a part of it that holds neither of the two joints, no word stands directly behind a mark, apostrophes and hyphens aside.
    """
    if lowered.isascii():
        return lowered.encode().translate(_ASCII_MARKED).decode()
    for mark in _WIDE_ENCLOSED:
        lowered = lowered.replace(mark, ENCLOSING)
    return lowered.encode("ascii", "replace").translate(_ASCII_MARKED).decode()


def is_spaced(lowered: str) -> bool:
    """Whether every word of a lower-cased text stands behind a blank."""
    marked = mark_words(lowered)
    return not (JOINT in marked or ENCLOSED_JOINT in marked or is_loose(lowered))


def is_loose(lowered: str) -> bool:
    """Whether an apostrophe or a dash may begin a word of a text, so that its words are not told by blanks."""
    if "'" in lowered and _find_elision(lowered) is not None:
        return True
    return (" -" in lowered or "--" in lowered) and _find_dash(lowered) is not None


def list_outcome_words(lowered: str) -> tuple[str, ...]:
    """The words of a lower-cased text that may report an error or a state; of ASCII also those between digits."""
    if lowered.isascii():
        words = lowered.encode().translate(_ASCII_LETTERS).split()
        return tuple([word.decode() for word in _ASCII_OUTCOME_WORDS.intersection(words)])
    return tuple(_OUTCOME_WORDS.intersection(lowered.translate(_BREAKS).split()))


def break_words(lowered: str) -> list[str]:
    """The words of a text without the marks between them; through bytes where it can be, in a fifth of the time."""
    if lowered.isascii():
        return lowered.encode().translate(_ASCII_BREAKS).decode().split()
    return lowered.translate(_BREAKS).split()


def find_statement(lowered: str, cues: int, *, from_user: bool, is_spaced: bool = False) -> Statement | None:
    """The statement that a lower-cased sentence makes, or None when it makes none.

    Only a user's remember, correction, decision, constraint, identity or preference is standing; a question never is,
    unless it asks for something from now on or to be remembered.

    Args:
        lowered: The sentence, with blanks for what it quotes of others.
        cues: What `collect_cues` gives for it.
        from_user: Whether a user says it.
        is_spaced: Whether `is_spaced` holds for it, which saves half of the time.
    """
    if lowered[-1:] == "?":
        return _find_tagged(lowered, cues, from_user=from_user) or _judge_question(lowered, cues, from_user=from_user)
    form: PatternForm = "spaced" if is_spaced else "loose"
    for rule in _list_tried(cues >> FIRST_RULE):
        at = _find_pattern(rule.pattern, rule.needles, lowered, form)
        if at is None:
            continue
        if _is_denied(rule, lowered, form):
            continue
        standing = from_user and rule.kind in DENIALS
        lasting = standing or _is_lasting(rule.kind, lowered, cues, from_user=from_user)
        return Statement(_STATED.get(rule.kind) or cast("StatedKind", rule.kind), standing, at, lasting)
    if cues & IMPERATIVE and (opened := read_pattern(_OPENED, "anywhere").match(lowered)) and opened[1] in IMPERATIVES:
        return _BARE_TASK
    return None


def _list_tried(bits: int) -> Iterator[StatementRule]:
    """The rules of these bits, in their order."""
    while bits:
        rest = bits & (bits - 1)
        yield RULES[(bits ^ rest).bit_length() - 1]
        bits = rest


def _is_denied(rule: StatementRule, lowered: str, form: PatternForm) -> bool:
    """Whether a sentence that a rule finds is none of its kind after all."""
    denial = None if rule.is_explicit else DENIALS.get(rule.kind)
    if denial and _find_pattern(denial.pattern, denial.needles, lowered, form) is not None:
        return True
    return rule.kind == "constraint" and any(
        _find_pattern(story.pattern, story.needles, lowered, form) is not None for story in STORIES
    )


def _find_pattern(pattern: str, needles: str, lowered: str, form: PatternForm) -> int | None:
    """Where a pattern that needs one of some parts begins in a sentence."""
    if needles and not _has_needle(needles, lowered):
        return None
    found = _read_search(pattern, form)(SPACING + lowered, _FIRST)
    if found is None or form == "spaced":
        return found and found.start() - 1
    found = _read_search(pattern, "anywhere")(lowered, 0)
    return found and found.start()


def _has_needle(needles: str, lowered: str) -> bool:
    """Whether a sentence has one of some parts."""
    return any(map(lowered.__contains__, _split_needles(needles)))


@cache
def _split_needles(needles: str) -> tuple[str, ...]:
    return tuple(needles.split("|"))


@cache
def _read_search(pattern: str, form: PatternForm) -> _Search:
    """How a pattern is searched for: what can only stand where a sentence begins is tried there alone."""
    compiled = read_pattern(pattern, form)
    return compiled.match if is_anchored(pattern) else compiled.search


def _find_tagged(lowered: str, cues: int, *, from_user: bool) -> Statement | None:
    """What binds in a sentence that ends as in ", ok?"; None where nothing does, and of any other question."""
    bare = lowered.rstrip("? \u00a0\u202f")
    if cues < IMPERATIVE or not bare.endswith(_TAGS):
        return None
    tag = next(tag for tag in _TAGS if bare.endswith(tag))
    order = bare.removesuffix(tag)
    found = find_statement(order.rstrip(" ,"), cues, from_user=from_user) if order.endswith((" ", ",")) else None
    return found if found and found.kind in _BINDING else None


def _judge_question(lowered: str, cues: int, *, from_user: bool) -> Statement:
    """What a sentence that ends as a question is: one that asks for something from now on, a request, or a question."""
    if from_user and _is_asked("remember", lowered, cues):
        return Statement("remember", True, 0, True)
    if _is_asked("constraint", lowered, cues):
        return Statement("constraint", from_user, 0, from_user)
    if from_user and _is_asked("open", lowered, cues):
        return _OPEN_QUESTION
    return _BARE_TASK if from_user and _is_asked("task", lowered, cues) else _QUESTION


def _is_asked(kind: StatementKind, lowered: str, cues: int) -> bool:
    """Whether a rule of questions finds a question to be of a kind."""
    return bool(cues & _join_question_bits(kind)) and any(
        rule.kind == kind
        and _has_needle(rule.needles, lowered)
        and read_pattern(rule.pattern, "anywhere").search(lowered)
        for rule in QUESTIONS
    )


def _is_lasting(kind: StatementKind, lowered: str, cues: int, *, from_user: bool) -> bool:
    """Whether what does not bind outlasts its moment: of the assistant only what it puts off or has decided."""
    match kind:
        case "need" | "open":
            return from_user
        case "commitment" if not from_user:
            return bool(cues & HAS_DATE) or read_pattern(_PUT_OFF, "anywhere").search(lowered) is not None
        case "commitment":
            return read_pattern(_PASSING, "anywhere").search(lowered) is None
        case _:
            return kind == "decision"
