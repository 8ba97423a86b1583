"""Compact: as long as something is due, plan, begin, fold, commit."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from everfold.core.events import ENDED_STATES, CompactionEvent
from everfold.core.folding import Fold, fold
from everfold.core.messages import Note
from everfold.core.planning import (
    CompactionPlan,
    Demand,
    find_trigger,
    measure_floor,
    measure_window,
    plan_compaction,
)
from everfold.core.pools import CoarsePool
from everfold.core.room import Room, fit_slices, require_room
from everfold.core.sessions import EventId
from everfold.core.state import SessionState
from everfold.errors import BudgetUnsatisfiableError, ConflictError
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.live import LiveSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactor:
    """Compacts one session. With `is_preview` it folds in memory only and the store is never written."""

    store: Store
    live: LiveSession
    clock: Clock
    ids: Ids
    is_preview: bool = False

    async def compact(self, *, limit_tokens: int | None = None, demand: Demand | None = None) -> list[Fold]:
        """Run every compaction that is due for this limit (or the one that is asked for), and give what each did.

        Raises:
            BudgetUnsatisfiableError: no window can fit the limit; raised before anything is begun.
        """
        return [done async for done in self.compact_stepwise(limit_tokens=limit_tokens, demand=demand)]

    async def compact_stepwise(
        self, *, limit_tokens: int | None = None, demand: Demand | None = None
    ) -> AsyncIterator[Fold]:
        """The same, event by event."""
        self._require_room(limit_tokens)
        while True:
            room = self._room(limit_tokens)
            plan, notes = await self._plan(room, demand)
            if plan is None:
                break
            done = await self._carry_out(plan, notes, room)
            if done is None:
                continue
            yield done
            if demand is not None and done.layout.watermark >= self.live.state.last_seq - demand.keep_recent:
                break
        await self._release_latch(limit_tokens)
        self._require_fit(limit_tokens)

    def _room(self, limit_tokens: int | None) -> Room:
        return fit_slices(self.live.room(limit_tokens), measure_floor(self.live.state, self.live.layout))

    def _require_room(self, limit_tokens: int | None) -> None:
        live = self.live
        require_room(
            live.room(limit_tokens),
            live.settings.policy,
            calibration=live.state.calibration,
            floor_tokens=measure_floor(live.state, live.layout),
            session=live.record.id,
        )

    def _require_fit(self, limit_tokens: int | None) -> None:
        live = self.live
        room, tokens = live.room(limit_tokens), measure_window(live.state, live.layout)
        if tokens > room.force_tokens:
            smallest = int(room.limit_tokens * tokens / max(room.force_tokens, 1)) + 1
            raise BudgetUnsatisfiableError(
                f"session {live.record.id}: the window needs {tokens} tokens beside its fixed part and a limit of "
                f"{room.limit_tokens} leaves {room.force_tokens}; the smallest limit that works is {smallest}",
                smallest_limit_tokens=smallest,
                session=live.record.id,
            )

    async def _plan(self, room: Room, demand: Demand | None) -> tuple[CompactionPlan | None, Sequence[Note]]:
        """What to do next, or None, and the notes that were read to decide it."""
        live, policy = self.live, self.live.settings.policy
        if demand is None and find_trigger(live.state, live.layout, policy, room) is None:
            return None, ()
        first_seq = live.layout.watermark + 1
        last_seq = min(first_seq + policy.rows_per_digest - 1, live.state.safe_seq)
        if last_seq < live.state.safe_seq:
            last_seq = await self.store.find_boundary(live.record.id, last_seq) or live.state.safe_seq
        notes = await self.store.read_notes(live.record.id, range(first_seq, last_seq + 1))
        return plan_compaction(live.state, live.layout, notes, policy, room, demand=demand), notes

    async def _carry_out(self, plan: CompactionPlan, notes: Sequence[Note], room: Room) -> Fold | None:
        """Begin, fold and commit; None when another worker was first and the state has been read again."""
        if self.is_preview:
            event_id = EventId(f"preview_{self.live.state.events_count + 1}")
            done = await self._fold(plan, event_id, notes)
            self._take(done, self._next_state(done, event_id, room))
            return done
        try:
            event = await self._begin(plan)
        except ConflictError:
            await self.live.reload(self.store)
            unfinished = await self._find_unfinished()
            return None if unfinished is None else await self._commit(unfinished, (), room)
        return await self._commit(event, notes, room)

    async def _begin(self, plan: CompactionPlan) -> CompactionEvent:
        live = self.live
        event = CompactionEvent(
            id=EventId(self.ids.new_id("evt_")),
            session_id=live.record.id,
            ordinal=live.state.events_count + 1,
            state="pending",
            plan=plan,
            begun_at=self.clock.now(),
        )
        await self.store.begin_compaction(event, expected_revision=live.state.revision)
        return event

    async def _find_unfinished(self) -> CompactionEvent | None:
        events = await self.store.list_events(
            self.live.record.id, after_ordinal=self.live.state.events_count, limit_count=8
        )
        return next((event for event in events if event.state not in ENDED_STATES), None)

    async def _commit(self, event: CompactionEvent, notes: Sequence[Note], room: Room) -> Fold | None:
        """Commit an event, also when messages were appended meanwhile; None when another worker committed it.

        After an erase it is folded again: what was read before still holds the words.
        """
        done = await self._fold(event.plan, event.id, notes)
        while True:
            state = self._next_state(done, event.id, room)
            try:
                await self.store.commit_compaction(
                    event.id,
                    done,
                    state,
                    expected_revision=self.live.state.revision,
                    ended_at=self.clock.now(),
                )
            except ConflictError:
                before = self.live.state
                await self.live.reload(self.store)
                if self.live.state.event_id != before.event_id or self.live.state.revision == before.revision:
                    return None
                if self.live.state.epoch != before.epoch:
                    done = await self._fold(event.plan, event.id, ())
                continue
            self._take(done, state)
            return done

    async def _fold(self, plan: CompactionPlan, event_id: EventId, known: Sequence[Note]) -> Fold:
        """The plan carried out; notes that are known are not read again."""
        live = self.live
        coarse = live.layout.coarse
        joined_from = coarse.last_seq + 1 if coarse else 1
        seqs = {*plan.leaving, *range(plan.first_seq, plan.last_seq + 1)}
        seqs.update(range(joined_from, plan.join_through + 1))
        notes = {note.seq: note for note in known if note.seq in seqs}
        missing = sorted(seqs - notes.keys())
        if missing:
            notes.update({note.seq: note for note in await self.store.read_notes(live.record.id, missing)})
        return fold(plan, live.layout, notes, await self._pool(plan), event_id=event_id)

    async def _pool(self, plan: CompactionPlan) -> CoarsePool | None:
        coarse = self.live.layout.coarse
        if coarse is None or not plan.join_through:
            return None
        digests = await self.live.load_digests(self.store, [coarse.digest_id])
        return digests[coarse.digest_id].pool

    def _next_state(self, done: Fold, event_id: EventId, room: Room) -> SessionState:
        state = self.live.state
        stuck = state.stuck_count
        if done.report.trigger != "manual":
            stuck = stuck + 1 if done.report.tokens_after >= room.trigger_tokens else 0
        return replace(
            state.with_break(f"compaction: {done.report.trigger}", done.report.break_cost_tokens),
            revision=state.revision + 1,
            event_id=event_id,
            events_count=state.events_count + 1,
            stuck_count=stuck,
        )

    def _take(self, done: Fold, state: SessionState) -> None:
        self.live.layout = done.layout
        self.live.state = state
        self.live.digests.update({digest.id: digest for digest in done.digests})

    async def _release_latch(self, limit_tokens: int | None) -> None:
        live = self.live
        if not live.state.stuck_count or limit_tokens is not None or self.is_preview:
            return
        if measure_window(live.state, live.layout) < live.room().trigger_tokens:
            state = replace(live.state, revision=live.state.revision + 1, stuck_count=0)
            try:
                await self.store.write_state(live.record.id, state, expected_revision=live.state.revision)
            except ConflictError:
                return  # another writer was first; the next window releases it
            live.state = state
