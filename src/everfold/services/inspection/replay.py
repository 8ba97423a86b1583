"""Replay: play messages into a session one by one, as a live one would get them, and measure what that took."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from time import perf_counter

from everfold.core.log.appending import Incoming
from everfold.core.observation.costs import InputTokens, TalkInput, Unfolded
from everfold.core.observation.events import (
    CompactionCommitted,
    CompactionDegraded,
    DigestJudged,
    Event,
    LateDigestCommitted,
    ModelCalled,
)
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.entries import TextEntry
from everfold.core.windows.prefix import count_stable_bytes, list_parts
from everfold.core.windows.rendering import Provider, render
from everfold.core.windows.window import Window
from everfold.ports.stores import Store
from everfold.services.check_arguments import checked
from everfold.services.inspection.verify import Verification, verify_session
from everfold.services.memory.recollect import Recollector
from everfold.services.sessions.append import append_once
from everfold.services.sessions.list_compactions import iterate_compactions
from everfold.services.sessions.live import LiveSession
from everfold.services.telling.tell_changes import tell_appended
from everfold.services.turns.background import Background
from everfold.services.turns.show import report_breaks, show_window

UNEXPLAINED = "unexplained"
"""The reason of a cache break that no compaction accounts for; there must never be one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTurn:
    """One request of a replay.

    Attributes:
        played_count: How many messages have been played.
        compactions_count: How many compactions the replay has made.
        elapsed_secs: What the appends since the last request and this window took, rendering left out.
    """

    played_count: int
    compactions_count: int
    window: Window
    request: JsonObject
    elapsed_secs: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBreak:
    """Why the beginning of requests changed, how often, and what the provider's cache had to read again for it."""

    reason: str
    count: int
    resent_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """What a model did for the digests of a replay.

    Attributes:
        accepted_count: Digests that passed every check.
        refused_count: Digests that were given up; the extractive ones stand.
        faults: What was wrong with replies that were refused, and how often, also where a later one was good.
        swapped_count: Digests that were there when their messages left the window.
        revised_count: Digests that took the place of an extractive one later.
        degraded_count: Events whose extractive digest is final because of failures.
        waiting_count: Events that a digest is still to come for.
        errors: Why calls were not answered, by the code of the error.
        cost_usd: The known cost; None where no call has one.
    """

    accepted_count: int
    refused_count: int
    faults: Mapping[str, int]
    swapped_count: int
    revised_count: int
    degraded_count: int
    waiting_count: int
    calls_count: int
    errors: Mapping[str, int]
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """What a replay did. Token counts are of the fixed estimate.

    Attributes:
        raw_tokens: All messages whole, as they came in, with the system prompt and the tools.
        window_tokens: The last window.
        over_budget_count: Windows that were larger than their budget; 0, or something is wrong.
        compactions: How many of each trigger. Revisions are none.
        resent_tokens: What the cache breaks have sent again, together.
        resent_per_token: The same for each token of the messages that came in.
        uncached_per_token: All that requests read and the request before did not begin with, for each token of the
            messages that came in: their first reading, what was sent again, and what Everfold wrote.
        input: What all requests read, and what a prompt cache has of it: whole, cut to a tail, and folded.
        folded_later_count: Kept messages that left the window later; a rollup has read them.
        stable_share: The bytes of all requests that their next request began with, of all their bytes.
        stable_share_median: The same request by request.
        turn_micros_median: What a turn took: its appends and its window.
        model_use: What a model did; None where none is configured.
    """

    messages_count: int
    requests_count: int
    limit_tokens: int
    budget_tokens: int
    raw_tokens: int
    window_tokens: int
    smallest_window_tokens: int
    largest_window_tokens: int
    over_budget_count: int
    compactions: Mapping[str, int]
    kept_count: int
    folded_count: int
    folded_later_count: int
    digests_count: int
    rollups_count: int
    digest_tokens: int
    cache_breaks: tuple[CacheBreak, ...]
    resent_tokens: int
    resent_per_token: float
    uncached_per_token: float
    input: TalkInput
    stable_share: float
    stable_share_median: float
    turn_micros_median: int
    turn_micros_p95: int
    elapsed_secs: float
    verification: Verification
    model_use: ModelUse | None = None


@dataclass(slots=True, kw_only=True)
class _Tally:
    """What is counted while a replay runs."""

    raw_tokens: int = 0
    played_count: int = 0
    window_tokens: list[int] = field(default_factory=list)
    turn_secs: list[float] = field(default_factory=list)
    over_budget_count: int = 0
    stable_bytes: int = 0
    all_bytes: int = 0
    shares: list[float] = field(default_factory=list)
    folded: InputTokens = field(default_factory=InputTokens)
    unexplained_count: int = 0
    cache_breaks: list[tuple[str, int]] = field(default_factory=list)
    accepted_count: int = 0
    refused_count: int = 0
    swapped_count: int = 0
    revised_count: int = 0
    degraded_count: int = 0
    calls_count: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)
    costs_usd: list[float] = field(default_factory=list)

    def hear(self, compaction: Event) -> None:
        """Count what a model did."""
        match compaction:
            case DigestJudged():
                self.accepted_count += compaction.is_accepted
                self.refused_count += not compaction.is_accepted
                self.faults.update(compaction.faults)
            case CompactionCommitted():
                self.swapped_count += compaction.generator == "abstractive"
            case LateDigestCommitted():
                self.revised_count += 1
            case CompactionDegraded():
                self.degraded_count += 1
            case ModelCalled():
                self.calls_count += 1
                self.errors.update([] if compaction.error_code is None else [compaction.error_code])
                self.counted.update(
                    input=compaction.input_tokens, cached=compaction.cached_tokens, output=compaction.output_tokens
                )
                self.costs_usd += [] if compaction.cost_usd is None else [compaction.cost_usd]
            case _:
                pass


@checked
class Replay:
    """One replay of messages into one session. Run `turns` to its end, then ask for the `report`."""

    def __init__(
        self,
        store: Store,
        live: LiveSession,
        background: Background,
        messages: Sequence[Incoming],
        *,
        provider: Provider,
        recollector: Recollector | None,
    ) -> None:
        self._store = store
        self._live = live
        self._background = background
        self._messages = messages
        self._provider = provider
        self._recollector = recollector
        self._tally = _Tally()
        self._unfolded = Unfolded(fixed_tokens=live.settings.prompt_tokens)
        self._first_ordinal = live.state.compactions_count
        self._heard = background.worker.stream.feed.subscribe(live.record.id)
        self._last: ReplayTurn | None = None
        self._last_parts: list[bytes] = []

    async def turns(self) -> AsyncIterator[ReplayTurn]:
        """Play all messages, and give every request that a live session would have sent.

        A request is due before each message of the model, and once more at the end.

        Raises:
            InvalidInputError: a message does not fit the log.
            BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
        """
        elapsed_secs = 0.0
        for index, message in enumerate(self._messages):
            started = perf_counter()
            stored, plan = await append_once(self._store, self._live, [message])
            elapsed_secs += perf_counter() - started
            if plan is not None:
                tell_appended(
                    self._background.worker.stream,
                    self._live.record.id,
                    last_seq=plan.state.last_seq,
                    count=len(plan.appended),
                )
            self._tally.played_count += 1
            self._tally.raw_tokens += stored[0].raw_tokens
            self._unfolded.append(stored[0].raw_tokens)
            if index + 1 == len(self._messages) or self._messages[index + 1].view.role == "assistant":
                yield await self._request(elapsed_secs)
                elapsed_secs = 0.0

    async def _request(self, elapsed_secs: float) -> ReplayTurn:
        started = perf_counter()
        window = await show_window(
            self._store,
            self._live,
            self._background,
            limit_tokens=None,
            suffix=None,
            recollector=self._recollector,
        )
        elapsed_secs += perf_counter() - started
        await report_breaks(self._live, self._background, self._live.state)
        turn = ReplayTurn(
            played_count=self._tally.played_count,
            compactions_count=self._live.state.compactions_count - self._first_ordinal,
            window=window,
            request=render(window, self._provider),
            elapsed_secs=elapsed_secs,
        )
        self._count(turn)
        self._hear()
        return turn

    def _hear(self) -> None:
        while (compaction := self._heard.take_waiting()) is not None:
            self._tally.hear(compaction)

    def _count(self, turn: ReplayTurn) -> None:
        tally, report = self._tally, turn.window.report
        tally.window_tokens.append(report.tokens)
        tally.turn_secs.append(turn.elapsed_secs)
        tally.over_budget_count += report.tokens > report.budget_tokens
        tally.cache_breaks += [(it.reason, it.resent_tokens) for it in report.cache_breaks]
        parts = list_parts(turn.request)
        stable_bytes = 0
        if self._last is not None:
            all_bytes = sum(map(len, self._last_parts))
            stable_bytes = count_stable_bytes(self._last_parts, parts)
            tally.all_bytes += all_bytes
            tally.stable_bytes += stable_bytes
            tally.shares.append(stable_bytes / max(all_bytes, 1))
            tally.unexplained_count += stable_bytes < all_bytes and not report.cache_breaks
        cached_share = stable_bytes / max(sum(map(len, parts)), 1)
        tally.folded = tally.folded.plus(report.tokens, cached_tokens=int(report.tokens * cached_share))
        self._unfolded.send(report.budget_tokens)
        suffix_count = sum([isinstance(it, TextEntry) and it.slice == "suffix" for it in turn.window.entries])
        self._last, self._last_parts = turn, parts[: len(parts) - suffix_count]  # the suffix is for one request only

    async def report(self) -> ReplayReport:
        """What the replay did, with everything verified that its session holds. O(log)."""
        if self._last is None:
            raise ValueError("a replay has no report before its first turn")
        self._hear()
        tally, window = self._tally, self._last.window.report
        added = iterate_compactions(self._store, self._live.record.id, after_ordinal=self._first_ordinal)
        compactions = [compaction async for compaction in added]
        reports = [compaction.report for compaction in compactions if compaction.report is not None]
        triggers: Counter[str] = Counter(
            compaction.plan.trigger
            for compaction in compactions
            if compaction.is_committed and compaction.revises is None
        )
        return ReplayReport(
            messages_count=tally.played_count,
            requests_count=len(tally.window_tokens),
            limit_tokens=window.limit_tokens,
            budget_tokens=window.budget_tokens,
            raw_tokens=self._live.settings.prompt_tokens + tally.raw_tokens,
            window_tokens=window.tokens,
            smallest_window_tokens=min(tally.window_tokens),
            largest_window_tokens=max(tally.window_tokens),
            over_budget_count=tally.over_budget_count,
            compactions=dict(triggers),
            kept_count=sum(report.kept_count for report in reports),
            folded_count=sum(report.folded_count for report in reports),
            folded_later_count=sum(report.folded_later_count for report in reports),
            digests_count=sum(report.own_digest_tokens > 0 for report in reports),
            rollups_count=sum(report.rollup_tokens > 0 for report in reports),
            digest_tokens=sum(report.own_digest_tokens + report.rollup_tokens for report in reports),
            cache_breaks=_list_cache_breaks(tally),
            resent_tokens=(resent_tokens := sum(cost for _, cost in tally.cache_breaks)),
            resent_per_token=resent_tokens / max(tally.raw_tokens, 1),
            uncached_per_token=tally.folded.uncached_tokens / max(tally.raw_tokens, 1),
            input=TalkInput(whole=self._unfolded.whole, tail=self._unfolded.tail, folded=tally.folded),
            stable_share=tally.stable_bytes / tally.all_bytes if tally.all_bytes else 1.0,
            stable_share_median=_quantile(tally.shares, 0.5) if tally.shares else 1.0,
            turn_micros_median=int(_quantile(tally.turn_secs, 0.5) * 1_000_000),
            turn_micros_p95=int(_quantile(tally.turn_secs, 0.95) * 1_000_000),
            elapsed_secs=sum(tally.turn_secs),
            verification=await verify_session(self._store, self._live.record),
            model_use=self._report_model(
                sum(not compaction.has_ended and compaction.digest == "pending" for compaction in compactions)
            ),
        )

    def _report_model(self, waiting_count: int) -> ModelUse | None:
        tally = self._tally
        if not self._background.worker.abilities.has_model:
            return None
        return ModelUse(
            accepted_count=tally.accepted_count,
            refused_count=tally.refused_count,
            faults=dict(tally.faults.most_common()),
            swapped_count=tally.swapped_count,
            revised_count=tally.revised_count,
            degraded_count=tally.degraded_count,
            waiting_count=waiting_count,
            calls_count=tally.calls_count,
            errors=dict(tally.errors.most_common()),
            input_tokens=tally.counted["input"],
            cached_tokens=tally.counted["cached"],
            output_tokens=tally.counted["output"],
            cost_usd=sum(tally.costs_usd) if tally.costs_usd else None,
        )


def _list_cache_breaks(tally: _Tally) -> tuple[CacheBreak, ...]:
    cache_breaks = [
        CacheBreak(
            reason=reason,
            count=sum(it == reason for it, _ in tally.cache_breaks),
            resent_tokens=sum(cost for it, cost in tally.cache_breaks if it == reason),
        )
        for reason in sorted({reason for reason, _ in tally.cache_breaks})
    ]
    if tally.unexplained_count:
        cache_breaks.append(CacheBreak(reason=UNEXPLAINED, count=tally.unexplained_count, resent_tokens=0))
    return tuple(cache_breaks)


def _quantile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that this share of them does not exceed."""
    return sorted(values)[max(ceil(len(values) * share) - 1, 0)]
