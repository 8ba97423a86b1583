"""What kind of statement a sentence is, by general rules of language: English, and the plainest forms of seven more.

Theory of operation: each rule names the cue words without which it cannot hold. The words of a sentence are looked up
in one table that gives, as bits, the rules worth trying, the more binding kind first; the first pattern that is found
and not denied decides. Most sentences of a talk carry few cues, so they cost a lookup per word and few patterns.
The patterns speak of grammar (clause starts, modals and their subjects, polarity, tense), never of a subject matter.

Source: DESIGN G3, section 2 "standing statement"; precision, recall and cost in bench/statements.py and
bench/extraction.py.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import or_
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from everfold.core.statement_kinds import StatementKind
from everfold.core.statement_rules import (
    ASKING_WORDS,
    BINDING_WORDS,
    DATE_WORDS,
    DENIALS,
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
    RULES,
    SPACING,
    STATE_WORDS,
    is_anchored,
    list_word_set,
    read_cues,
    read_loose_pattern,
    read_pattern,
)

StatedKind = Literal[
    "remember", "correction", "decision", "constraint", "identity", "preference", "commitment", "task", "question"
]

_STANDING: Final[frozenset[StatementKind]] = frozenset(DENIALS)

_ENCLOSED: Final = re.compile(r"[\"()\[\]{}<>*`/\\|=—\u2013…_]")
_ASCII_ENCLOSED: Final = b'"()[]{}<>*`/\\|=_'
ENCLOSING: Final = "("
JOINT: Final = ".a"
ENCLOSED_JOINT: Final = ENCLOSING + "a"
"""A mark with a word directly behind it: of those that enclose nothing, and of those that do."""
find_joint: Final = re.compile(re.escape(JOINT)).search
"""For a whole text: a pattern finds two characters sooner than `in` does where the first is rare."""
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
_BINDS: Final = re.compile(
    r"^(?:please |hey |and |so )?(?:can|could|would|will) .*\b(?:always|never|from now on)\b"
    r"|^(?:könntest|kannst|können|könnten|würdest|würden|podrías?|puedes?|podría|pourriez|pourrais|peux|pouvez|potresti|puoi|kun|kunt|poderia|pode)\b"
    r".*\b(?:immer|nie|niemals|ab jetzt|siempre|nunca|toujours|jamais|sempre|mai|altijd|nooit)\b"
)
_REQUEST: Final = re.compile(
    r"\W(?:(?:can|could|would|will) (?:you|u) (?!rather|not\b)|(?:can|could|may) (?:i|we) (?!bring|have\b))[a-z]"
)
"""Of a sentence with a blank before it. To search for what is no letter is twice as quick as for where a word begins."""
_REQUEST_NEEDLES: Final = (" you ", " i ", " we ", " u ")
"""Without one of these parts nothing is asked for."""
_OPENED: Final = re.compile(
    r"(?:please|pls|plz|now|then|next|ok|okay|and|also|just|so|hey)?,? ?(?:please |pls |let's |lets )?([a-z]+) "
)

_REMEMBERS: Final = re.compile(
    r"\b(?:can|could|would|will) (?:you|u) (?:please |kindly |maybe |possibly )?(?:remember|make a note|take a note|note (?:that|down)|keep in mind|memori[sz]e|not forget)"
    r"\b(?! (?:what|when|where|who|how|why|which|if|whether|me\b|the time))"
)
OPEN_QUESTION: Final = re.compile(
    r"\b(?:still|ever) (?:waiting|find out|found out|hear|heard|not)\b|\?\? \w+.*\bstill\b|: .*\bor no[t?]?\b|\?.* (?:undecided|unsure|tbd)\b"
)
OPEN_NEEDLES: Final = ("still ", "ever ", ": ", "undecided", "unsure", "tbd")
"""Without one of these parts no question is open."""
_PUT_OFF: Final = re.compile(
    r"\b(?:as soon as|once|after|when|until|before|by (?:the end|noon|\d|next)|by tonight|later|next (?:time|week|month)|in (?:an?|\d+|two|three) (?:hours?|minutes?|days?|weeks?)"
    r"|end of (?:the )?(?:day|week|month))\b"
)
_PASSING: Final = re.compile(
    r"\b(?:brb|right back|be back|let me|see you|wait|a (?:break|walk|shower|nap|look|bit)|grab|laugh|cry|die|make it|keep(?: on)? \w*ing|do (?:my|our) best|give it an?|get through|cherish|be sure to)\b|\bhaha"
)
_QUOTED: Final = re.compile(r"\"[^\"]*\"")
_STATED: Final[dict[StatementKind, StatedKind]] = {"need": "task", "open": "question"}

_KINDS: Final = tuple(row[0] for row in RULES)
_SAID: Final = tuple(_STATED.get(row[0]) or cast("StatedKind", row[0]) for row in RULES)
_NEEDLES: Final = tuple(tuple(filter(None, row[2].split("|"))) for row in RULES)
_DENIALS: Final = {kind: (at, needles.split("|")) for at, (kind, (needles, _)) in enumerate(DENIALS.items())}


_Search: TypeAlias = Callable[[str, int], re.Match[str] | None]


class _Searches(dict[int, _Search]):
    """The searches for the patterns of a table, each compiled when it is first tried: most programs meet few of them.

    What can only stand where a sentence begins is tried there, at the place that a search begins at.
    """

    def __init__(self, patterns: Sequence[str], read: Callable[[str], re.Pattern[str]]) -> None:
        self._patterns = patterns
        self._read = read

    def __missing__(self, at: int) -> _Search:
        pattern = self._read(self._patterns[at])
        search = self[at] = pattern.match if is_anchored(self._patterns[at]) else pattern.search
        return search


_PATTERNS: Final = tuple(row[3] for row in RULES)
_ANYWHERE: Final = _Searches(_PATTERNS, partial(read_pattern, is_spaced=False))
_SPACED: Final = _Searches(_PATTERNS, partial(read_pattern, is_spaced=True))
_LOOSE: Final = _Searches(_PATTERNS, read_loose_pattern)
_DENYING: Final = tuple(pattern for _, pattern in DENIALS.values())
_DENYING_ANYWHERE: Final = _Searches(_DENYING, partial(read_pattern, is_spaced=False))
_DENYING_LOOSE: Final = _Searches(_DENYING, read_loose_pattern)
_DENYING_SPACED: Final = _Searches(_DENYING, partial(read_pattern, is_spaced=True))
_FIRST: Final = len(SPACING) - 1
"""Where in a text with `SPACING` before it a pattern may begin: at the blank before the sentence."""


_AFTER: Final = ("", *",.!?:;")
"""What may follow a word: looking up words with their marks, splitting at blanks is all that a sentence costs."""


def _build_cues() -> dict[str, tuple[int, tuple[tuple[str, int], ...]]]:
    """Bits by word, with the parts of a sentence that count beside it, each with their bits."""
    cues: dict[str, int] = {}
    parts: dict[str, dict[str, int]] = {}
    flags = (
        (HAS_DATE, DATE_WORDS),
        (MAY_DATE, MAY_DATE_WORDS),
        (MAY_FAIL, FAILURE_WORDS),
        (MAY_STATE, STATE_WORDS),
        (IMPERATIVE, " ".join(IMPERATIVES)),
        (MAY_ASK, ASKING_WORDS),
        (MAY_BIND, BINDING_WORDS),
    )
    rules = ((1 << at + FIRST_RULE, row[1]) for at, row in enumerate(RULES))
    for bit, listed in (*flags, *rules):
        for word, part in read_cues(listed):
            bits = cues if part is None else parts.setdefault(word, {})
            bits[part or word] = bits.get(part or word, 0) | bit
            cues.setdefault(word, 0)
    return {word + mark: (bits, tuple(parts.get(word, {}).items())) for word, bits in cues.items() for mark in _AFTER}


_CUES: Final = _build_cues()


def _join_bits(words: str) -> int:
    """All rules that one of some words is a cue of."""
    return reduce(or_, (_CUES[word][0] for word in words.split()))


_MAY_REMEMBER: Final = _join_bits("remember note mind memorize forget")
_MAY_STAY_OPEN: Final = _join_bits("still undecided answer")
_CUE_WORDS: Final = frozenset(_CUES)
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


_new_statement: Final = tuple.__new__
"""Makes a statement from its columns, without the names of a call: in half the time."""
_BARE_TASK: Final = Statement("task", False, 0, False)
_QUESTION: Final = Statement("question", False, 0, False)
_OPEN_QUESTION: Final = Statement("question", False, 0, True)


def collect_cues(lowered: str, words: list[str]) -> int:
    """The rules and flags that a lower-cased text, given also as split at blanks, leaves possible, as bits; 0 means none."""
    return collect_word_cues(lowered, break_words(lowered) if is_enclosing(lowered) else words)


def collect_word_cues(lowered: str, words: list[str]) -> int:
    """The same by the words of a text, those that marks enclose set free."""
    cues = 0
    for word in words:
        if word not in _CUE_WORDS:
            continue
        bits, parts = _CUES[word]
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
    unless it asks for something from now on or to be remembered. What is quoted in more than two words is not the
    speaker's own.

    Args:
        lowered: The sentence.
        cues: What `collect_cues` gives for it.
        from_user: Whether a user says it.
        is_spaced: Whether `is_spaced` holds for it, which saves half of the time.
    """
    if '"' in lowered:
        lowered = _QUOTED.sub(_blank, lowered)
    if lowered[-1:] == "?":
        return _judge_question(lowered, cues, from_user=from_user)
    searches = _SPACED if is_spaced else _LOOSE
    searched = SPACING + lowered
    rules = cues >> FIRST_RULE
    while rules:
        rest = rules & (rules - 1)
        rule = (rules ^ rest).bit_length() - 1
        rules = rest
        if needles := _NEEDLES[rule]:
            for needle in needles:
                if needle in lowered:
                    break
            else:
                continue
        found = searches[rule](searched, _FIRST)
        if found is None or not (is_spaced or (found := _ANYWHERE[rule](lowered, 0))):
            continue
        kind = _KINDS[rule]
        may_stand = kind in _STANDING
        if may_stand and _is_denied(kind, lowered, is_spaced=is_spaced):
            continue
        standing = from_user and may_stand
        lasting = standing or _is_lasting(kind, lowered, cues, from_user=from_user)
        at = found.start() - 1 if is_spaced else found.start()
        return _new_statement(Statement, (_SAID[rule], standing, at, lasting))
    if cues & IMPERATIVE and (opened := _OPENED.match(lowered)) and opened[1] in IMPERATIVES:
        return _BARE_TASK
    return None


def _is_denied(kind: StatementKind, lowered: str, *, is_spaced: bool) -> bool:
    """Whether a sentence that a rule of this kind holds for is none of the kind after all."""
    at, needles = _DENIALS[kind]
    for needle in needles:
        if needle in lowered:
            denying = _DENYING_SPACED if is_spaced else _DENYING_LOOSE
            is_found = denying[at](SPACING + lowered, _FIRST) is not None
            return is_found and (is_spaced or _DENYING_ANYWHERE[at](lowered, 0) is not None)
    return False


def _judge_question(lowered: str, cues: int, *, from_user: bool) -> Statement:
    """What a sentence that ends as a question is: one that asks for something from now on, a request, or a question."""
    if from_user and cues & _MAY_REMEMBER and _REMEMBERS.search(lowered):
        return Statement("remember", True, 0, True)
    if cues & MAY_BIND and _BINDS.search(lowered):
        return Statement("constraint", from_user, 0, from_user)
    if from_user and cues & _MAY_STAY_OPEN and _is_open(lowered):
        return _OPEN_QUESTION
    return _BARE_TASK if from_user and cues & MAY_ASK and _is_request(lowered) else _QUESTION


def _is_request(lowered: str) -> bool:
    """Whether a question with a word of asking asks somebody to do something."""
    for needle in _REQUEST_NEEDLES:
        if needle in lowered:
            return _REQUEST.search(" " + lowered) is not None
    return False


def _is_open(lowered: str) -> bool:
    """Whether a question stays open beyond its moment."""
    for needle in OPEN_NEEDLES:
        if needle in lowered:
            return OPEN_QUESTION.search(lowered) is not None
    return False


def _is_lasting(kind: StatementKind, lowered: str, cues: int, *, from_user: bool) -> bool:
    """Whether what binds nobody outlasts its moment: of the assistant only what it puts off or has decided."""
    match kind:
        case "need" | "open":
            return from_user
        case "commitment" if not from_user:
            return bool(cues & HAS_DATE) or _PUT_OFF.search(lowered) is not None
        case "commitment":
            return _PASSING.search(lowered) is None
        case _:
            return kind == "decision"


def _blank(found: re.Match[str]) -> str:
    """Blanks for what a sentence quotes, unless it is a name."""
    return " " * len(found[0]) if found[0].count(" ") > 1 else found[0]
