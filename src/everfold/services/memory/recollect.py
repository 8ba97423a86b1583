"""Recollect: what is put into a session's window beside its log: memory's frozen snapshot, the delta since, and recall.

The snapshot is made again only where the request changes before its end anyway: in a session's first window, and in the
first after a compaction. Its text is stored, so that its bytes outlive the process. Delta and recall are made once for
a turn, and are the same on every step of it, unless a compaction comes in between: then the snapshot holds what the delta
had, and the request is another one anyway. A step that leaves them no space drops both for the rest of the turn. An agent
without structured memory has recall alone.

Source: DESIGN section 4, "Snapshot and delta", and 3.6, the dynamic suffix.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from everfold.core.log.state import WHOLE_WINDOW
from everfold.core.memory.items import Item
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.records import (
    NOTHING_SHOWN,
    MemoryVersion,
    RecallShown,
    SessionMemory,
    TurnMoment,
    TurnRecall,
)
from everfold.core.recall.asking import find_asking
from everfold.core.recall.packing import squeeze_text
from everfold.core.recall.snapshots import (
    RESERVE_CHARS_PER_TOKEN,
    Snapshot,
    compose_delta,
    compose_snapshot,
    find_shown,
    is_reworded,
    list_ended_lines,
)
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens
from everfold.core.windows.parts import show_text
from everfold.core.windows.reports import list_held
from everfold.core.windows.suffixes import measure_suffix, measure_suffix_space, measure_turn_space
from everfold.core.windows.window import quote_asked, shown_seqs
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.memory import MemoryStore
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.memory.recall import Shown
from everfold.services.sessions.live import LiveSession
from everfold.services.sessions.remembered import ChangedItems, SnapshotMoment
from everfold.services.sessions.shown import load_shown, note_turn
from everfold.services.telling.tries import Tries

MOST_BLOCK_ITEMS = 500
"""More items than the block's budget can hold."""

MOST_CHANGED_ITEMS = 1000
"""What more has changed since the snapshot than this is left to recall."""


RECALL_SHARE = 0.5
"""What the delta may take of the space where recall is to have some too: half, so that neither crowds out the other.

A choice: how other shares serve was not measured.
"""

RecallFor = Callable[[LiveSession, str, int, Sequence[str]], Awaitable[RecallShown]]
"""Recall for a session's turn: what the user said, the tokens that there are for it, and what memory shows already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What memory shows in one window.

    Attributes:
        snapshot: Empty where memory has nothing to show.
        delta: Part of the dynamic suffix, like recall.
        why: A line for each part: what it is and why it is there.
        has_dropped: Delta and recall of the step before fit no longer, and are gone for the rest of the turn.
    """

    snapshot: str = ""
    delta: str = ""
    recalled: RecallShown = NOTHING_SHOWN
    why: tuple[str, ...] = ()
    has_dropped: bool = False

    def suffix(self, own: str | None) -> str | None:
        """The dynamic suffix: delta, recall, then what the caller gave for this request."""
        return _join(self.delta, self.recalled.text, own) or None


NOTHING_RECALLED = Recollection()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollector:
    """Shows one agent what is recalled of a session, and one user's memory where that is structured."""

    store: MemoryStore
    messages: Store
    clock: Clock
    policy: MemoryPolicy
    recall: RecallFor | None = None

    async def recollect(
        self, live: LiveSession, *, limit_tokens: int | None, own: str | None, is_preview: bool
    ) -> Recollection:
        """What the next window shows beside the log. `own` is what the caller has for the dynamic suffix."""
        version, kept = MemoryVersion(), SessionMemory(session_id=live.record.id)
        if self.policy.is_structured:
            version, kept = await self._snapshot(live, is_preview=is_preview)
        shown, has_dropped = live.recalled, False
        turn = _name_turn(live, version.epoch if self.policy.is_structured else None, limit_tokens)
        is_new = shown is None or shown.turn != turn
        if shown is None or is_new:
            shown = await self._find(live, turn) or await self._make(live, kept, version, turn=turn, own=own)
        if not self._fits(live, shown, own):
            shown, has_dropped = TurnRecall(turn), not is_new
        live.recalled = shown
        return Recollection(
            snapshot=kept.snapshot,
            delta=shown.delta,
            recalled=shown.recalled,
            why=_explain(kept, shown.delta, shown.recalled),
            has_dropped=has_dropped,
        )

    async def _find(self, live: LiveSession, turn: TurnMoment) -> TurnRecall | None:
        """What the turn has shown on another step, whichever handle took it; its first step has none before it."""
        if live.state.last_seq <= turn.turn_seq:
            return None
        stored = await self.messages.read_turn_recall(live.record.id)
        if stored is None or stored.turn != turn:
            return None
        live.stored_recall = stored
        return stored

    async def _make(
        self, live: LiveSession, kept: SessionMemory, version: MemoryVersion, *, turn: TurnMoment, own: str | None
    ) -> TurnRecall:
        """Delta and recall for a turn, in the space that there was at its user message, whichever step this is.

        Where neither can show anything the space is not measured, so that they cost no query.
        """
        question = await self._find_question(live)
        if not question and not self._has_delta(kept, version):
            shown = TurnRecall(turn)
            live.stored_recall = (
                live.stored_recall if self.policy.is_structured else shown
            )  # else every handle finds so
            return shown
        space = measure_turn_space(
            live.state,
            live.layout,
            live.budget(turn.limit_tokens),
            turn_sum_tokens=await self._read_turn_sum(live),
            note=note_turn(live),
            has_steps=await self._had_steps(live),
        )
        space -= max(measure_suffix(own or ""), MESSAGE_OVERHEAD_TOKENS)
        delta = await self._delta(live, kept, version, space_tokens=space)
        recalled = await self._recall(live, question, space - estimate_text_tokens(delta), (kept.snapshot, delta))
        return TurnRecall(turn, delta, recalled)

    async def _read_turn_sum(self, live: LiveSession) -> int:
        """The prefix sum at the turn's user message. On the first step the state has it."""
        state = live.state
        if state.turn_seq in (0, state.safe_seq):
            return state.safe_sum_tokens if state.turn_seq else 0
        return sum([note.sum_tokens for note in await self.messages.read_notes(live.record.id, [state.turn_seq])])

    async def _had_steps(self, live: LiveSession) -> bool:
        """Whether the session has tools, or what its window shows up to the turn's user message has results of any."""
        state, layout = live.state, live.layout
        if live.settings.prompt.tools or layout.watermark > state.turn_seq:
            return True
        messages = await load_shown(self.messages, live)
        return any(messages[seq].view.role == "tool" for seq in shown_seqs(state, layout) if seq < state.turn_seq)

    def _fits(self, live: LiveSession, shown: TurnRecall, own: str | None) -> bool:
        """Whether what the turn shows still fits, beside what the caller has for this request."""
        if not shown.delta and not shown.recalled.text:
            return True
        space = measure_suffix_space(
            live.state, live.layout, live.budget(shown.turn.limit_tokens), note=note_turn(live)
        )
        return measure_suffix(_join(shown.delta, shown.recalled.text, own)) <= space

    async def _snapshot(self, live: LiveSession, *, is_preview: bool) -> tuple[MemoryVersion, SessionMemory]:
        tries = Tries(f"what memory shows in session {live.record.id}", session=live.record.id)
        while True:
            await tries.begin()
            version, kept = await self.store.read_memory_of(live.record.id)
            if kept.has_snapshot and kept.snapshot_compaction == live.state.compaction_id:
                return version, kept
            made = await self._compose(live)
            new = replace(
                kept,
                snapshot=made.text,
                snapshot_revision=version.revision,
                snapshot_compaction=live.state.compaction_id,
                has_snapshot=True,
            )
            try:
                if not is_preview:
                    await self.store.write_session_memory(new, expected=kept)
            except ConflictError:
                continue
            if _is_break(kept, made, live) and not live.state.cache_breaks:
                live.state = live.state.with_cache_break("memory", WHOLE_WINDOW)
            return version, new

    async def _compose(self, live: LiveSession) -> Snapshot:
        user_id, agent_id = live.record.user_id, live.record.agent_id
        return compose_snapshot(
            await self.store.list_items(user_id, agent_id, is_block=True, limit_count=MOST_BLOCK_ITEMS),
            await self.store.list_topics(user_id, agent_id),
            policy=self.policy,
            cap_tokens=live.budget().snapshot_tokens,
            key=live.record.id,
            now=self.clock.now(),
        )

    def _has_delta(self, kept: SessionMemory, version: MemoryVersion) -> bool:
        """Whether memory has changed since the snapshot, or time has ended a line of it."""
        if not self.policy.is_structured:
            return False
        return version.revision != kept.snapshot_revision or bool(list_ended_lines(kept.snapshot, self.clock.now()))

    async def _delta(self, live: LiveSession, kept: SessionMemory, version: MemoryVersion, *, space_tokens: int) -> str:
        if not self._has_delta(kept, version):
            return ""
        now = self.clock.now()
        share = RECALL_SHARE if self.policy.recall_enabled else 1.0
        changed = await self._look_at_changed(live, kept, version)
        delta = compose_delta(
            list(changed.items.values()),
            former=changed.former,
            snapshot=kept.snapshot,
            cap_chars=min(self.policy.delta_max_chars, int(max(space_tokens, 0) * share * RESERVE_CHARS_PER_TOKEN)),
            key=live.record.id,
            now=now,
        )
        return delta if estimate_text_tokens(delta) <= space_tokens else ""

    async def _look_at_changed(self, live: LiveSession, kept: SessionMemory, version: MemoryVersion) -> ChangedItems:
        """What has changed since the snapshot; only what is new since the last look is read."""
        since = SnapshotMoment(kept.snapshot_revision, kept.snapshot_compaction, version.epoch)
        changed = live.changed
        if changed is None or changed.since != since:
            live.changed = changed = ChangedItems(since, looked_at=kept.snapshot_revision)
        if version.revision > changed.looked_at:
            found = await self.store.list_items(
                live.record.user_id,
                live.record.agent_id,
                statuses=("active", "superseded", "expired", "quarantined"),
                changed_after=changed.looked_at,
                limit_count=MOST_CHANGED_ITEMS,
            )
            for item in found:
                changed.items[item.id] = item
                changed.former.pop(item.id, None)
                if (former := await self._find_former(item, kept.snapshot)) is not None:
                    changed.former[item.id] = former
            changed.looked_at = version.revision
        return changed

    async def _find_former(self, item: Item, snapshot: str) -> Item | None:
        """The revision of an item that the snapshot shows, where it has other words now; most often without a query."""
        if not is_reworded(item, snapshot):
            return None
        with suppress(NotFoundError):  # it was wiped meanwhile
            return find_shown(await self.store.list_revisions(item.id), snapshot)
        return None

    async def _find_question(self, live: LiveSession) -> str:
        """What is recalled for: the words of the turn's user message, or nothing. It takes no query.

        With structured memory that is at once, since other sessions were before; without, once something is folded.
        """
        seq = live.state.turn_seq
        if self.recall is None or not self.policy.recall_enabled or not seq:
            return ""
        if not self.policy.is_structured and not any(shown.digest_id for shown in live.layout.ranges):
            return ""
        await load_shown(self.messages, live)  # the window reads them anyway, and the message is mostly among them
        messages = await live.load_messages(self.messages, [seq])
        return find_asking(messages[seq].view.text)

    async def _recall(
        self, live: LiveSession, question: str, space_tokens: int, remembered: Sequence[str]
    ) -> RecallShown:
        if self.recall is None or not question or space_tokens <= 0:
            return NOTHING_SHOWN
        return await self.recall(live, question, space_tokens, remembered)


async def list_shown(store: Store, live: LiveSession, remembered: Sequence[str] = ()) -> Shown:
    """What a session's window shows already, so that recall need not; `remembered` is what memory shows."""
    layout, state = live.layout, live.state
    messages = await load_shown(store, live)
    digests = await live.load_digests(store, [shown.digest_id for shown in layout.ranges if shown.digest_id])
    said = [show_text(messages[seq]) for seq in shown_seqs(state, layout) if not messages[seq].is_erased]
    asked = (quote_asked(one, messages) for one in layout.asked)
    held = [held.seq for held in list_held(layout, state.refresh_seq)]
    own = [*(digest.text for digest in digests.values()), layout.standing_text, *asked, *remembered]
    return Shown(
        session=live.record,
        seqs=frozenset((*range(1, state.fixed_seq + 1), *held, state.turn_seq)),
        last_seq=layout.watermark,
        texts=("\n".join(map(squeeze_text, filter(None, own))), "\n".join(map(squeeze_text, said))),
    )


def _name_turn(live: LiveSession, memory_epoch: int | None, limit_tokens: int | None) -> TurnMoment:
    state = live.state
    return TurnMoment(
        live.record.id,
        state.turn_seq,
        state.compaction_id,
        state.epoch,
        memory_epoch,
        limit_tokens,
        state.turn_seq <= state.safe_seq,
        state.refresh_seq,
    )


def _join(*parts: str | None) -> str:
    return "\n\n".join(filter(None, parts))


def _is_break(kept: SessionMemory, made: Snapshot, live: LiveSession) -> bool:
    """Whether the request changes before its end for another snapshot than the window before had."""
    if kept.has_snapshot:
        return kept.snapshot != made.text
    was_taken_away = kept.snapshot_revision > 0  # by an erase
    return was_taken_away or (bool(made.text) and live.state.turns_count > 1)  # memory was turned on meanwhile


def _explain(kept: SessionMemory, delta: str, recalled: RecallShown) -> tuple[str, ...]:
    parts: list[str] = []
    if kept.snapshot:
        since = f"after compaction {kept.snapshot_compaction}" if kept.snapshot_compaction else "at the session's start"
        parts.append(f"snapshot: memory as of revision {kept.snapshot_revision}, made {since}")
    if delta:
        parts.append(f"delta: what memory gained since revision {kept.snapshot_revision}")
    return (*parts, *(f"recall: {entry}" for entry in recalled.entries))
