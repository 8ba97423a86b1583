"""Inspect: what an operator sees of a session, and no turn asks for. Nothing here writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from everfold.core.calibration import Calibration
from everfold.core.events import CompactionEvent
from everfold.core.folding import Digest
from everfold.core.listing import require_page_size
from everfold.core.messages import Message, make_tombstone
from everfold.core.room import Room
from everfold.core.sessions import EventId
from everfold.core.usage import ModelCall
from everfold.core.window import WindowReport
from everfold.ports.browsing import SessionFigures
from everfold.ports.stores import Store
from everfold.services.list_events import find_own_event, list_events_after, list_newest_events
from everfold.services.live import LiveSession
from everfold.services.read import Page, read_page, require_range, require_seq
from everfold.services.show import build_shown
from everfold.services.strips import DatedStrip, get_strip, list_strips

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
class CostedEvent:
    """An event, and what models were paid for it; None where no price is known, or none was asked."""

    event: CompactionEvent
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDetail:
    """All that is stored of one event.

    Attributes:
        digest: What stands for its range, or stood until that was rolled up; None where it folded nothing or is not in
            force.
        provisional: What stood there until the model's digest came; None where nothing else did.
        coarse: The coarse digest that it made; None for none.
    """

    event: CompactionEvent
    digest: Digest | None
    provisional: Digest | None
    coarse: Digest | None
    calls: tuple[ModelCall, ...]

    @property
    def cost_usd(self) -> float | None:
        """What models were paid for it, as far as prices are known."""
        costs = [call.cost_usd for call in self.calls if call.cost_usd is not None]
        return sum(costs) if costs else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a session stands: its window as the layout shows it, before anything that is due is folded."""

    figures: SessionFigures
    report: WindowReport
    room: Room
    calibration: Calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspector:
    """Looks into one session."""

    store: Store
    live: LiveSession

    @property
    def figures(self) -> SessionFigures:
        """How far the session was when it was read last."""
        state = self.live.state
        return SessionFigures(
            last_seq=state.last_seq,
            watermark=self.live.layout.watermark,
            epoch=state.epoch,
            active_at=state.active_at,
        )

    async def standing(self) -> Standing:
        """Where the session stands now. O(what the window shows)."""
        await self.live.reload(self.store)
        window = await build_shown(self.store, self.live, limit_tokens=None, volatile=None)
        return Standing(
            figures=self.figures,
            report=window.report,
            room=self.live.room(),
            calibration=self.live.state.calibration,
        )

    # --- messages

    async def read_range(self, first_seq: int, last_seq: int) -> LogStretch:
        """The messages of a range, both ends included, as far as there are any.

        Raises:
            InvalidInputError: the range is empty or larger than `everfold.services.read.MOST_READ`.
        """
        require_range(self.live, first_seq, last_seq)
        await self.live.reload(self.store)
        end = self.live.state.last_seq
        seqs = range(first_seq, min(last_seq, end) + 1)
        return LogStretch(messages=tuple(await self._read(seqs)), last_seq=end)

    async def read_around(self, seq: int, *, before: int, after: int) -> LogStretch:
        """A message with its neighbours.

        Raises:
            NotFoundError: the session has no such message.
            InvalidInputError: these are more than `everfold.services.read.MOST_READ`.
        """
        stretch = await self.read_range(max(seq - before, 1), seq + after)
        require_seq(stretch.messages, self.live, seq)
        return stretch

    async def read_message(self, seq: int, *, page: int | None = None) -> tuple[Message, Page | None]:
        """A message, or its tombstone; with a page of its text where one is asked for.

        Raises:
            NotFoundError: the session has no such message, or the message no such page.
        """
        message = require_seq(await self._read([seq]), self.live, seq)
        return message, None if page is None else await read_page(self.store, self.live, seq, page)

    async def _read(self, seqs: Sequence[int]) -> list[Message]:
        session_id = self.live.record.id
        found = {message.seq: message for message in await self.store.read_messages(session_id, seqs)}
        missing = [seq for seq in seqs if seq not in found]
        if missing:
            found |= {note.seq: make_tombstone(note) for note in await self.store.read_notes(session_id, missing)}
        return [found[seq] for seq in seqs if seq in found]

    # --- events

    async def list_events(
        self, *, after: str | None = None, newest_first: bool = False, limit: int = 100
    ) -> list[CostedEvent]:
        """The compactions of the session's log, in their order or against it.

        Args:
            after: The last id of the page before.
            newest_first: Begin with the newest one.
            limit: How many at most.

        Raises:
            NotFoundError: the log has no event `after`.
        """
        cursor = None if after is None else EventId(after)
        if newest_first:
            events = await list_newest_events(
                self.store, self.live, before=cursor, limit_count=require_page_size(limit)
            )
        else:
            events = await list_events_after(self.store, self.live, after=cursor, limit_count=require_page_size(limit))
        return [await self.show_cost(event) for event in events]

    async def show_cost(self, event: CompactionEvent) -> CostedEvent:
        """An event with what models were paid for it; nothing is asked where no worker ever had it."""
        cost_usd = await self.store.sum_cost_usd(event_id=event.id) if event.attempts else 0.0
        return CostedEvent(event=event, cost_usd=cost_usd or None)

    async def read_event(self, event_id: str) -> EventDetail:
        """One compaction with the digests and the calls that belong to it.

        Raises:
            NotFoundError: the log has no such event, whether another one has or not.
        """
        event = await find_own_event(self.store, self.live.record, event_id)
        own = await self._read_digests(event)
        revision = None if event.revises else await self.store.find_revision(event.id)
        revised = await self._read_digests(revision) if revision is not None else {}
        return EventDetail(
            event=event,
            digest=revised.get("fine") or own.get("fine"),
            provisional=own.get("fine") if "fine" in revised else None,
            coarse=own.get("coarse"),
            calls=tuple(await self._list_calls(event)),
        )

    async def _read_digests(self, event: CompactionEvent) -> dict[str, Digest]:
        """What an event committed, by kind."""
        if event.certificate is None:
            return {}
        ids = [digest_id for digest_id, _ in event.certificate.digests]
        return {digest.kind: digest for digest in (await self.store.read_digests(ids)).values()}

    async def _list_calls(self, event: CompactionEvent) -> list[ModelCall]:
        calls: list[ModelCall] = []
        while event.attempts and (
            page := await self.store.list_calls(
                event_id=event.id, after=calls[-1].id if calls else None, limit_count=_PAGE
            )
        ):
            calls += page
        return calls

    # --- what is shown

    async def list_digests(self) -> list[Digest]:
        """The digests that the window shows now, by range."""
        await self.live.reload(self.store)
        ids = [shown.digest_id for shown in self.live.layout.ranges if shown.digest_id]
        found = await self.store.read_digests(ids)
        return [found[digest_id] for digest_id in ids if digest_id in found]

    async def list_strips(self, *, event: str | None = None, limit: int = 20) -> LogStrips:
        """The log as the newest compactions left it and as it is now; or as one compaction left it.

        Raises:
            NotFoundError: the log has no such event.
        """
        if event is None:
            strips = await list_strips(self.store, self.live, limit_count=require_page_size(limit))
        else:
            asked = await find_own_event(self.store, self.live.record, event)
            strips = await get_strip(self.store, self.live, asked)
        return LogStrips(last_seq=self.live.state.last_seq, strips=tuple(strips))
