"""A conversation that never ends: does a session's cost stay flat, and how much of each request stays cached?"""

import asyncio
import cProfile
import json
import pstats
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from bench.material.logs import endless_log
from bench.measuring import RowCounter, Times, hooked
from bench.opening import open_engine, temporary_folder
from bench.report import Row
from everfold.core.compaction.record import Compaction
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens
from everfold.core.windows.entries import MessageEntry, RangeEntry
from everfold.core.windows.rendering import render
from everfold.core.windows.window import Window
from everfold.session import Session

TITLE = "60,000 messages at budgets of 8,000 and 32,000 tokens"
MESSAGES_COUNT = 60_000
QUICK_COUNT = 6_000
LEAST_CACHED = {8_000: 0.75, 32_000: 0.90}
CHECKED_EVERY = 25
"""Every so many requests the rendered one is estimated anew, whatever its report says."""


@dataclass(slots=True)
class Requests:
    """What is kept of every request."""

    secs: list[float] = field(default_factory=list)
    processor_secs: list[float] = field(default_factory=list)
    compacting_secs: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    body: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    estimate_shares: list[float] = field(default_factory=list)
    over_budget_count: int = 0
    same_chars: int = 0
    previous_chars: int = 0
    cache_breaks: Counter[str] = field(default_factory=Counter)
    triggers: Counter[str] = field(default_factory=Counter)
    lost_chars: Counter[str] = field(default_factory=Counter)
    said_chars: int = 0
    uncached_chars: int = 0


def run(*, is_quick: bool, profile: bool = False) -> tuple[list[Row], list[str]]:
    """Play the log at both budgets."""
    count = QUICK_COUNT if is_quick else MESSAGES_COUNT
    rows: list[Row] = []
    played = (
        f"{count:,} messages of the endless log (seed 1), appended one by one, a window and its rendering for OpenAI before "
        "every message of the assistant. No system prompt, no suffix, no room for an answer. Cached: the characters that "
        "a request has in common with the beginning of the one before, to all characters of the one before, summed up."
    )
    notes = [played]
    for budget, least in LEAST_CACHED.items():
        kept = asyncio.run(_play(count, budget, profile=profile))
        rows += _rows(budget, least, kept)
        notes += _tell(budget, kept)
    return rows, notes


async def _play(count: int, budget: int, *, profile: bool) -> Requests:
    counter, kept = RowCounter(), Requests()
    profiler = cProfile.Profile() if profile else None
    with temporary_folder() as folder, hooked(counter.watch):
        async with open_engine(folder / "endless.db", is_bare=True) as engine:
            session = await engine.session(limit=budget)
            await _play_log(session, count, kept, counter, profiler)
    if profiler is not None:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(35)
    return kept


async def _play_log(
    session: Session, count: int, kept: Requests, counter: RowCounter, profiler: cProfile.Profile | None
) -> None:
    previous: list[str] = []
    ordinal, appended_count, rows_before = 0, 0, 0
    spent = Times()
    for entry in endless_log(1, messages_count=count):
        if entry.wire["role"] == "assistant" and appended_count:
            if profiler:
                profiler.enable()
            with spent.one():
                window = await session.window()
            if profiler:
                profiler.disable()
            kept.secs.append(sum(spent.secs))
            kept.processor_secs.append(sum(spent.processor_secs))
            kept.rows.append(counter.rows_count - rows_before)
            kept.messages.append(appended_count)
            parts = list(_parts(render(window, "openai")))
            is_checked = len(kept.secs) % CHECKED_EVERY == 0
            _note_window(kept, window, parts if is_checked else [])
            same_chars = _common_chars(previous, parts)
            previous_chars = sum(map(len, previous))
            kept.same_chars += same_chars
            kept.previous_chars += previous_chars
            kept.uncached_chars += sum(map(len, parts)) - same_chars
            if same_chars < previous_chars:
                events = await session.inspect.compactions(after_ordinal=ordinal)
                ordinal = max([ordinal, *(event.ordinal for event in events)])
                _note_cache_break(kept, events, previous_chars - same_chars)
                kept.compacting_secs.append(spent.secs[-1])
            previous = parts
            appended_count, rows_before, spent = 0, counter.rows_count, Times()
        with spent.one():
            await session.append(entry.wire, said_at=entry.said_at)
        appended_count += 1
        kept.said_chars += sum(map(len, _parts({"messages": [entry.wire]})))


def _note_window(kept: Requests, window: Window, parts: Sequence[str]) -> None:
    report = window.report
    body = 0
    for entry in window.entries:
        if isinstance(entry, RangeEntry):
            body += len(entry.kept) + bool(entry.digest_text)
        elif not isinstance(entry, MessageEntry) or entry.slice in {"head", "running"}:
            body += 1
    kept.body.append(body)
    kept.shares.append(report.tokens / report.budget_tokens)
    kept.over_budget_count += report.tokens > report.budget_tokens
    if parts:
        tokens = sum(estimate_text_tokens(part.partition(":")[2]) + MESSAGE_OVERHEAD_TOKENS for part in parts)
        kept.estimate_shares.append(tokens / report.budget_tokens)


def _note_cache_break(kept: Requests, events: Sequence[Compaction], lost_chars: int) -> None:
    triggers = [event.report.trigger for event in events if event.report is not None]
    kept.triggers.update(triggers)
    reason = " + ".join(f"{name}" for name in sorted(set(triggers))) or "no compaction"
    kept.cache_breaks[reason] += 1
    kept.lost_chars[reason] += lost_chars


def _parts(request: Mapping[str, Any]) -> Iterator[str]:
    """The rendered parts of a request in order, each with who says it."""
    for message in cast("list[dict[str, Any]]", request["messages"]):
        role, content = message["role"], message.get("content")
        if isinstance(content, list):
            yield from (f"{role}:{part.get('text') or json.dumps(part)}" for part in content)
        elif content is not None:
            yield f"{role}:{content}"
        yield from (f"{role}:{json.dumps(call)}" for call in message.get("tool_calls", ()))


def _common_chars(previous: Sequence[str], parts: Sequence[str]) -> int:
    """How many characters both have in common from their beginning."""
    common = 0
    for old, new in zip(previous, parts, strict=False):
        if old != new:
            return common + _common_start(old, new)
        common += len(old)
    return common


def _common_start(old: str, new: str) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[:middle] == new[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _rows(budget: int, least: float, kept: Requests) -> list[Row]:
    at = f"at {budget:,}"
    tenth = max(len(kept.secs) // 10, 1)
    # The first tenth begins when the window is full: before that there is nothing to fold.
    begin = min(tenth // 4, 200)
    first, last = slice(begin, begin + tenth), slice(-tenth, None)
    work = kept.processor_secs
    body_growth = statistics.fmean(kept.body[last]) / max(statistics.fmean(kept.body[first]), 1)
    return [
        Row(figure=f"share that stays cached {at}", value=kept.same_chars / kept.previous_chars, least=least, digits=3),
        Row(figure=f"characters read uncached per character in {at}", value=kept.uncached_chars / kept.said_chars),
        Row(figure=f"characters sent again per character in {at}, by cache breaks", value=kept.lost_chars.total() / kept.said_chars),
        Row(figure=f"windows over the budget {at}", value=float(kept.over_budget_count), most=0, digits=0),
        Row(figure=f"largest window {at}, of the budget", value=max(kept.shares), most=1.0, digits=3),
        Row(figure=f"largest rendered request {at}, estimated anew, of the budget", value=max(kept.estimate_shares), digits=3),
        Row(figure=f"body entries {at}: median", value=statistics.median(kept.body), digits=0),
        Row(figure=f"body entries {at}: most", value=float(max(kept.body)), digits=0),
        Row(figure=f"body entries {at}: last tenth to first", value=body_growth, unit="times"),
        Row(figure=f"rows read a message {at}: mean", value=sum(kept.rows) / sum(kept.messages), unit="rows"),
        Row(figure=f"rows read a message {at}: last tenth to first", value=_per_message(kept, last) / _per_message(kept, first), unit="times"),
        Row(figure=f"request {at} (its appends and window): median", value=statistics.median(kept.secs) * 1e6, unit="µs", digits=0),
        Row(figure=f"request {at}: mean with its compactions", value=statistics.fmean(kept.secs) * 1e6, unit="µs", digits=0),
        Row(figure=f"request {at}: median of processor time", value=statistics.median(work) * 1e6, unit="µs", digits=0),
        Row(figure=f"request {at}: processor time, medians, last tenth to first", value=statistics.median(work[last]) / statistics.median(work[first]), unit="times"),
        Row(figure=f"request {at}: processor time, means, last tenth to first", value=statistics.fmean(work[last]) / statistics.fmean(work[first]), unit="times"),
        Row(figure=f"window that compacts {at}: median of {len(kept.compacting_secs)}", value=statistics.median(kept.compacting_secs) * 1e6, unit="µs", digits=0),
        Row(figure=f"compactions {at}", value=_tally(kept.triggers)),
        Row(figure=f"breaks {at}, of {len(kept.secs):,} requests", value=_tally(kept.cache_breaks)),
    ]  # fmt: skip


def _per_message(kept: Requests, part: slice) -> float:
    return sum(kept.rows[part]) / sum(kept.messages[part])


def _tally(counts: Counter[str]) -> str:
    return f"{counts.total()}: " + ", ".join(f"{count} {name}" for name, count in counts.most_common())


def _tell(budget: int, kept: Requests) -> list[str]:
    total = kept.lost_chars.total()
    told = ", ".join(
        f"{name} {chars / kept.cache_breaks[name]:,.0f} characters each ({chars / total:.0%})"
        for name, chars in kept.lost_chars.most_common()
    )
    return [f"Lost by breaks at {budget:,}: {told}."] if total else []
