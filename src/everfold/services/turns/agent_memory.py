"""What an engine does with memory and recall, for each agent. Where both are off, nothing of it is made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from everfold.core.compaction.tasks import Task
from everfold.core.log.sessions import SessionRecord
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.memory.records import RecallShown
from everfold.core.primitives.ids import AgentId
from everfold.core.recall.packing import USUAL_CAP
from everfold.core.recall.recalling import Recalled, RecallKey
from everfold.ports.dispatch import Dispatcher
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.dreams.dream import Dreamer
from everfold.services.forgetting.forget import Forgetter
from everfold.services.memory.embed import Embedding
from everfold.services.memory.extract_by_model import ModelExtractor
from everfold.services.memory.hint_found import hint_found
from everfold.services.memory.recall import recall_turn
from everfold.services.memory.recollect import RecallFor, Recollector, list_shown
from everfold.services.memory.remember import Rememberer
from everfold.services.models.call_model import ModelCaller
from everfold.services.sessions.live import LiveSession
from everfold.services.telling.stream import Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMemory:
    """The memory work of one agent's policy.

    Attributes:
        rememberer: Changes memory.
        recollector: Shows it in windows.
        extractor: Finds by a model what is to be remembered; None where no model is configured.
        dreamer: Consolidates it.
        embedding: Makes vectors; None where no embedder is configured.
        is_synchronous: What can wait is done at once all the same.
        forgetter: Erases single items and topics.
    """

    store: Store
    policy: MemoryPolicy
    stream: Stream
    dispatcher: Dispatcher
    rememberer: Rememberer
    recollector: Recollector
    extractor: ModelExtractor | None
    dreamer: Dreamer
    embedding: Embedding | None
    is_synchronous: bool
    forgetter: Forgetter


@dataclass(slots=True, kw_only=True)
class Memories:
    """The memory work of every agent.

    Attributes:
        caller: Calls the model for extraction; None for none.
        embedding: Makes vectors for recall; None for none.
    """

    store: Store
    clock: Clock
    ids: Ids
    stream: Stream
    dispatcher: Dispatcher
    policy_of: Callable[[AgentId], MemoryPolicy]
    dreamer: Dreamer
    caller: ModelCaller | None = None
    embedding: Embedding | None = None
    is_synchronous: bool = False
    _made: dict[AgentId, AgentMemory] = field(default_factory=dict, init=False)

    def is_on(self, agent_id: AgentId) -> bool:
        """Whether an agent has opted in."""
        return self.policy_of(agent_id).is_structured

    def find(self, agent_id: AgentId) -> AgentMemory | None:
        """The memory work of an agent; None where it has not opted in."""
        return self.get(agent_id) if self.is_on(agent_id) else None

    def find_recollector(self, agent_id: AgentId) -> Recollector | None:
        """What shows an agent's windows recall or memory; None where both are off, so that they cost nothing."""
        return self.get(agent_id).recollector if self.policy_of(agent_id).has_suffix else None

    def get(self, agent_id: AgentId) -> AgentMemory:
        """The same for readers from outside, whether the agent writes to memory or not."""
        if agent_id not in self._made:
            self._made[agent_id] = self._make(self.policy_of(agent_id))
        return self._made[agent_id]

    def take_policies(self, policy_of: Callable[[AgentId], MemoryPolicy]) -> None:
        """Go by other policies from now on; a session that is open keeps to what it was opened with."""
        self.policy_of = policy_of
        self._made.clear()

    async def close_models(self) -> None:
        """Let go of whatever models there are."""
        if self.caller is not None:
            await self.caller.model.close()
        if self.embedding is not None:
            await self.embedding.close()

    async def extract(self, task: Task) -> None:
        """The extraction of one compaction by the model; a worker's `extract`."""
        extractor = self.get(task.record.agent_id).extractor
        if extractor is not None:
            await extractor(task)

    async def hint_found(self, record: SessionRecord, seqs: Sequence[int]) -> str:
        """What memory has from messages of a session; a worker's `hint_found`. Not a query where memory is off."""
        if not self.is_on(record.agent_id):
            return ""
        return await hint_found(self.store, record, seqs, now=self.clock.now())

    def _make(self, policy: MemoryPolicy) -> AgentMemory:
        rememberer = Rememberer(store=self.store, clock=self.clock, ids=self.ids, policy=policy, stream=self.stream)
        caller = self.caller
        return AgentMemory(
            store=self.store,
            policy=policy,
            stream=self.stream,
            dispatcher=self.dispatcher,
            rememberer=rememberer,
            recollector=Recollector(
                store=self.store, messages=self.store, clock=self.clock, policy=policy, recall=self._recall_by(policy)
            ),
            extractor=None if caller is None else ModelExtractor(caller=caller, rememberer=rememberer, log=self.store),
            dreamer=self.dreamer,
            embedding=self.embedding,
            is_synchronous=self.is_synchronous,
            forgetter=Forgetter(self.store, self.clock, self.stream),
        )

    def _recall_by(self, policy: MemoryPolicy) -> RecallFor:
        async def recall(live: LiveSession, prompt: str, space_tokens: int, remembered: Sequence[str]) -> RecallShown:
            block = await recall_turn(
                self.store,
                prompt,
                policy,
                now=self.clock.now(),
                shown=await list_shown(self.store, live, remembered),
                cap=USUAL_CAP._replace(tokens=space_tokens),
                near=await self._find_near(live, prompt, policy),
            )
            return RecallShown(text=block.text, entries=tuple(map(_describe, block.shown)))

        return recall

    async def _find_near(self, live: LiveSession, prompt: str, policy: MemoryPolicy) -> Sequence[RecallKey]:
        """What is near a prompt by its vector; there are vectors where memory is structured."""
        if self.embedding is None or not policy.is_structured:
            return ()
        record = live.record
        found = await self.embedding.find_near(
            prompt, user_id=record.user_id, agent_id=record.agent_id, limit_count=policy.recall_entries
        )
        return [RecallKey(near.ref.kind, near.ref.owner_id, near.ref.seq) for near in found]


def _describe(entry: Recalled) -> str:
    """One entry for a window's report: what it is, where it is from, and what found it."""
    place = f"{entry.key.id} {entry.key.seq}" if entry.key.seq else entry.key.id
    found_by = "text and vector" if entry.by == "both" else entry.by
    return f"{entry.key.kind} {place}, {entry.label}, found by {found_by}"
