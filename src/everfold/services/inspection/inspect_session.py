"""Inspect: what an operator sees of a session, and no turn asks for. Nothing here writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from everfold.core.compaction.folding import Digest
from everfold.core.compaction.record import Compaction
from everfold.core.log.budget import UsableBudget
from everfold.core.log.calibration import Calibration
from everfold.core.log.messages import Message, make_tombstone
from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import CompactionId
from everfold.core.primitives.listing import require_page_size
from everfold.core.windows.reports import WindowReport, count_report, count_shown, measure_slices, report_window
from everfold.core.windows.suffixes import list_suffix
from everfold.ports.browsing import SessionFigures
from everfold.ports.stores import Store
from everfold.services.check_arguments import checked
from everfold.services.inspection.strips import DatedStrip, get_strip, list_strips
from everfold.services.sessions.list_compactions import (
    find_own_compaction,
    list_compactions_after,
    list_newest_compactions,
)
from everfold.services.sessions.live import LiveSession
from everfold.services.sessions.read import Page, read_page, require_range, require_seq
from everfold.services.sessions.shown import note_turn

_PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LogStretch:
    """Messages of a log, tombstones included, and how long the log is."""

    messages: tuple[Message, ...]
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogStrips:
    """Strips of a log, the newest last, and how long the log is."""

    strips: tuple[DatedStrip, ...]
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMessage:
    """A message, or its tombstone; and the page of its text that was asked for."""

    message: Message
    page: Page | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostedCompaction:
    """A compaction, and what models were paid for it; None where no price is known, or none was asked."""

    compaction: Compaction
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionDetail:
    """All that is stored of one compaction.

    Attributes:
        digest: The digest of its range, also after the range has joined the rollup; None if it folded nothing or is not
            in force.
        provisional: The digest that the model's digest replaced; None without one.
        rollup: The rollup that it made; None without one.
    """

    compaction: Compaction
    digest: Digest | None
    provisional: Digest | None
    rollup: Digest | None
    calls: tuple[ModelCall, ...]

    @property
    def cost_usd(self) -> float | None:
        """What models were paid for it, as far as prices are known."""
        costs = [call.cost_usd for call in self.calls if call.cost_usd is not None]
        return sum(costs) if costs else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a session stands: its window as the layout shows it, before anything that is due is folded.

    Tokens are the provider's.
    """

    figures: SessionFigures
    report: WindowReport
    budget: UsableBudget
    calibration: Calibration


@checked
class Inspector:
    """Looks into one session."""

    def __init__(self, *, store: Store, live: LiveSession) -> None:
        self._store = store
        self._live = live

    @property
    def figures(self) -> SessionFigures:
        """How far the session was when it was read last."""
        state = self._live.state
        return SessionFigures(
            last_seq=state.last_seq,
            watermark=self._live.layout.watermark,
            epoch=state.epoch,
            active_at=state.active_at,
        )

    async def standing(self) -> Standing:
        """Where the session stands now. O(what its layout shows): no message of the log is read."""
        await self._live.reload(self._store)
        state, layout, budget = self._live.state, self._live.layout, self._live.budget()
        report = report_window(
            state,
            layout,
            self._live.settings.policy,
            budget,
            by_slice=measure_slices(layout, refresh_seq=state.refresh_seq),
            message_count=await self._count_shown(),
            suffix=list_suffix(state, layout, budget, suffix="", note=note_turn(self._live)),
        )
        return Standing(
            figures=self.figures,
            report=count_report(report, budget, state.calibration),
            budget=budget.count(state.calibration),
            calibration=state.calibration,
        )

    async def _count_shown(self) -> int:
        state, layout, session_id = self._live.state, self._live.layout, self._live.record.id
        if self._live.opening is not None:
            return 0
        gone = await self._store.list_erased(session_id, retracted=True) if state.epoch else []
        refreshes = await self._store.list_refreshes(session_id) if state.replaced_seq else []
        return count_shown(state, layout, refreshes=refreshes, gone=frozenset(gone))

    # --- messages

    async def read_range(self, first_seq: int, last_seq: int) -> LogStretch:
        """The messages of a range, both ends included, as far as there are any.

        Raises:
            InvalidInputError: the range is empty or larger than `everfold.services.sessions.read.MOST_READ`.
        """
        require_range(self._live, first_seq, last_seq)
        await self._live.reload(self._store)
        end = self._live.state.last_seq
        seqs = range(first_seq, min(last_seq, end) + 1)
        return LogStretch(messages=tuple(await self._read(seqs)), last_seq=end)

    async def read_around(self, seq: int, *, before: int, after: int) -> LogStretch:
        """A message with its neighbours.

        Raises:
            NotFoundError: the session has no such message.
            InvalidInputError: these are more than `everfold.services.sessions.read.MOST_READ`.
        """
        stretch = await self.read_range(max(seq - before, 1), seq + after)
        require_seq(stretch.messages, self._live, seq)
        return stretch

    async def read_message(self, seq: int, *, page: int | None = None) -> ReadMessage:
        """A message, or its tombstone; with a page of its text where one is asked for.

        Raises:
            NotFoundError: the session has no such message, or the message no such page.
        """
        message = require_seq(await self._read([seq]), self._live, seq)
        of_text = None if page is None else await read_page(self._store, self._live, seq, page)
        return ReadMessage(message=message, page=of_text)

    async def _read(self, seqs: Sequence[int]) -> list[Message]:
        session_id = self._live.record.id
        found = {message.seq: message for message in await self._store.read_messages(session_id, seqs, retracted=True)}
        missing = [seq for seq in seqs if seq not in found]
        if missing:
            found |= {note.seq: make_tombstone(note) for note in await self._store.read_notes(session_id, missing)}
        return [found[seq] for seq in seqs if seq in found]

    # --- compactions

    async def list_costed_compactions(
        self, *, after: str | None = None, newest_first: bool = False, limit: int = 100
    ) -> list[CostedCompaction]:
        """The compactions of the session's log, in their order or against it.

        Args:
            after: The last id of the page before.
            newest_first: Begin with the newest one.
            limit: How many at most.

        Raises:
            NotFoundError: the log has no compaction `after`.
        """
        cursor = None if after is None else CompactionId(after)
        if newest_first:
            compactions = await list_newest_compactions(
                self._store, self._live, before=cursor, limit_count=require_page_size(limit)
            )
        else:
            compactions = await list_compactions_after(
                self._store, self._live, after=cursor, limit_count=require_page_size(limit)
            )
        return [await self.show_cost(compaction) for compaction in compactions]

    async def show_cost(self, compaction: Compaction) -> CostedCompaction:
        """A compaction with what models were paid for it; nothing is asked where no worker ever had it."""
        cost_usd = await self._store.sum_cost_usd(compaction_id=compaction.id) if compaction.attempts else 0.0
        return CostedCompaction(compaction=compaction, cost_usd=cost_usd or None)

    async def read_compaction(self, compaction_id: str) -> CompactionDetail:
        """One compaction with the digests and the calls that belong to it.

        Raises:
            NotFoundError: the log has no such compaction, whether another one has or not.
        """
        compaction = await find_own_compaction(self._store, self._live.record, compaction_id)
        own = await self._read_digests(compaction)
        revision = None if compaction.revises else await self._store.find_revision(compaction.id)
        revised = await self._read_digests(revision) if revision is not None else {}
        return CompactionDetail(
            compaction=compaction,
            digest=revised.get("digest") or own.get("digest"),
            provisional=own.get("digest") if "digest" in revised else None,
            rollup=own.get("rollup"),
            calls=tuple(await self._list_calls(compaction)),
        )

    async def _read_digests(self, compaction: Compaction) -> dict[str, Digest]:
        """What a compaction committed, by kind."""
        if compaction.certificate is None:
            return {}
        ids = [digest_id for digest_id, _ in compaction.certificate.digests]
        return {digest.kind: digest for digest in (await self._store.read_digests(ids)).values()}

    async def _list_calls(self, compaction: Compaction) -> list[ModelCall]:
        calls: list[ModelCall] = []
        while compaction.attempts and (
            page := await self._store.list_calls(
                compaction_id=compaction.id, after=calls[-1].id if calls else None, limit_count=_PAGE
            )
        ):
            calls += page
        return calls

    # --- what is shown

    async def list_digests(self) -> list[Digest]:
        """The digests that the window shows now, by range."""
        await self._live.reload(self._store)
        ids = [shown.digest_id for shown in self._live.layout.ranges if shown.digest_id]
        found = await self._store.read_digests(ids)
        return [found[digest_id] for digest_id in ids if digest_id in found]

    async def list_strips(self, *, compaction: str | None = None, limit: int = 20) -> LogStrips:
        """The log as the newest compactions left it and as it is now; or as one compaction left it.

        Raises:
            NotFoundError: the log has no such compaction.
        """
        if compaction is None:
            strips = await list_strips(self._store, self._live, limit_count=require_page_size(limit))
        else:
            asked = await find_own_compaction(self._store, self._live.record, compaction)
            strips = await get_strip(self._store, self._live, asked)
        return LogStrips(last_seq=self._live.state.last_seq, strips=tuple(strips))
