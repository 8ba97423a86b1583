"""Extractive digests: what stands for folded messages when no model has spoken, and the floor under every digest.

Theory of operation: superseded lines and those that tell nothing are left out; the rest are taken by what each adds to what
the window already shows, for its size, each class of lines within its share (`value`, `choice`). What was taken stands in
the order of the log between two markers, each line with its sequence number, its date and who said it. The text is fitted
to its cap last, by the estimator that the window uses, so it never exceeds it.

Source: DESIGN 3.4; docs/adr/0032-what-a-line-adds.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from everfold.core.digests.answers import Said, Told, group_stepwise
from everfold.core.digests.choice import LINES_PER_STEP, begin_choice, choose_quotas, list_candidates
from everfold.core.digests.pools import RollupPool
from everfold.core.digests.rows import FENCED, DigestFrame, Estimate, label_line, neutralise, write_rows
from everfold.core.digests.value import read_value
from everfold.core.primitives.origins import Origin
from everfold.core.primitives.stepwise import Steps, finishing, map_stepwise
from everfold.core.replacement.supersession import list_current_stepwise
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.quotes import REMEMBERED_TEXTS


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
    shown_seqs: tuple[int, ...]


_TRIES: Final = 4
_ROW_TOKENS: Final = 5
"""Number sign, sequence number and line break of one row; `_measure` has the last word on what fits."""
_DATE_TOKENS: Final = 7
_STRATA: Final = 8
"""Source: DESIGN 3.4 †, equal quota for each of 8 strata of age."""


def compose_digest_stepwise(
    sources: Sequence[DigestSource],
    *,
    first_seq: int,
    last_seq: int,
    cap_tokens: int,
    estimate: Estimate,
    focus: str | None = None,
    beside: Sequence[ExtractLine] = (),
) -> Steps[DigestText]:
    """The digest of one event's folded messages, at most `cap_tokens` by `estimate`, markers included.

    Lines that share a word with the caller's `focus` are preferred. `beside` are lines that the window shows elsewhere: what
    they hold counts as shown, and they themselves are said once more only where room is left. O(lines x log lines).
    """
    speakers, legend = name_speakers(sources)
    lines = yield from list_current_stepwise(line for source in sources for line in source.lines)
    frame = DigestFrame(first_seq, last_seq, count_sources(sources) + legend, cap_tokens, estimate)
    ranked = yield from _rank(lines, estimate, speakers, focus=focus, beside=beside, enough_tokens=2 * cap_tokens)
    return _fit(ranked, frame, speakers)


def compose_rollup_stepwise(
    pool: RollupPool,
    *,
    first_seq: int,
    last_seq: int,
    cap_tokens: int,
    estimate: Estimate,
    beside: Sequence[ExtractLine] = (),
) -> Steps[DigestText]:
    """The digest of older ranges together: an equal quota of tokens for each of 8 strata of age, then what is left over.

    `beside` are lines that the window shows elsewhere: they are not said twice, what they hold counts as shown, and what
    they supersede is left out.
    """
    shown = {(line.seq, line.start): line for line in beside}
    offered = {(line.seq, line.start): line for line in pool.list_lines() if first_seq <= line.seq <= last_seq}
    current = yield from list_current_stepwise((offered | shown).values())
    lines = [line for line in current if (line.seq, line.start) not in shown]
    frame = DigestFrame(first_seq, last_seq, "", cap_tokens, estimate)
    ranked = yield from _rank(lines, estimate, {}, beside=beside)
    return _fit(_spread(ranked, first_seq, last_seq, frame.free_tokens), frame, {})


compose_digest: Final = finishing(compose_digest_stepwise)
compose_rollup: Final = finishing(compose_rollup_stepwise)


class _Ranked(NamedTuple):
    """What is quoted together, and its size when shown."""

    said: Said
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
    speakers: Mapping[int, str],
    *,
    focus: str | None = None,
    beside: Sequence[ExtractLine] = (),
    enough_tokens: int | None = None,
) -> Steps[list[_Ranked]]:
    """Lines in the order of choice, near-duplicates and what tells nothing by itself left out.

    None where no line tells anything new. Stops at `enough_tokens` of lines; gives all when left out.
    """
    groups = yield from group_stepwise(lines)
    sizes = yield from _size_rows(groups, estimate, speakers)
    shown = yield from map_stepwise(read_value, [line.quote for line in beside], count=LINES_PER_STEP)
    seen = frozenset[str]().union(*chain.from_iterable(shown))
    quoted = {(line.seq, line.start) for line in beside}
    candidates = yield from list_candidates(groups, sizes, focus=focus, quoted=quoted)
    choice = yield from begin_choice(candidates, choose_quotas(lines), seen=seen)
    spent = 0
    ranked: list[_Ranked] = []
    for at in choice.order():
        if at is None:
            yield
            continue
        ranked.append(_Ranked(groups[at].said, sizes[at]))
        spent += sizes[at]
        if enough_tokens is not None and spent >= enough_tokens:
            break
    return ranked


def _size_rows(groups: Sequence[Told], estimate: Estimate, speakers: Mapping[int, str]) -> Steps[list[int]]:
    """Tokens of each line, with its question, when it is shown in a row of its own."""
    frame_tokens = _DATE_TOKENS if len({one.said[-1].said_at.date() for one in groups}) > 1 else 0

    def size(one: Told) -> int:
        rows = [
            _size_row(estimate, label_line(line, speakers), line.quote, line.origin in FENCED) + _ROW_TOKENS
            for line in one.said
        ]
        return frame_tokens + sum(rows)

    return (yield from map_stepwise(size, groups, count=LINES_PER_STEP))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _size_row(estimate: Estimate, label: str, quote: str, is_fenced: bool) -> int:  # noqa: FBT001 - a key of the cache
    shown = neutralise(quote)
    return estimate(f"{label}: <<{shown}>>" if is_fenced else f"{label}: {shown}")


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
        stratum = min((one.said[-1].seq - first_seq) // width, _STRATA - 1)
        is_within = not used[stratum] or used[stratum] + one.tokens <= quota
        turns.append((not is_within, counts[stratum], at))
        if is_within:
            used[stratum] += one.tokens
        counts[stratum] += 1
    return [ranked[at] for _, _, at in sorted(turns)]


def _fit(ranked: Sequence[_Ranked], frame: DigestFrame, speakers: Mapping[int, str]) -> DigestText:
    """Take lines while they fit by their own sizes, drop from the end until the whole fits, then fill what is left."""
    chosen, rest = _take(ranked, frame.free_tokens)
    made = _measure(chosen, frame, speakers)
    while made is None:
        if not chosen:
            return _fall_back(frame)
        del chosen[-max(1, len(chosen) // 16) :]
        made = _measure(chosen, frame, speakers)
    for _ in range(_TRIES):
        more, rest = _take(rest, frame.cap_tokens - made.tokens)
        if not more:
            break
        tried = _measure([*chosen, *more], frame, speakers)
        if tried is not None:
            chosen += more
            made = tried
    return made


def _take(ranked: Sequence[_Ranked], free_tokens: int) -> tuple[list[ExtractLine], list[_Ranked]]:
    """The lines that fit one after the other, and those that do not, both in their order."""
    taken: list[ExtractLine] = []
    left: list[_Ranked] = []
    for one in ranked:
        if one.tokens <= free_tokens:
            taken += one.said
            free_tokens -= one.tokens
        else:
            left.append(one)
    return taken, left


def _measure(chosen: Sequence[ExtractLine], frame: DigestFrame, speakers: Mapping[int, str]) -> DigestText | None:
    text = _render(chosen, frame, speakers)
    tokens = frame.estimate(text)
    if tokens > frame.cap_tokens:
        return None
    return DigestText(text=text, tokens=tokens, shown_seqs=_list_seqs(chosen))


def _fall_back(frame: DigestFrame) -> DigestText:
    for text in (frame.fallback, ""):
        if (tokens := frame.estimate(text)) <= frame.cap_tokens:
            break
    return DigestText(text=text, tokens=tokens, shown_seqs=())


def _list_seqs(lines: Iterable[ExtractLine]) -> tuple[int, ...]:
    return tuple(sorted({line.seq for line in lines}))


def _render(chosen: Iterable[ExtractLine], frame: DigestFrame, speakers: Mapping[int, str]) -> str:
    once = {(line.seq, line.start): line for line in chosen}
    rows, _ = write_rows([once[place] for place in sorted(once)], speakers, None)
    return frame.write(rows)
