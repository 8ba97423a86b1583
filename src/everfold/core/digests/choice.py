"""The order in which lines are chosen for a digest or for the pool of a rollup.

Theory of operation: each class of lines has a heap of its own, ordered by what a line adds to what was taken before, for its
cost. The next line is that of the class which, with it, has used the least of its quota, so that any beginning of the order
has the classes in their shares, and the quota that a class cannot use goes to the others. What a line adds falls only, so a
heap's first line is final when it still holds after being measured again (lazy greedy).

Source: greedy choice by gain per cost after Lin and Bilmes, "Multi-document summarization via budgeted maximization of
submodular functions" (2010); the lazy form after Minoux, "Accelerated greedy algorithms" (1978); the shares after
Demers, Keshav and Shenker, "Analysis and simulation of a fair queueing algorithm" (1989).
"""

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from everfold.core.digests.answers import Said, Told
from everfold.core.digests.value import (
    REST,
    LineClass,
    LineValue,
    classify_line,
    read_base,
    weigh_line,
    weigh_value,
    weigh_words,
)
from everfold.core.primitives.stepwise import Steps, map_stepwise
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.quotes import list_words

Quotas = tuple[float, float, float, float]
TOOL_QUOTAS: Final[Quotas] = (0.6, 0.05, 0.17, 0.18)
TALK_QUOTAS: Final[Quotas] = (0.55, 0.08, 0.14, 0.23)
"""Shares of a digest by class, for logs with tools and without. Source: own measurement, bench/digest_quality.py: without
them the rules of the user fall from .54 to .12."""
_COST_POWERS: Final[Quotas] = (0.5, 0.9, 0.9, 0.9)
"""Flatter for what the user bound or asked for: a rule is not worth less for the words that it takes."""
LINES_PER_STEP: Final = 100
"""Between two pauses of what is done for each line: some milliseconds. Source: own measurement, bench/folds.py."""
_FIXED_COST: Final = 8
"""Added to a line's cost, so that scraps do not win for being short."""
_SAME_MESSAGE: Final = 0.75
_LEAST_FRESH: Final = 0.15
"""A line that adds less than this part of what it holds is a near-duplicate."""
_ROUNDING: Final = 1e-9
_RARE_SHARE: Final = 0.05
"""Up to this part of what is offered, all that the user says counts as asked for: between the calls and results of an agent a
person says little, and questions are orders there. Source: own measurement, .01 to .03 of the lines in logs of coding agents and
.13 in those of an airline's agent, where it would cost ids; bench/worth_summaries.py."""

_FOCUS_WEIGHT: Final = 1.6
_QUOTED_WEIGHT: Final = 0.1
"""For what the standing instructions quote beside the digest: about what a plain fact weighs, and not nothing, so that a digest
with room still has it when newer statements have pushed it out of the block."""


class Candidate(NamedTuple):
    """A line that may be chosen, with its question where it tells nothing without.

    Attributes:
        base: What it is worth by itself, beside what it holds.
        weight: What its worth is multiplied with.
        cost: In tokens, or in any other unit that all candidates share.
        is_apart: Whether it counts as if nothing of it were shown: what is said elsewhere weighs little already.
    """

    said: Said
    value: LineValue
    line_class: LineClass
    base: float
    weight: float
    cost: float
    is_apart: bool = False


def list_candidates(
    groups: Sequence[Told],
    costs: Sequence[float],
    *,
    focus: str | None = None,
    quoted: Collection[tuple[int, int]] = (),
) -> Steps[list[Candidate]]:
    """The candidates of some lines, in their order.

    Lines that share a word with `focus` count more; those that `quoted` names, by message and start, a tenth.
    """
    focus_words = list_words(focus) if focus else frozenset[str]()
    first = min((one.said[-1].seq for one in groups), default=0)
    span = max(1, max((one.said[-1].seq for one in groups), default=0) - first)
    is_rare = _is_user_rare(groups, costs)

    def make(pair: tuple[Told, float]) -> Candidate:
        (said, value, substance), cost = pair
        line = said[-1]
        is_quoted = (line.seq, line.start) in quoted
        line_class = REST if is_quoted else classify_line(line, is_rare=is_rare)
        weight = weigh_line(line, line_class, (line.seq - first) / span, substance)
        if focus_words and not focus_words.isdisjoint(list_words(line.quote)):
            weight *= _FOCUS_WEIGHT
        if is_quoted:
            weight *= _QUOTED_WEIGHT
        return Candidate(said, value, line_class, read_base(line, line_class), weight, cost, is_quoted)

    return (yield from map_stepwise(make, list(zip(groups, costs, strict=True)), count=LINES_PER_STEP))


def _is_user_rare(groups: Sequence[Told], costs: Sequence[float]) -> bool:
    """Whether what the user says is a small part of some lines."""
    said_cost = sum(cost for one, cost in zip(groups, costs, strict=True) if one.said[-1].origin == "user")
    return said_cost <= _RARE_SHARE * sum(costs)


def begin_choice(
    candidates: Sequence[Candidate], quotas: Quotas, *, seen: frozenset[str] = frozenset()
) -> Steps["Choice"]:
    """A choice of which nothing is taken yet.

    Args:
        candidates: In any order; equal ones are told apart by `scatter_line`.
        quotas: Shares by class.
        seen: Facts and words that are shown already.
    """
    choice = Choice(candidates, quotas, seen)
    for first in range(0, len(candidates), LINES_PER_STEP):
        if first:
            yield
        choice.weigh(range(first, min(first + LINES_PER_STEP, len(candidates))))
    return choice


class Choice:
    """What was taken so far, and what each candidate adds to it.

    What a candidate adds is summed up when its turn comes.
    """

    def __init__(self, candidates: Sequence[Candidate], quotas: Quotas, seen: Iterable[str]) -> None:
        self._candidates = candidates
        self._quotas = quotas
        self._worth = weigh_words([one.value for one in candidates])
        self._seen = set(seen)
        self._full: list[float] = []
        self._scales: list[float] = []
        self._repeats: dict[int, float] = {}
        self._heaps: list[list[tuple[float, int, int]]] = [[], [], [], []]

    def weigh(self, places: Iterable[int]) -> None:
        """Take up the next candidates."""
        for at in places:
            said, value, line_class, base, weight, cost, _ = self._candidates[at]
            full = weigh_value(value, self._worth)
            scale = weight / math.pow(cost + _FIXED_COST, _COST_POWERS[line_class])
            self._full.append(full)
            self._scales.append(scale)
            self._repeats[said[-1].seq] = 1.0
            self._heaps[line_class].append((-scale * (base + full), scatter_line(said[-1]), at))

    def order(self) -> Iterator[int | None]:
        """Places of the candidates in the order of choice, near-duplicates left out. To be asked for once.

        None is for a pause: after every `LINES_PER_STEP` lines that were measured, however few of them were taken.
        """
        candidates, quotas, heaps = self._candidates, self._quotas, self._heaps
        for heap in heaps:
            heapq.heapify(heap)
        used = [0.0] * len(heaps)
        turns = {number: candidates[heap[0][-1]].cost / quotas[number] for number, heap in enumerate(heaps) if heap}
        measured_count = 0
        while turns:
            if measured_count and measured_count % LINES_PER_STEP == 0:
                yield None
            measured_count += 1
            number = min(turns, key=turns.__getitem__)
            heap = heaps[number]
            held, place, at = heap[0]
            gain = self._measure(at)
            is_taken = gain >= -held - _ROUNDING and gain > 0
            if gain and not is_taken:
                heapq.heapreplace(heap, (-gain, place, at))
            else:
                heapq.heappop(heap)
            if is_taken:
                used[number] += candidates[at].cost
                self._take(at)
                yield at
            if heap:
                turns[number] = (used[number] + candidates[heap[0][-1]].cost) / quotas[number]
            else:
                del turns[number]

    def _measure(self, at: int) -> float:
        """What a candidate adds for its cost; 0 for a near-duplicate."""
        one, full = self._candidates[at], self._full[at]
        gain = full if one.is_apart else weigh_value(one.value, self._worth, self._seen)
        if gain < _LEAST_FRESH * full or not full:
            return 0.0
        return self._scales[at] * (one.base * gain / full + gain) * self._repeats[one.said[-1].seq]

    def _take(self, at: int) -> None:
        """Count what a candidate holds as shown."""
        one = self._candidates[at]
        self._seen.update(*one.value)
        self._repeats[one.said[-1].seq] *= _SAME_MESSAGE


def choose_quotas(lines: Iterable[ExtractLine]) -> Quotas:
    """The shares of the classes for some lines."""
    return TOOL_QUOTAS if any(line.origin == "tool" for line in lines) else TALK_QUOTAS


def scatter_line(line: ExtractLine) -> int:
    """A fixed pseudo-random place, so that equal lines are taken from all ages: Knuth's multiplicative hash (TAOCP 3, 6.4) over the sequence number and start."""
    return ((line.seq * 2654435761) ^ (line.start * 40503)) & 0xFFFFFFFF
