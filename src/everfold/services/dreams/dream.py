"""Dream: consolidate what extractions found into topics, in the background.

Theory of operation. Everything is read first, at a version of memory; a model is asked, outside of any transaction; the
plan is made; one change writes topics, marks, cursor, record and audit. Where the version has moved meanwhile, everything
is read again and the plan is made again with the model's text, which does not overwrite a topic that has changed. Where
the epoch has moved, words may have been erased that the model has read: the dream is dropped, and its cursor stays.
Before a model is asked a lease is taken in the store, so that no other process asks for the same meanwhile.

Source: DESIGN section 4, "Dreamer"; REQUIREMENTS OF-43 to OF-48, U-50 to U-54; docs/adr/0021-memory.md.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal

from everfold.core.dreams.carried_ends import carry_ends
from everfold.core.dreams.consolidation import plan_stepwise
from everfold.core.dreams.scenes import Consolidation
from everfold.core.dreams.topic_lines import Scan, diff_lines
from everfold.core.memory.items import ItemId
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.records import AuditEntry, MemoryChange
from everfold.core.memory.topics import Dream, DreamId, DreamState, Topic
from everfold.core.observation.events import DreamBegun, DreamEnded
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.stepwise import finish
from everfold.core.threats.scanning import Threat, scan_memory
from everfold.errors import ConflictError
from everfold.ports.leases import LeaseName
from everfold.ports.system import Clock, Ids
from everfold.services.dreams.ask_dream import Proposals, ask_dream
from everfold.services.dreams.judge_dream import approve_dream, reject_dream, revert_dream
from everfold.services.dreams.read_dream import (
    DreamInput,
    DreamStore,
    is_awaiting_approval,
    list_range_items,
    read_dream_input,
)
from everfold.services.models.call_model import ModelCaller
from everfold.services.sessions.hold_lease import hold_lease
from everfold.services.telling.queueing import take_turn
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import change_memory

ACTOR: Final = "dreamer"
MOST_TRIES: Final = 8
"""How often a dream is decided again when others have changed memory meanwhile."""
SPAN: Final = "everfold.dream"

Reading = Callable[[], Awaitable[DreamInput | None]]
"""Reads what a dream is decided over, as often as it is asked to."""


def list_threat_kinds(text: str) -> tuple[str, ...]:
    """What a text would do to its reader, by kind, each once."""
    return _name_kinds(scan_memory(text))


def list_note_kinds(text: str) -> tuple[str, ...]:
    """The same of what a model wrote, which may not lift a check."""
    return _name_kinds(scan_memory(text, is_note=True))


def _name_kinds(threats: Sequence[Threat]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(threat.kind.replace("_", " ") for threat in threats))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dreamer:
    """Dreams for users and agents, one dream at a time for each pair of them.

    Attributes:
        policy_of: How memory is kept for an agent; off means not one query.
        caller: Asks the model; None consolidates without one.
        lease_secs: For how long a dream is believed to be on its way; renewed while it is.
        scan: Names what a text would do to its reader.
        scan_note: The same for what a model writes.
    """

    store: DreamStore
    clock: Clock
    ids: Ids
    policy_of: Callable[[AgentId], MemoryPolicy]
    caller: ModelCaller | None = None
    lease_secs: float = 180.0
    scan: Scan = list_threat_kinds
    scan_note: Scan = list_note_kinds
    stream: Stream = field(default_factory=Stream)
    _busy: set[tuple[UserId, AgentId]] = field(default_factory=set, init=False, repr=False)

    def is_dreaming(self, user_id: UserId, agent_id: AgentId) -> bool:
        """Whether a dream of theirs is on its way in this process."""
        return (user_id, agent_id) in self._busy

    async def is_awaiting_approval(self, user_id: UserId, agent_id: AgentId) -> bool:
        """Whether a proposed dream of theirs, which can still be applied, waits for a person."""
        return await is_awaiting_approval(self.store, user_id, agent_id)

    async def dream(
        self, user_id: UserId, agent_id: AgentId, *, items_only: Sequence[ItemId] | None = None
    ) -> Dream | None:
        """Consolidate what no dream has read yet.

        None where nothing is due: no extraction is unconsumed, the user said nothing, or another dream of theirs runs or
        waits for approval. A waiting one that cannot be approved any more fails, and the new one takes its place. The state
        of what it gives says whether topics have changed: `applied`, `proposed` under review, or `failed` where an erase
        came in between.

        Args:
            user_id: Whose.
            agent_id: With whom.
            items_only: Only these items, at once, whether or not the user said anything; the cursor stays.

        Raises:
            ConflictError: memory was changed by others again and again; nothing was written, ask again.
            StoreError: the store does not serve; nothing was written.
        """
        return await self._dream_alone(user_id, agent_id, items_only, None)

    async def dream_range(
        self, user_id: UserId, agent_id: AgentId, session_id: SessionId, first_seq: int, last_seq: int
    ) -> Dream | None:
        """The same for what was found in a range of messages that leaves the window. Nothing found, no call."""
        if not self.policy_of(agent_id).is_structured or self.is_dreaming(user_id, agent_id):
            return None
        items = await list_range_items(self.store, user_id, agent_id, session_id, first_seq, last_seq)
        return await self._dream_alone(user_id, agent_id, items, session_id) if items else None

    async def approve(self, dream_id: DreamId, *, actor: str = "user") -> Dream:
        """Apply a proposed dream; see `approve_dream`."""
        return await approve_dream(self.store, self.clock, dream_id, actor=actor, stream=self.stream)

    async def reject(self, dream_id: DreamId, *, actor: str = "user") -> Dream:
        """Drop a proposed dream; see `reject_dream`."""
        return await reject_dream(self.store, self.clock, dream_id, actor=actor, stream=self.stream)

    async def revert(self, dream_id: DreamId, *, actor: str = "user") -> Dream:
        """Undo an applied dream; see `revert_dream`."""
        return await revert_dream(self.store, self.clock, dream_id, actor=actor, stream=self.stream)

    async def _dream_alone(
        self,
        user_id: UserId,
        agent_id: AgentId,
        items_only: Sequence[ItemId] | None,
        session_id: SessionId | None,
    ) -> Dream | None:
        """Dream, unless one of theirs is on its way: who comes second skips and loses nothing."""
        pair = (user_id, agent_id)
        if not self.policy_of(agent_id).is_structured or pair in self._busy:
            return None
        self._busy.add(pair)
        try:
            reading = partial(
                read_dream_input,
                self.store,
                dream_id=DreamId(self.ids.new_id("drm_")),
                user_id=user_id,
                agent_id=agent_id,
                now=self.clock.now(),
                items_only=items_only,
                session_id=session_id,
            )
            found = await reading()
            if found is None:
                return None
            if not found.scene.items:
                await self._pass_over(found)
                return None
            return await self._dream_leased(found, reading)
        finally:
            self._busy.discard(pair)

    async def _dream_leased(self, found: DreamInput, reading: Reading) -> Dream | None:
        """Dream, unless another process does; what that one has written since it was read is read again."""
        scene = found.scene
        name = LeaseName(user_id=scene.user_id, work="dream", about=scene.agent_id)
        async with hold_lease(self.store, name, holder=scene.dream_id, secs=self.lease_secs) as is_held:
            if not is_held:
                return None
            if await self.store.read_memory_version(scene.user_id) == found.version:
                return await self._decide_telling(found, reading)
            again = await reading()
            return await self._decide_telling(again, reading) if again is not None and again.scene.items else None

    async def _decide_telling(self, found: DreamInput, reading: Reading) -> Dream | None:
        """Decide, and tell that it begins and how it ends."""
        scene = found.scene
        self.stream.publish(
            DreamBegun(
                user_id=scene.user_id, agent_id=scene.agent_id, dream_id=scene.dream_id, items_count=len(scene.items)
            )
        )
        try:
            dream = await self._decide(found, reading)
        except BaseException:
            self._tell_end(found, None, "failed")
            raise
        self._tell_end(found, dream, "skipped" if dream is None else dream.state)
        return dream

    def _tell_end(self, found: DreamInput, dream: Dream | None, state: DreamState | Literal["skipped"]) -> None:
        scene = found.scene
        self.stream.publish(
            DreamEnded(
                user_id=scene.user_id,
                agent_id=scene.agent_id,
                dream_id=scene.dream_id,
                state=state,
                generator="deterministic" if dream is None else dream.generator,
                topics_count=0 if dream is None else len(dream.topics),
                items_count=0 if dream is None else len(dream.items),
                elapsed_secs=(self.clock.now() - scene.now).total_seconds(),
                cost_usd=None if dream is None else dream.cost_usd,
            )
        )

    async def _decide(self, found: DreamInput, reading: Reading) -> Dream | None:
        """Ask, plan and write; plan again over what is there where memory has moved."""
        first = found.version
        with self.stream.tracer.span(SPAN, {"everfold.dream.id": found.scene.dream_id}):
            asked = await self._ask(found)
            latest: DreamInput | None = found
            async with take_turn(self.store, found.scene.user_id):
                for _ in range(MOST_TRIES):
                    if latest is None:
                        return None  # another process has read the same extractions meanwhile
                    if latest.version.epoch != first.epoch:
                        return await self._give_up(found, asked)
                    try:
                        return await self._write(latest, asked)
                    except ConflictError:
                        latest = await self._read_again(found, reading)
        raise ConflictError(
            f"the memory of user {found.scene.user_id} changed {MOST_TRIES} times while dream {found.scene.dream_id} was "
            "decided; nothing was written, dream again",
            user=found.scene.user_id,
        )

    async def _read_again(self, found: DreamInput, reading: Reading) -> DreamInput | None:
        """What is there now. After a wipe there is nothing to read, but the dream that read it is to be dropped."""
        again = await reading()
        if again is not None:
            return again
        version = await self.store.read_memory_version(found.scene.user_id)
        return replace(found, version=version) if version.epoch != found.version.epoch else None

    async def _ask(self, found: DreamInput) -> Proposals:
        if self.caller is None:
            return Proposals()
        call = partial(self.caller.call, user_id=found.scene.user_id)
        return await ask_dream(call, found.scene, scan=self.scan_note, key=found.scene.dream_id)

    async def _write(self, found: DreamInput, asked: Proposals) -> Dream:
        """Everything of a dream in one change; under review only the dream itself."""
        scene = found.scene
        steps = plan_stepwise(scene, scan=self.scan, proposals=asked.proposals)
        plan = await asyncio.to_thread(finish, steps)  # its steps grow with the items
        is_held = self.policy_of(scene.agent_id).review and bool(plan.topics)
        dream = self._record(found, asked, plan, is_held=is_held)
        ended = carry_ends(plan.topics, (*scene.items, *scene.sources), now=scene.now)
        await self._change(
            MemoryChange(
                user_id=scene.user_id,
                agent_id=scene.agent_id,
                expected=found.version,
                items=() if is_held else ended,
                topics=() if is_held else plan.topics,
                dream=dream,
                read_through=None if is_held or found.read_through == found.cursor else found.read_through,
                audit=(self._audit(dream, _count_lines(scene.topics, plan.topics)),),
                scrubbed=found.stale,
            )
        )
        return dream

    def _record(self, found: DreamInput, asked: Proposals, plan: Consolidation, *, is_held: bool) -> Dream:
        scene = found.scene
        return Dream(
            id=scene.dream_id,
            user_id=scene.user_id,
            agent_id=scene.agent_id,
            state="proposed" if is_held else "applied",
            begun_at=scene.now,
            ended_at=None if is_held else self.clock.now(),
            epoch=found.version.epoch,
            read_through=found.read_through,
            topics=plan.topics,
            items=plan.items,
            generator="model" if asked.proposals else "deterministic",
            cost_usd=asked.cost_usd,
            problem=_join_notes((*asked.notes, *plan.notes)),
        )

    async def _pass_over(self, found: DreamInput) -> None:
        """Move the cursor over extractions that found nothing, or nothing that is left."""
        if found.read_through == found.cursor:
            return
        with suppress(ConflictError):  # another writer changed memory: the next look follows
            await self._change(
                MemoryChange(
                    user_id=found.scene.user_id,
                    agent_id=found.scene.agent_id,
                    expected=found.version,
                    read_through=found.read_through,
                    scrubbed=found.stale,
                )
            )

    async def _give_up(self, found: DreamInput, asked: Proposals) -> Dream:
        """Keep that a dream was dropped, without anything that it has read; the cursor stays."""
        scene = found.scene
        dream = Dream(
            id=scene.dream_id,
            user_id=scene.user_id,
            agent_id=scene.agent_id,
            state="failed",
            begun_at=scene.now,
            ended_at=self.clock.now(),
            epoch=found.version.epoch,
            read_through=found.cursor,
            generator="model" if asked.proposals else "deterministic",
            cost_usd=asked.cost_usd,
            problem="something was erased while it was on its way",
        )
        for _ in range(MOST_TRIES):
            version = await self.store.read_memory_version(scene.user_id)
            with suppress(ConflictError):
                await self._change(
                    MemoryChange(
                        user_id=scene.user_id,
                        agent_id=scene.agent_id,
                        expected=version,
                        dream=dream,
                        audit=(self._audit(dream, ()),),
                    )
                )
                break
        return dream

    async def _change(self, change: MemoryChange) -> None:
        await change_memory(self.store, change, stream=self.stream)

    def _audit(self, dream: Dream, lines: tuple[tuple[str, int], ...]) -> AuditEntry:
        return AuditEntry(
            at=self.clock.now(),
            user_id=dream.user_id,
            agent_id=dream.agent_id,
            actor=ACTOR,
            action="dream",
            about=(dream.id, *(topic.id for topic in dream.topics)),
            counts=(("topics", len(dream.topics)), ("items", len(dream.items)), *lines),
        )


def _join_notes(notes: Sequence[str]) -> str:
    """Each note once, with how often it came."""
    return "; ".join(note if times == 1 else f"{note} ({times} times)" for note, times in Counter(notes).items())


def _count_lines(before: Sequence[Topic], after: Sequence[Topic]) -> tuple[tuple[str, int], ...]:
    """How many lines the new revisions have more and less: the sign of erosion. Source: REQUIREMENTS CB-25."""
    ids = {topic.id for topic in after}
    older = "\n".join(topic.content for topic in before if topic.id in ids)
    newer = "\n".join(topic.content for topic in after if topic.status == "active")
    diff = diff_lines(older, newer)
    return ("lines_added", len(diff.added)), ("lines_removed", len(diff.removed))
