"""A table of rules made ready to be found in a text.

Trying each pattern at each character costs milliseconds. So a wording that begins with a word is tried only at the
words that begin as it does, by an index of their first two letters; the few others are searched for where one of the
rule's cues is in the text.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from everfold.core.text.patterns import compile_pattern

KindT = TypeVar("KindT", bound=str)
Scope = Literal["all", "memory", "digest", "note"]

_KEY_CHARS: Final = 2
_WORD: Final = re.compile(r"\w{2,}")
_LITERAL: Final = re.compile(r"(?:\w(?![?*{]))+")
_OPTIONAL: Final = ("?", "*", "{")
_START: Final = r"\b"


class Wording(NamedTuple):
    r"""One row: a pattern over folded text in small letters.

    Attributes:
        pattern: One that begins with `\\b` begins with letters then, in each of its branches, and is tried at words that
            begin so; any other is searched for.
        example: A text in which this pattern is found.
        counter: A text that only the pattern's exceptions, its `(?!...)` and `(?<!...)`, keep out; empty without any.
    """

    pattern: str
    example: str
    counter: str = ""


class WordingRule(NamedTuple, Generic[KindT]):
    """Wordings that say one thing.

    Attributes:
        name: What the rule finds. Rules of several languages may share a name: of them the first place is told.
        kind: The class of what it finds.
        wordings: The rows.
        cues: Of these at least one stands in each text in which a wording that is searched for is found; empty when
            there are none.
        scope: Where the rule holds: in memory, in a line of a digest, in both, or only in what a machine notes.
    """

    name: str
    kind: KindT
    wordings: tuple[Wording, ...]
    cues: tuple[str, ...] = ()
    scope: Scope = "all"


class Found(NamedTuple, Generic[KindT]):
    """A rule, and the place of one of its wordings in the searched text."""

    rule: WordingRule[KindT]
    start: int
    end: int


Excuse: TypeAlias = Callable[[WordingRule[KindT], str, int, int], bool]
"""Whether what a rule finds at a place of a text is to be passed over."""


_Headed: TypeAlias = tuple[tuple[str, ...], str, WordingRule[KindT]]
"""The letters that a wording may begin with, its pattern, and its rule."""
_Searched: TypeAlias = tuple[WordingRule[KindT], tuple[str, ...], bool]
"""A rule, those of its patterns that begin with no word, and whether one of them can be found in a text that is ASCII."""


class WordingIndex(NamedTuple, Generic[KindT]):
    """The wordings of a table, by the first letters of their first word, and those that have none."""

    headed: dict[str, list[_Headed[KindT]]]
    searched: list[_Searched[KindT]]

    def find(self, text: str, *, excuse: Excuse[KindT]) -> Iterator[Found[KindT]]:
        """Of each name the first place where a rule holds and is not excused; places are in no order. O(length)."""
        found: set[str] = set()
        for found_at in self._find_all(text):
            rule = found_at.rule
            if rule.name not in found and not excuse(rule, text, found_at.start, found_at.end):
                found.add(rule.name)
                yield found_at

    def _find_all(self, text: str) -> Iterator[Found[KindT]]:
        for word in _WORD.finditer(text):
            for heads, pattern, rule in self.headed.get(word[0][:_KEY_CHARS], ()):
                if word[0].startswith(heads) and (match := _compile(pattern).match(text, word.start())):
                    yield Found(rule, match.start(), match.end())
        is_ascii = text.isascii()
        for rule, patterns, may_be_ascii in self.searched:
            if (is_ascii and not may_be_ascii) or (rule.cues and not any(map(text.__contains__, rule.cues))):
                continue
            for pattern in patterns:
                for match in _compile(pattern).finditer(text):
                    yield Found(rule, match.start(), match.end())


def index_wordings(rules: Iterable[WordingRule[KindT]], *, scopes: Collection[Scope]) -> WordingIndex[KindT]:
    """The index of a table, of its rules of these scopes.

    Raises:
        ValueError: A wording that begins with a word has a branch whose first two letters are not plain.
    """
    index = WordingIndex[KindT](headed={}, searched=[])
    for rule in rules:
        if rule.scope not in scopes:
            continue
        branches = [branch for wording in rule.wordings for branch in read_branches(wording.pattern)]
        if free := tuple(branch for branch, _ in branches if not _is_headed(branch)):
            index.searched.append((rule, free, any(map(_reads_ascii, free))))
        for branch, heads in branches:
            for key in dict.fromkeys(head[:_KEY_CHARS] for head in heads):
                own = tuple(head for head in heads if head.startswith(key))
                index.headed.setdefault(key, []).append((own, branch, rule))
    return index


@cache
def read_branches(pattern: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The branches of a pattern, each with the letters that it begins with: none where it does not begin with a word.

    Raises:
        ValueError: As of `index_wordings`.
    """
    return tuple(
        (branch, tuple(_list_heads(branch.removeprefix(_START))) if _is_headed(branch) else ())
        for branch in split_branches(pattern)
    )


def _is_headed(branch: str) -> bool:
    return branch.startswith(_START)


def _reads_ascii(branch: str) -> bool:
    """Whether a pattern may find ASCII; what begins with letters of another script does not."""
    return branch.removeprefix("(?:")[:1].isascii()


def split_branches(pattern: str) -> list[str]:
    """The branches of a pattern at its top level."""
    parts: list[str] = []
    depth, start = 0, 0
    for at, char in _list_syntax(pattern):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "|" and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
    return [*parts, pattern[start:]]


def _compile(pattern: str) -> re.Pattern[str]:
    return compile_pattern(pattern, re.MULTILINE)


def _list_heads(branch: str) -> Sequence[str]:
    """The letters that each way through the beginning of a pattern begins with."""
    if branch.startswith("(?:"):
        end = _end_of_group(branch)
        if branch[end + 1 : end + 2] not in _OPTIONAL:
            return [head for part in split_branches(branch[len("(?:") : end]) for head in _list_heads(part)]
    literal = _LITERAL.match(branch)
    if literal is None or len(literal[0]) < _KEY_CHARS:
        raise ValueError(
            f"a wording must begin with two plain letters, got {branch[:40]!r}; leave out its \\b or expand it"
        )
    return [literal[0]]


def _end_of_group(pattern: str) -> int:
    """Where the group that opens a pattern closes."""
    depth = 0
    for at, char in _list_syntax(pattern):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0:
            return at
    raise ValueError(f"a group is not closed: {pattern[:40]!r}")


def _list_syntax(pattern: str) -> Iterator[tuple[int, str]]:
    """The characters of a pattern that are neither escaped nor in a character class, with their places."""
    in_class, at = False, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 2
            continue
        if in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        else:
            yield at, char
        at += 1
