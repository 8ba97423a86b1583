"""Whether a statement says the opposite of another of the same thing: liked and disliked, always and never, dark and light.

Each row is two groups of words that exclude each other. Two statements are opposite where they have the same words but
for one of each group, or where one has the word of a group and the other denies it.

Source: own lists, English, tuned on the pairs that docs/adr/0031-what-replaces-what.md tells of.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from everfold.core.changes.given_up import split_clauses
from everfold.core.changes.words import DENIALS, SOFT_MARKS
from everfold.core.clauses.assertions import Assertion, list_tokens, read_assertion
from everfold.core.clauses.frames import LIGHT, Frame, list_plain
from everfold.core.clauses.slots import FAVOURITE, is_past
from everfold.core.replacement.attributes import BOUND
from everfold.core.statements.rules import list_word_set
from everfold.core.text.patterns import compile_pattern
from everfold.core.text.stems import PLAIN_FORMS, stem

_ATTITUDES: Final = (
    (
        "like love enjoy adore appreciate prefer favour favor fancy",
        "hate dislike detest loathe despise resent",
    ),
    ("want prefer", "avoid"),
    ("agree", "disagree"),
    ("accept", "reject decline refuse"),
    ("approve", "disapprove reject"),
    ("support favour favor", "oppose reject"),
    ("trust", "distrust mistrust"),
    ("believe", "disbelieve doubt"),
    ("recommend", "discourage"),
)
"""Verbs of what a person thinks of something."""
_HOW_OFTEN: Final = (
    ("always usually often frequently regularly mostly generally", "never rarely seldom hardly"),
    ("sometimes occasionally", "never"),
)
_QUALITIES: Final = (
    ("dark", "light bright"),
    ("async asynchronous", "sync synchronous"),
    ("hot", "cold iced"),
    ("early", "late"),
    ("morning", "afternoon evening"),
    ("window", "aisle"),
    ("formal", "informal casual"),
    ("short brief concise", "long detailed verbose"),
    ("remote remotely", "office onsite"),
    ("public", "private"),
    ("metric", "imperial"),
    ("tabs", "spaces"),
    ("sweet", "savoury savory bitter"),
    ("spicy", "mild"),
    ("paper", "digital"),
    ("indoors indoor", "outdoors outdoor"),
    ("manual", "automatic"),
    ("quiet", "loud noisy lively"),
    ("top-down", "bottom-up"),
    ("vertical", "horizontal"),
    ("on-premise on-prem", "cloud"),
)
"""What excludes each other where one is preferred, or always so."""


class _Opposites(NamedTuple):
    one: frozenset[str]
    other: frozenset[str]


def _read_rows(rows: tuple[tuple[str, str], ...]) -> tuple[_Opposites, ...]:
    groups = (_Opposites(*(frozenset(map(stem, side.split())) for side in row)) for row in rows)
    return tuple(row for one, other in groups for row in (_Opposites(one, other), _Opposites(other, one)))


_ATTITUDE_ROWS: Final = _read_rows(_ATTITUDES)
_OFTEN_ROWS: Final = _read_rows(_HOW_OFTEN)
_QUALITY_ROWS: Final = _read_rows(_QUALITIES)
STARTING: Final = frozenset(
    map(stem, "start begin resume learn grow come return back actually quite finally buy".split())
)
"""Words that only say that something is begun, or done again."""
_ATTITUDE_WORDS: Final = frozenset[str]().union(*(row.one for row in _ATTITUDE_ROWS))
_OFTEN_WORDS: Final = frozenset[str]().union(*(row.one for row in _OFTEN_ROWS))
_DEGREES: Final = frozenset(
    map(
        stem,
        "really absolutely truly totally definitely strongly very much lately now quite rather always completely all".split(),
    )
)
_PREFERRING: Final = list_word_set("prefer prefers always favourite favorite")


def is_opposite(told: str, frame: Frame) -> bool:
    """Whether a clause says of exactly the thing that the older one speaks of that the opposite is so."""
    said = frame.clause
    older = _read_words(said)
    if not _has_opposite(said, older):
        return False
    if DENIALS.search(" ".join(said.tokens)) and not _HOW_OFTEN_WORDS.intersection(said.tokens):
        return False
    return any(
        _is_clause_opposite(clause, said, older)
        for clause in map(read_assertion, split_clauses(SOFT_MARKS.sub(" ", told)))
        if clause.is_first == said.is_first and clause.verb_at >= 0 and "used" not in clause.tokens
    )


def _has_opposite(said: Assertion, older: frozenset[str]) -> bool:
    """Whether a clause has a word of any row; most have none, and nothing can be their opposite."""
    return not (
        _ATTITUDE_WORDS.isdisjoint(older)
        and _PREFERRING.isdisjoint(said.tokens)
        and _OFTEN_WORDS.isdisjoint(map(stem, said.tokens))
    )


_HOW_OFTEN_WORDS: Final = list_word_set(" ".join(_HOW_OFTEN[0]))


def is_switched(told: str, frame: Frame) -> bool:
    """Whether the speaker has switched to another thing of the sort that the older clause says is used or preferred.

    It is of the sort where it has the same noun ("oat milk", "soy milk"), serves the same purpose ("for the backend"), or
    stands in a row of `_SORT_ROWS`.
    """
    if frame.is_past or not frame.phrases or not _is_of_use(frame):
        return False
    found = compile_pattern(_SWITCHED).search(told) or compile_pattern(_USES_NOW).search(told)
    if found is None:
        return False
    new = list_tokens((found["new"] or found.groupdict().get("other") or "").lower())
    held = next((phrase for phrase in frame.phrases if not phrase.join), frame.phrases[0])
    purposes = {phrase.words for phrase in frame.phrases if phrase.join == "for"}
    told_for = {list_plain(list_tokens(one["purpose"].lower())) for one in _FOR.finditer(told[found.start() :])}
    is_bounded = any(compile_pattern(one).search(told[found.start() :].lower()) for one in (BOUND, _AT_TIMES))
    if is_bounded or not new or list_plain(new) == held.words or (told_for and not told_for & purposes):
        return False
    last = list_plain(new[-1:])
    return (
        bool(told_for & purposes)
        or (len(new) > 1 and len(held.words) > 1 and bool(last) and last <= held.words)
        or any(sort.issuperset(new) and held.words <= frozenset(map(stem, sort)) for sort in _SORTS)
    )


def _is_of_use(frame: Frame) -> bool:
    """Whether a clause tells what the speaker uses or prefers."""
    if frame.clause.is_first:
        return frame.verb in _USING
    before = frame.clause.tokens[: frame.clause.verb_at]
    return frame.is_copula and before[:1] in (("my",), ("our",)) and not FAVOURITE.isdisjoint(before)


_VALUE: Final = r"(?P<{}>[\w#+.-]+(?: (?!for\b|now\b|in\b|at\b|and\b|because\b|since\b|recently\b|instead\b|last\b|these\b|a\b|on\b|so\b|but\b|as\b|by\b|from\b|over\b|to\b)[\w#+.-]+)?)"
_SWITCHED: Final = (
    r"(?i)\b(?:i|we) (?:have |had |just |finally |recently |now |fully |completely |am |are )*"
    r"(?:switch(?:ed|ing)|changed|changing|converted|gone|went|going)(?: over| back)? to (?:the |a |an |my )?"
    + _VALUE.format("new")
)
_USES_NOW: Final = (
    r"(?i)\b(?:i|we) (?:now |these days )(?:only |mostly |mainly )?(?:use|prefer|drink|take|ride|play|write|code in|program in|develop on|work on) (?:the |a |an |my )?"
    + _VALUE.format("new")
    + r"|\b(?:i|we) (?:only |mostly |mainly )?(?:use|prefer|drink|take|ride|play|code in|program in|develop on|work on) (?:the |a |an |my )?"
    + _VALUE.format("other")
    + r" (?:now|these days|instead)(?=[.,;!]|$)"
)
_AT_TIMES: Final = (
    r"\b(?:at (?:breakfast|lunch|dinner|work|home|night)|on the (?:drive|way|flight|train|bus|plane|road|phone))\b"
)
_FOR: Final = re.compile(r"(?i)\bfor (?P<purpose>[^,.;]+)")
_USING: Final = frozenset(
    map(
        stem,
        "use prefer drink eat take write develop work like run ride play code program go wear read buy smoke keep order".split(),
    )
)
_SORT_ROWS: Final = (
    "coffee tea matcha decaf espresso chai cocoa",
    "java python javascript typescript rust go golang kotlin swift ruby php scala c++ c# julia perl elixir",
    "vim neovim emacs vscode pycharm intellij sublime zed cursor helix eclipse",
    "windows linux macos ubuntu debian fedora arch mint mac",
    "chrome firefox safari edge brave opera vivaldi",
    "notion obsidian evernote onenote roam logseq joplin",
    "bus car bike bicycle train tram metro subway",
    "red blue green yellow orange purple pink black white grey gray brown turquoise teal",
    "kindle paperback audiobooks",
)
_SORTS: Final = tuple(map(list_word_set, _SORT_ROWS))
"""Things that stand in for each other, by sort. Several may be used side by side, so only a switch to one is looked up."""


def list_sorts(words: Iterable[str]) -> frozenset[str]:
    """The sorts of which a thing stands among some words, each by the first thing of its row."""
    known = frozenset(words)
    return frozenset(_FIRST_OF[word] for word in known & _FIRST_OF.keys())


_FIRST_OF: Final = {word: row.split()[0] for row in _SORT_ROWS for word in row.split()}


def _read_words(clause: Assertion) -> frozenset[str]:
    """The stems of a clause, its verbs in their plain form, without words of degree."""
    words = (PLAIN_FORMS.get(token, token) for token in clause.tokens if not DENIALS.fullmatch(token))
    return list_plain(words) - _DEGREES - STARTING


def _is_clause_opposite(clause: Assertion, said: Assertion, older: frozenset[str]) -> bool:
    is_denied = DENIALS.search(" ".join(clause.tokens)) is not None
    newer = _read_words(clause)
    for row in () if _tells_of_doing(clause, older) else _ATTITUDE_ROWS:
        if (one := older & row.one) and _is_same_beside(
            older - one, newer, row.other, one | _LIKING, is_denied=is_denied
        ):
            return True
    often = frozenset(map(stem, said.tokens)), frozenset(map(stem, clause.tokens))
    for row in _OFTEN_ROWS:
        if often[0] & row.one and often[1] & row.other and older - row.one - row.other == newer - row.one - row.other:
            return bool(older - row.one - row.other - LIGHT)
    if is_denied or _PREFERRING.isdisjoint(said.tokens) or is_past(clause.tokens[clause.verb_at]):
        return False
    return any(
        older & row.one and newer & row.other and older - row.one == newer - row.other and bool(older - row.one)
        for row in _QUALITY_ROWS
    )


def _tells_of_doing(clause: Assertion, known: frozenset[str]) -> bool:
    """Whether a clause is about doing something with a thing ("I hate making tea"), of which the older one says nothing."""
    return any(
        word.endswith("ing") and stem(word) not in known | STARTING for word in clause.tokens[clause.verb_at + 1 :][:1]
    )


_LIKING: Final = frozenset((stem("like"),))
"""Who denies this denies all that is stronger; who does not adore a thing may like it."""


def _is_same_beside(
    thing: frozenset[str], newer: frozenset[str], other: frozenset[str], one: frozenset[str], *, is_denied: bool
) -> bool:
    """Whether the newer clause has the same thing beside an opposite verb, or beside the denied verb itself."""
    verbs = newer & (one if is_denied else other)
    left = newer - verbs
    return bool(verbs) and bool(thing) and thing - LIGHT == left - LIGHT
