"""Recollect: what memory puts into a session's window: the frozen snapshot, the delta since, and recall for the turn.

The snapshot is made again only where the request changes before its end anyway: in a session's first window, and in the
first after a compaction. Its text is stored, so that its bytes outlive the process. Delta and recall are made once for
a turn, and are the same on every step of it, unless a compaction comes in between: then the snapshot holds what the delta
had, and the request is another one anyway.

Source: DESIGN section 4, "Snapshot and delta", and 3.6, the dynamic suffix.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from everfold.core.log.state import WHOLE_WINDOW
from everfold.core.memory.items import Item, ItemId
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.records import MemoryVersion, RecallShown, SessionMemory
from everfold.core.recall.snapshots import (
    RESERVE_CHARS_PER_TOKEN,
    Snapshot,
    compose_delta,
    compose_snapshot,
    list_ended_lines,
)
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens
from everfold.errors import ConflictError
from everfold.ports.memory import MemoryStore
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.sessions.live import LiveSession
from everfold.services.sessions.remembered import ChangedItems, SnapshotMoment, TurnMoment, TurnRecall
from everfold.services.telling.tries import Tries

MOST_BLOCK_ITEMS = 500
"""More items than the block's budget can hold."""

MOST_CHANGED_ITEMS = 1000
"""What more has changed since the snapshot than this is left to recall."""


RECALL_SHARE = 0.5
"""What the delta may take of the space where recall is to have some too: half, so that neither crowds out the other.

A choice: how other shares serve was not measured.
"""

NOTHING = RecallShown()

RecallFor = Callable[[LiveSession, str, int], Awaitable[RecallShown]]
"""Recall for a session's turn: what the user said, and the tokens that there are for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """What memory shows in one window.

    Attributes:
        snapshot: Empty where memory has nothing to show.
        delta: Part of the dynamic suffix, like recall.
        why: A line for each part: what it is and why it is there.
    """

    snapshot: str = ""
    delta: str = ""
    recalled: RecallShown = NOTHING
    why: tuple[str, ...] = ()

    def suffix(self, own: str | None) -> str | None:
        """The dynamic suffix: delta, recall, then what the caller gave for this request."""
        return "\n\n".join(filter(None, (self.delta, self.recalled.text, own))) or None


NOTHING_RECALLED = Recollection()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollector:
    """Shows one user's memory to one agent."""

    store: MemoryStore
    messages: Store
    clock: Clock
    policy: MemoryPolicy
    recall: RecallFor | None = None

    async def recollect(
        self, live: LiveSession, *, limit_tokens: int | None, own: str | None, is_preview: bool
    ) -> Recollection:
        """What the next window shows of memory. `own` is what the caller has for the dynamic suffix."""
        head, kept = await self._snapshot(live, is_preview=is_preview)
        turn = TurnMoment(live.record.id, live.state.turn_seq, head.epoch, kept.snapshot_compaction)
        if live.recalled is None or live.recalled.turn != turn:
            space = live.budget(limit_tokens).suffix_tokens - MESSAGE_OVERHEAD_TOKENS
            space -= estimate_text_tokens(own) if own else 0
            delta = await self._delta(live, kept, head, space_tokens=space)
            recalled = await self._recall(live, space - estimate_text_tokens(delta))
            live.recalled = TurnRecall(turn, delta, recalled)
        _, delta, recalled = live.recalled
        return Recollection(snapshot=kept.snapshot, delta=delta, recalled=recalled, why=_explain(kept, delta, recalled))

    async def _snapshot(self, live: LiveSession, *, is_preview: bool) -> tuple[MemoryVersion, SessionMemory]:
        tries = Tries(f"what memory shows in session {live.record.id}", session=live.record.id)
        while True:
            await tries.begin()
            head = await self.store.read_memory_version(live.record.user_id)
            kept = await self.store.read_session_memory(live.record.id)
            if kept.has_snapshot and kept.snapshot_compaction == live.state.compaction_id:
                return head, kept
            made = await self._compose(live)
            new = replace(
                kept,
                snapshot=made.text,
                snapshot_revision=head.revision,
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
            return head, new

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

    async def _delta(self, live: LiveSession, kept: SessionMemory, head: MemoryVersion, *, space_tokens: int) -> str:
        now = self.clock.now()
        if head.revision == kept.snapshot_revision and not list_ended_lines(kept.snapshot, now):
            return ""
        share = RECALL_SHARE if self.policy.recall_enabled else 1.0
        delta = compose_delta(
            list((await self._list_changed(live, kept, head)).values()),
            snapshot=kept.snapshot,
            cap_chars=min(self.policy.delta_max_chars, int(max(space_tokens, 0) * share * RESERVE_CHARS_PER_TOKEN)),
            key=live.record.id,
            now=now,
        )
        return delta if estimate_text_tokens(delta) <= space_tokens else ""

    async def _list_changed(self, live: LiveSession, kept: SessionMemory, head: MemoryVersion) -> dict[ItemId, Item]:
        """What has changed since the snapshot; only what is new since the last look is read."""
        since = SnapshotMoment(kept.snapshot_revision, kept.snapshot_compaction, head.epoch)
        changed = live.changed
        if changed is None or changed.since != since:
            live.changed = changed = ChangedItems(since, looked_at=kept.snapshot_revision)
        if head.revision > changed.looked_at:
            found = await self.store.list_items(
                live.record.user_id,
                live.record.agent_id,
                statuses=("active", "superseded", "expired", "quarantined"),
                changed_after=changed.looked_at,
                limit_count=MOST_CHANGED_ITEMS,
            )
            changed.items.update({item.id: item for item in found})
            changed.looked_at = head.revision
        return changed.items

    async def _recall(self, live: LiveSession, space_tokens: int) -> RecallShown:
        seq = live.state.turn_seq
        if self.recall is None or not self.policy.recall_enabled or not seq or space_tokens <= 0:
            return NOTHING
        messages = await live.load_messages(self.messages, [seq])
        return await self.recall(live, messages[seq].view.text, space_tokens)


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
