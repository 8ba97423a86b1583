"""What others would show in the same budget: the newest messages, head and tail, and a regex of thirty lines."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from bench.recall import Turn
from bench.worth_windows import turn_tokens
from everfold.core.text.tokens import estimate_text_tokens

HEAD_SHARE: Final = 0.5
"""Of the budget, for the oldest messages of head and tail."""
REGEX_TAIL_SHARE: Final = 0.5
"""Of the budget, for the newest messages below the sentences that the regex chose."""

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_FACT: Final = re.compile(
    r"\d[\d.,:/-]*"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    r"|(?<=[a-z,] )[A-Z]\w+"
    r'|"[^"\n]{2,60}"'
)


def slide(turns: Sequence[Turn], budget_tokens: int) -> list[str]:
    """The newest messages that fit, without a gap, newest first."""
    return [turn.text for turn in _fill(list(reversed(turns)), budget_tokens)]


def join_ends(turns: Sequence[Turn], budget_tokens: int) -> list[str]:
    """The oldest messages in half of the budget and the newest in the other."""
    head_tokens = int(budget_tokens * HEAD_SHARE)
    head = [turn.text for turn in _fill(turns, head_tokens)]
    return head + slide(turns[len(head) :], budget_tokens - head_tokens)


def compact_by_regex(turns: Sequence[Turn], budget_tokens: int) -> list[str]:
    """Sentences with the most numbers, dates, names and quotes per token, in log order, above the newest messages."""
    tail_tokens = int(budget_tokens * REGEX_TAIL_SHARE)
    tail = slide(turns, tail_tokens)
    folded = turns[: len(turns) - len(tail)]
    sentences = [found[0].strip() for turn in folded for found in _SENTENCE.finditer(turn.text)]
    ranked = sorted(enumerate(sentences), key=lambda it: -_density(it[1]))
    chosen: list[int] = []
    left_tokens = budget_tokens - tail_tokens
    for index, sentence in ranked:
        left_tokens -= estimate_text_tokens(sentence) + 1
        if left_tokens < 0 or not _FACT.search(sentence):
            break
        chosen.append(index)
    return [sentences[index] for index in sorted(chosen)] + tail


def _density(sentence: str) -> float:
    return len(_FACT.findall(sentence)) / (estimate_text_tokens(sentence) + 1)


def _fill(turns: Sequence[Turn], left_tokens: int) -> list[Turn]:
    """The first turns that fit, up to the first that does not."""
    fitting: list[Turn] = []
    for turn in turns:
        left_tokens -= turn_tokens(turn)
        if left_tokens < 0:
            break
        fitting.append(turn)
    return fitting


BASELINES: Final[Mapping[str, Callable[[Sequence[Turn], int], list[str]]]] = {
    "newest messages": slide,
    "head and tail": join_ends,
    "regex": compact_by_regex,
}
