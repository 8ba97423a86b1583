"""What kind of statement a sentence is, by general rules of language: English, and the plainest forms of five more.

Theory of operation: each rule names the cue words without which it cannot hold. The words of a sentence are looked up
in one table that gives, as bits, the rules worth trying, the more binding kind first; the first pattern that is found
and not denied decides. Most sentences of a talk carry few cues, so they cost a lookup per word and few patterns.
The patterns speak of grammar (clause starts, modals and their subjects, polarity, tense), never of a subject matter.

Source: DESIGN G3, section 2 "standing statement"; precision, recall and cost in bench/statements.py and
bench/extraction.py.
"""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, cast

from everfold.core.statement_rules import (
    DATE_WORDS,
    DENIALS,
    FAILURE_WORDS,
    FIRST_RULE,
    HAS_DATE,
    IMPERATIVE,
    IMPERATIVES,
    MAY_DATE,
    MAY_DATE_WORDS,
    MAY_FAIL,
    MAY_STATE,
    RULES,
    STATE_WORDS,
    StatementKind,
    list_word_set,
)

StatedKind = Literal[
    "remember", "correction", "decision", "constraint", "identity", "preference", "commitment", "task", "question"
]

_STANDING: Final[frozenset[StatementKind]] = frozenset(DENIALS)

_ENCLOSED: Final = re.compile(r"[\"()\[\]{}<>*`/\\|=—\u2013…_]")
_ASCII_ENCLOSED: Final = b'"()[]{}<>*`/\\|=_'
_ASCII_BREAKS: Final = bytes(32 if chr(code) in '.,;:!?"()[]{}<>*`/\\|=_' else code for code in range(256))
_ASCII_LETTERS: Final = bytes(code if re.match("[a-z-]", chr(code)) else 32 for code in range(256))
_BREAKS: Final = str.maketrans(dict.fromkeys('.,;:!?"()[]{}<>*`/\\|=—\u2013…_', " "))
_BINDS: Final = re.compile(
    r"^(?:please |hey |and |so )?(?:can|could|would|will) .*\b(?:always|never|from now on)\b"
    r"|^(?:könntest|kannst|können|könnten|würdest|würden|podrías?|puedes?|podría|pourriez|pourrais|peux|pouvez|potresti|puoi|kun|kunt|poderia|pode)\b"
    r".*\b(?:immer|nie|niemals|ab jetzt|siempre|nunca|toujours|jamais|sempre|mai|altijd|nooit)\b"
)
_REQUEST: Final = re.compile(
    r"\b(?:can|could|would|will) (?:you|u) (?!rather|not\b)[a-z]+|\b(?:can|could|may) (?:i|we) (?!bring|have\b)[a-z]+"
)
_OPENED: Final = re.compile(
    r"(?:please|pls|plz|now|then|next|ok|okay|and|also|just|so|hey)?,? ?(?:please |pls |let's |lets )?([a-z]+) "
)

_REMEMBERS: Final = re.compile(
    r"\b(?:can|could|would|will) (?:you|u) (?:please |kindly |maybe |possibly )?(?:remember|make a note|take a note|note (?:that|down)|keep in mind|memori[sz]e|not forget)"
    r"\b(?! (?:what|when|where|who|how|why|which|if|whether|me\b|the time))"
)
_OPEN_QUESTION: Final = re.compile(
    r"\b(?:still|ever) (?:waiting|find out|found out|hear|heard|not)\b|\?\? \w+.*\bstill\b|: .*\bor no[t?]?\b|\?.* (?:undecided|unsure|tbd)\b"
)
_PUT_OFF: Final = re.compile(
    r"\b(?:as soon as|once|after|when|until|before|by (?:the end|noon|\d|next)|by tonight|later|next (?:time|week|month)|in (?:an?|\d+|two|three) (?:hours?|minutes?|days?|weeks?)"
    r"|end of (?:the )?(?:day|week|month))\b"
)
_PASSING: Final = re.compile(
    r"\b(?:brb|right back|be back|let me|see you|wait|a (?:break|walk|shower|nap|look|bit)|grab|laugh|cry|die|make it|keep(?: on)? \w*ing|do (?:my|our) best|give it an?|get through|cherish|be sure to)\b|\bhaha"
)
_QUOTED: Final = re.compile(r"\"[^\"]*\"")
_STATED: Final[dict[StatementKind, StatedKind]] = {"need": "task", "open": "question"}

_KINDS: Final = tuple(kind for kind, _, _ in RULES)
_NEEDLES: Final = tuple(tuple(keys.split("|")[1:]) or ("",) for _, keys, _ in RULES)
_PATTERNS: Final = tuple(re.compile(pattern).search for _, _, pattern in RULES)
_DENIED: Final = {kind: re.compile(pattern).search for kind, pattern in DENIALS.items()}


def _build_cues() -> dict[str, int]:
    """Bits by word, and by word with the mark that may follow it: splitting at blanks is all that a sentence costs."""
    cues: dict[str, int] = {}
    flags = (
        (HAS_DATE, DATE_WORDS),
        (MAY_DATE, MAY_DATE_WORDS),
        (MAY_FAIL, FAILURE_WORDS),
        (MAY_STATE, STATE_WORDS),
        (IMPERATIVE, " ".join(IMPERATIVES)),
    )
    rules = ((1 << at + FIRST_RULE, keys.partition("|")[0]) for at, (_, keys, _) in enumerate(RULES))
    for bit, words in (*flags, *rules):
        for word in words.split():
            cues[word] = cues.get(word, 0) | bit
    return {word + mark: bits for word, bits in cues.items() for mark in ("", *",.!?:;")}


_CUES: Final = _build_cues()
_MAY_REMEMBER: Final = _CUES["remember"] | _CUES["note"] | _CUES["mind"] | _CUES["memorize"] | _CUES["forget"]
_MAY_REQUEST: Final = _CUES["can"] | _CUES["could"] | _CUES["would"] | _CUES["will"] | _CUES["may"]
_MAY_STAY_OPEN: Final = _CUES["still"] | _CUES["undecided"] | _CUES["answer"]
_MAY_BIND: Final = (
    _CUES["always"]
    | _CUES["never"]
    | _CUES["now"]
    | _CUES["immer"]
    | _CUES["nie"]
    | _CUES["siempre"]
    | _CUES["toujours"]
    | _CUES["sempre"]
)
_CUED: Final = frozenset(_CUES)
_OUTCOME_WORDS: Final = list_word_set(f"{FAILURE_WORDS} {STATE_WORDS}")


class Statement(NamedTuple):
    """What a sentence is and where in it that shows (an offset in the sentence).

    A tuple, since one is made for most sentences of a talk.
    """

    kind: StatedKind
    standing: bool
    at: int
    lasting: bool


def collect_cues(lowered: str, words: list[str]) -> int:
    """The rules and flags that a lower-cased text, given also as split at blanks, leaves possible, as bits; 0 means none."""
    return collect_word_cues(_break(lowered).split() if is_enclosing(lowered) else words)


def collect_word_cues(words: Iterable[str]) -> int:
    """The same for the words of a text in which nothing is enclosed."""
    cues = 0
    for word in _CUED.intersection(words):
        cues |= _CUES[word]
    return cues


def is_enclosing(text: str) -> bool:
    """Whether marks without a blank beside them may hide words of a text: brackets, quotes, slashes, dashes."""
    if text.isascii():
        data = text.encode()
        return len(data.translate(None, _ASCII_ENCLOSED)) < len(data)
    return _ENCLOSED.search(text) is not None


def list_outcome_words(lowered: str) -> tuple[str, ...]:
    """The words of a lower-cased text that may report an error or a state; of ASCII also those between digits."""
    words = lowered.encode().translate(_ASCII_LETTERS).decode() if lowered.isascii() else lowered.translate(_BREAKS)
    return tuple(_OUTCOME_WORDS.intersection(words.split()))


def _break(lowered: str) -> str:
    """The text with blanks for the marks between words; through bytes where it can be, in a fifth of the time."""
    if lowered.isascii():
        return lowered.encode().translate(_ASCII_BREAKS).decode()
    return lowered.translate(_BREAKS)


def find_statement(lowered: str, cues: int, *, from_user: bool) -> Statement | None:
    """The statement that a lower-cased sentence makes, or None when it makes none.

    Only a user's remember, correction, decision, constraint, identity or preference is standing; a question never is,
    unless it asks for something from now on or to be remembered. What is quoted in more than two words is not the
    speaker's own.
    """
    if '"' in lowered:
        lowered = _QUOTED.sub(_blank, lowered)
    if lowered.endswith("?"):
        return _judge_question(lowered, cues, from_user=from_user)
    rules = cues >> FIRST_RULE
    while rules:
        lowest = rules & -rules
        rules ^= lowest
        at = lowest.bit_length() - 1
        for needle in _NEEDLES[at]:
            if needle in lowered:
                break
        else:
            continue
        if found := _PATTERNS[at](lowered):
            kind = _KINDS[at]
            denied = _DENIED.get(kind)
            if denied is None or not denied(lowered):
                standing = from_user and kind in _STANDING
                lasting = standing or _is_lasting(kind, lowered, cues, from_user=from_user)
                return Statement(_STATED.get(kind) or cast("StatedKind", kind), standing, found.start(), lasting)
    if cues & IMPERATIVE and (opened := _OPENED.match(lowered)) and opened[1] in IMPERATIVES:
        return Statement("task", False, 0, False)
    return None


def _judge_question(lowered: str, cues: int, *, from_user: bool) -> Statement:
    """What a sentence that ends as a question is: one that asks for something from now on, a request, or a question."""
    if from_user and cues & _MAY_REMEMBER and _REMEMBERS.search(lowered):
        return Statement("remember", True, 0, True)
    if cues & _MAY_BIND and _BINDS.search(lowered):
        return Statement("constraint", from_user, 0, from_user)
    if from_user and cues & _MAY_STAY_OPEN and _OPEN_QUESTION.search(lowered):
        return Statement("question", False, 0, True)
    request = from_user and cues & _MAY_REQUEST and _REQUEST.search(lowered)
    return Statement("task" if request else "question", False, 0, False)


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
