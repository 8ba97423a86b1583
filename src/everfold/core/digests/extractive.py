"""Extractive digests: what stands for folded messages when no model has spoken, and the floor under every digest.

Theory of operation: superseded lines are left out; the rest are taken greedily by what each adds per token, where a
word that is already shown adds nothing and each further line of one message adds less; what was taken is shown in a
fixed order of groups between two markers, each line with its sequence number, its date and who said it.
The text is fitted to its cap last, by the estimator that the window uses, so it never exceeds it.

Source: DESIGN 3.4; greedy choice by gain per cost after Lin and Bilmes, "Multi-document summarization via budgeted
maximization of submodular functions" (2010).
"""

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from everfold.core.digests.pools import RollupPool, scatter_line
from everfold.core.digests.rows import FENCED, DigestFrame, Estimate, label_line, name_range, neutralise, write_rows
from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine, LineKind
from everfold.core.statements.quotes import REMEMBERED_TEXTS, list_words
from everfold.core.statements.substance import measure_substance
from everfold.core.statements.supersession import has_ended, list_current


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestSource:
    """One folded message as a digest reads it.

    Attributes:
        speaker: The name under which it was said, when the log has one.
        tokens: Its size in the log, an estimate.
        calls: The names of the tools that it calls, in order, repeats included.
    """

    seq: int
    origin: Origin
    role: str
    speaker: str | None
    said_at: datetime
    tokens: int
    lines: tuple[ExtractLine, ...]
    is_result: bool
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestText:
    """A composed text with its size and the messages that it quotes.

    Attributes:
        shown_seqs: Sequence numbers of the quoted messages, rising, each once.
    """

    text: str
    tokens: int
    line_count: int
    shown_seqs: tuple[int, ...]


_GROUPS: Final[tuple[tuple[str, frozenset[LineKind]], ...]] = (
    ("Standing", frozenset(("remember", "constraint", "preference", "identity"))),
    ("Decided", frozenset(("decision",))),
    ("Corrected", frozenset(("correction",))),
    ("Facts", frozenset(("identifier", "path", "number", "date", "name", "answer", "lead"))),
    ("Errors", frozenset(("error",))),
    ("Tasks", frozenset(("task", "state", "commitment"))),
    ("Questions", frozenset(("question",))),
)
_GROUP_OF: Final[dict[LineKind, int]] = {kind: at for at, (_, kinds) in enumerate(_GROUPS) for kind in kinds}
_STANDING_GROUP: Final = 0
_FACTS: Final = _GROUP_OF["lead"]
_ORIGIN_WEIGHT: Final[dict[Origin, float]] = {
    "user": 1.5,
    "assistant": 1.0,
    "tool": 0.85,
    "system": 0.8,
    "external": 0.6,
}
_STANDING_WEIGHT: Final = 2.0
_REMEMBER_WEIGHT: Final = 4.0
_SHARPNESS: Final = 1.5
"""Above 1, one telling line is worth more than several idle ones; own measurement, bench/digest_quality.py."""
_SAME_MESSAGE: Final = 0.75
_FOCUS_WEIGHT: Final = 1.6
_QUOTED_WEIGHT: Final = 0.1
"""For what the standing instructions quote beside the digest: about what a plain fact weighs, and not nothing, so that a digest
with room still has it when newer statements have pushed it out of the block."""
_GOAL_AGE: Final = 0.1
_GOAL_WEIGHT: Final = 2.0
"""What a user asks for in the first tenth of a range is most often its goal."""
_FULL_SUBSTANCE: Final = 3
"""From how many telling words on a line counts in full: "Keep it up!" and "Take that one." name nothing that they speak of.
Source: own measurement, bench/digest_quality.py."""
_FULL_STANDING_SUBSTANCE: Final = 2
_LEAST_FRESH: Final = 0.15
"""A line whose words are nearly all shown already is a near-duplicate."""
_FIXED_COST: Final = 8
"""Added to a line's size in the choice, so that scraps do not win for being short."""
_HEADING_TOKENS: Final = 8
_TRIES: Final = 12
_ROW_TOKENS: Final = 5
"""Number sign, sequence number and line break of one row; `_measure` has the last word on what fits."""
_DATE_TOKENS: Final = 7
_STRATA: Final = 8
"""Source: DESIGN 3.4 †, equal quota for each of 8 strata of age."""


def compose_digest(
    sources: Sequence[DigestSource],
    *,
    first_seq: int,
    last_seq: int,
    cap_tokens: int,
    estimate: Estimate,
    focus: str | None = None,
    quoted: Collection[tuple[int, int]] = (),
) -> DigestText:
    """The digest of one event's folded messages, at most `cap_tokens` by `estimate`, markers included.

    Lines that share a word with the caller's `focus` are preferred. `quoted` names lines, by message and start, that the
    standing instructions show beside it: they are said once more only where room is left. O(lines x log lines).
    """
    speakers, legend = name_speakers(sources)
    lines = list_current(line for source in sources for line in source.lines)
    frame = DigestFrame(first_seq, last_seq, count_sources(sources) + legend, cap_tokens, estimate)
    ranked = _rank(lines, estimate, speakers, focus=focus, quoted=quoted, enough_tokens=2 * cap_tokens)
    return _fit(ranked, frame, speakers)


def compose_rollup(
    pool: RollupPool,
    *,
    first_seq: int,
    last_seq: int,
    cap_tokens: int,
    estimate: Estimate,
    shown: Collection[tuple[int, int]] = (),
) -> DigestText:
    """The digest of older ranges together: an equal quota of tokens for each of 8 strata of age, then what is left over.

    `shown` names lines, by message and start, that the window shows elsewhere: they are not said twice.
    """
    offered = [line for line in pool.list_lines() if first_seq <= line.seq <= last_seq]
    held = [line for line in offered if (line.seq, line.start) not in shown]
    lines = list_current(held)
    frame = DigestFrame(first_seq, last_seq, "", cap_tokens, estimate)
    ranked = _rank(lines, estimate, {})
    return _fit(_spread(ranked, first_seq, last_seq, frame.free_tokens), frame, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Standing statements that are neither shown nor superseded: how many, and the range of their messages."""

    count: int = 0
    first_seq: int = 0
    last_seq: int = 0

    def plus(self, seqs: Sequence[int]) -> "LeftOut":
        """The same with one statement more for each of these messages."""
        if not seqs:
            return self
        span = [*seqs, *((self.first_seq, self.last_seq) if self.count else ())]
        return LeftOut(count=self.count + len(seqs), first_seq=min(span), last_seq=max(span))


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingInstructions:
    """The standing instructions: their text, the lines that they show (newest first), and what they could not show."""

    text: str
    tokens: int
    lines: tuple[ExtractLine, ...]
    left_out: LeftOut


def compose_standing_instructions(
    lines: Sequence[ExtractLine],
    *,
    cap_tokens: int,
    estimate: Estimate,
    left_out: LeftOut | None = None,
    as_of: datetime | None = None,
) -> StandingInstructions:
    """Exact quotes of the standing statements, newest first; superseded ones left out, a repeat shown once.

    One that tells nothing without the message before it ("You're right, let's do that.") is counted, not shown.
    `left_out` are statements that earlier blocks had no room for; they stay counted. What ended by its own words before
    `as_of`, the newest line's moment where it is not given, binds no more and is neither shown nor counted.
    """
    as_of = as_of or max((line.said_at for line in lines), default=None)
    holding = [line for line in list_current(lines) if line.standing and not (as_of and has_ended(line, as_of))]
    standing = sorted(holding, key=lambda line: (-line.seq, line.start))
    unique = list({" ".join(line.quote.lower().split()): line for line in reversed(standing)}.values())
    unique.sort(key=lambda line: (-line.seq, line.start))
    before = (left_out or LeftOut()).plus([line.seq for line in unique if not measure_substance(line.quote)])
    unique = [line for line in unique if measure_substance(line.quote)]
    for count in range(_bound_count(unique, cap_tokens, estimate), -1, -1):
        missing = before.plus([line.seq for line in unique[count:]])
        text = _render_standing(unique[:count], missing)
        if (tokens := estimate(text)) <= cap_tokens:
            return StandingInstructions(text=text, tokens=tokens, lines=tuple(unique[:count]), left_out=missing)
    return StandingInstructions(text="", tokens=0, lines=(), left_out=before.plus([line.seq for line in unique]))


def _bound_count(lines: Sequence[ExtractLine], cap_tokens: int, estimate: Estimate) -> int:
    """How many lines can fit at the very most; the quotes alone, with some slack for an estimator that rounds up."""
    sizes = itertools.accumulate(_size(estimate, neutralise(line.quote)) for line in lines)
    return sum(1 for _ in itertools.takewhile(lambda size: size <= cap_tokens + cap_tokens // 4, sizes))


def _render_standing(shown: Sequence[ExtractLine], missing: LeftOut) -> str:
    if not shown and not missing.count:
        return ""
    rows = ["=== standing: the user's own words, newest first ==="]
    day: date | None = None
    for line in shown:
        dated = f"[{line.said_at.date()}] " if line.said_at.date() != day else ""
        day = line.said_at.date()
        rows.append(f"{dated}#{line.seq} {neutralise(line.quote)}")
    if missing.count:
        span = name_range(missing.first_seq, missing.last_seq)
        rows.append(f"{missing.count} more not shown, messages {span}: read them from history.")
    rows.append("=== end standing ===")
    return "\n".join(rows)


class _Ranked(NamedTuple):
    """A line with its place in the order of choice and its own size when shown."""

    line: ExtractLine
    tokens: int


def name_speakers(sources: Sequence[DigestSource]) -> tuple[dict[int, str], str]:
    """Speakers by sequence number for the lines, or none and a legend when each origin has one speaker only."""
    by_origin: dict[Origin, set[str]] = {}
    for source in sources:
        if source.speaker and source.origin in ("user", "assistant"):
            by_origin.setdefault(source.origin, set()).add(source.speaker)
    if all(len(names) == 1 for names in by_origin.values()):
        return {}, "".join(f"; {origin} is {neutralise(*names)[:24]}" for origin, names in sorted(by_origin.items()))
    return {source.seq: source.speaker for source in sources if source.speaker}, ""


def count_sources(sources: Sequence[DigestSource]) -> str:
    """Counts by role and the called tools, as a part of the coverage line."""
    roles = Counter("tool" if source.is_result else source.role for source in sources)
    calls = Counter(call for source in sources for call in source.calls)
    named = ", ".join(f"{count} {neutralise(role)[:16]}" for role, count in roles.items())
    most = sorted(calls.items(), key=lambda one: (-one[1], one[0]))[:6]
    called = ", ".join(
        f"{neutralise(name)[:40]} x{count}" if count > 1 else neutralise(name)[:40] for name, count in most
    )
    more = ", ..." if len(calls) > len(most) else ""
    return (f": {named}" if named else "") + (f"; calls {called}{more}" if called else "")


def _rank(
    lines: Sequence[ExtractLine],
    estimate: Estimate,
    speakers: dict[int, str],
    *,
    focus: str | None = None,
    quoted: Collection[tuple[int, int]] = (),
    enough_tokens: int | None = None,
) -> list[_Ranked]:
    """Lines in the order of choice: gain per cost, each word counted once, near-duplicates left out. Lazy greedy.

    Lines that tell nothing by themselves are left out where others tell something. Stops at `enough_tokens` of lines;
    gives all when left out.
    """
    focus_words = list_words(focus) if focus else frozenset[str]()
    lines = [line for line in lines if measure_substance(line.quote)] or lines
    words = [list_words(line.quote) for line in lines]
    frame_tokens = _ROW_TOKENS + (_DATE_TOKENS if len({line.said_at.date() for line in lines}) > 1 else 0)
    costs = [
        frame_tokens + _size_row(estimate, label_line(line, speakers), line.quote, line.origin in FENCED)
        for line in lines
    ]
    first = min((line.seq for line in lines), default=0)
    span = max(1, max((line.seq for line in lines), default=0) - first)
    weights = [
        _weigh(line, (line.seq - first) / span, in_focus=not focus_words.isdisjoint(held))
        * (_QUOTED_WEIGHT if quoted and (line.seq, line.start) in quoted else 1.0)
        for line, held in zip(lines, words, strict=True)
    ]
    roots = [math.sqrt(cost + _FIXED_COST) for cost in costs]
    words = [held or frozenset((line.quote,)) for held, line in zip(words, lines, strict=True)]
    seen: set[str] = set()
    per_message = dict.fromkeys((line.seq for line in lines), 0)
    repeats = dict.fromkeys(per_message, 1.0)
    ranked: list[_Ranked] = []
    heap = [
        (-weight / root, scatter_line(line), at)
        for at, (weight, root, line) in enumerate(zip(weights, roots, lines, strict=True))
    ]
    heapq.heapify(heap)
    spent = 0
    best = heapq.heappop(heap) if heap else None
    while best is not None and (enough_tokens is None or spent < enough_tokens):
        _, place, at = best
        seq, held = lines[at].seq, words[at]
        fresh = (len(held) - len(held & seen)) / len(held)
        if fresh >= _LEAST_FRESH:
            gain = weights[at] * (0.25 + 0.75 * fresh) * repeats[seq] / roots[at]
            if heap and -gain > heap[0][0]:
                best = heapq.heapreplace(heap, (-gain, place, at))
                continue
            seen |= held
            per_message[seq] += 1
            repeats[seq] = math.pow(_SAME_MESSAGE, per_message[seq])
            spent += costs[at]
            ranked.append(_Ranked(lines[at], costs[at]))
        best = heapq.heappop(heap) if heap else None
    return ranked


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _size(estimate: Estimate, text: str) -> int:
    return estimate(text)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _size_row(estimate: Estimate, label: str, quote: str, is_fenced: bool) -> int:  # noqa: FBT001 - a key of the cache
    shown = neutralise(quote)
    return estimate(f"{label}: <<{shown}>>" if is_fenced else f"{label}: {shown}")


def _weigh(line: ExtractLine, age: float, *, in_focus: bool) -> float:
    weight = math.pow(line.score + 2, _SHARPNESS) * _ORIGIN_WEIGHT[line.origin]
    if line.standing:
        weight *= _REMEMBER_WEIGHT if line.kind == "remember" else _STANDING_WEIGHT
    elif line.kind in ("task", "state", "error", "commitment"):
        weight *= 0.8 + 0.4 * age
        if line.origin == "user" and age < _GOAL_AGE:
            weight *= _GOAL_WEIGHT
    full = _FULL_STANDING_SUBSTANCE if line.standing else _FULL_SUBSTANCE
    if (substance := measure_substance(line.quote)) < full and line.kind != "remember":
        weight *= substance / full
    return weight * (_FOCUS_WEIGHT if in_focus else 1.0)


def _spread(ranked: Sequence[_Ranked], first_seq: int, last_seq: int, free_tokens: int) -> list[_Ranked]:
    """The lines in an order in which each stratum of age has had its quota before any has more.

    The first line of a stratum may pass its quota: a small digest has quotas that only scraps are within. Of lines whose
    turn is the same the better ones come first, so that where not all strata find room the oldest are not preferred.
    """
    width = (last_seq - first_seq) // _STRATA + 1
    quota = free_tokens / _STRATA
    used = [0.0] * _STRATA
    turns: list[tuple[bool, int, int]] = []
    counts = [0] * _STRATA
    for at, one in enumerate(ranked):
        stratum = min((one.line.seq - first_seq) // width, _STRATA - 1)
        is_within = not used[stratum] or used[stratum] + one.tokens <= quota
        turns.append((not is_within, counts[stratum], at))
        if is_within:
            used[stratum] += one.tokens
        counts[stratum] += 1
    return [ranked[at] for _, _, at in sorted(turns)]


def _fit(ranked: Sequence[_Ranked], frame: DigestFrame, speakers: dict[int, str]) -> DigestText:
    """Take lines while they fit by their own sizes, drop from the end until the whole fits, then fill what is left."""
    free = frame.free_tokens - _HEADING_TOKENS
    chosen: list[ExtractLine] = []
    skipped: list[_Ranked] = []
    for one in ranked:
        if one.tokens <= free:
            chosen.append(one.line)
            free -= one.tokens
        else:
            skipped.append(one)
    made = _measure(chosen, frame, speakers)
    while made is None:
        if not chosen:
            return _fall_back(frame)
        del chosen[-max(1, len(chosen) // 16) :]
        made = _measure(chosen, frame, speakers)
    for one in skipped[:_TRIES]:
        if one.tokens - _HEADING_TOKENS <= frame.cap_tokens - made.tokens:
            more = _measure([*chosen, one.line], frame, speakers)
            if more is not None:
                made = more
                chosen.append(one.line)
    return made


def _measure(chosen: Sequence[ExtractLine], frame: DigestFrame, speakers: dict[int, str]) -> DigestText | None:
    text = _render(chosen, frame, speakers)
    tokens = frame.estimate(text)
    if tokens > frame.cap_tokens:
        return None
    return DigestText(text=text, tokens=tokens, line_count=len(chosen), shown_seqs=_list_seqs(chosen))


def _fall_back(frame: DigestFrame) -> DigestText:
    for text in (frame.fallback, ""):
        if (tokens := frame.estimate(text)) <= frame.cap_tokens:
            break
    return DigestText(text=text, tokens=tokens, line_count=0, shown_seqs=())


def _list_seqs(lines: Iterable[ExtractLine]) -> tuple[int, ...]:
    return tuple(sorted({line.seq for line in lines}))


def _render(chosen: Sequence[ExtractLine], frame: DigestFrame, speakers: dict[int, str]) -> str:
    rows = [frame.head]
    day: date | None = None
    groups: list[list[ExtractLine]] = [[] for _ in _GROUPS]
    for line in sorted(chosen, key=lambda line: (line.seq, line.start)):
        groups[_find_group(line)].append(line)
    for (title, _), group in zip(_GROUPS, groups, strict=True):
        if not group:
            continue
        rows.append(f"{title}:")
        written, day = write_rows(group, speakers, day)
        rows += written
    rows.append(frame.tail)
    return "\n".join(rows)


def _find_group(line: ExtractLine) -> int:
    """The group that a line is shown in; only the user's own words stand."""
    group = _GROUP_OF[line.kind]
    return _FACTS if group == _STANDING_GROUP and not line.standing else group
