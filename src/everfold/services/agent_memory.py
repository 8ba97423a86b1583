"""What an engine does with memory, for each agent that has opted in. Where none has, nothing of it is made."""

from collections.abc import Callable
from dataclasses import dataclass, field

from everfold.core.memory_policy import MemoryPolicy
from everfold.core.sessions import AgentId
from everfold.ports.dispatch import Dispatcher
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.forget import Forgetter
from everfold.services.observers import Observers
from everfold.services.recollect import RecallFor, Recollector
from everfold.services.remember import Rememberer


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMemory:
    """The memory work of one agent's policy.

    Attributes:
        rememberer: Changes memory.
        recollector: Shows it in windows.
    """

    store: Store
    clock: Clock
    policy: MemoryPolicy
    observers: Observers
    dispatcher: Dispatcher
    rememberer: Rememberer
    recollector: Recollector

    @property
    def forgetter(self) -> Forgetter:
        """Erases single items and topics."""
        return Forgetter(self.store, self.clock)


@dataclass(slots=True, kw_only=True)
class Memories:
    """The memory work of every agent."""

    store: Store
    clock: Clock
    ids: Ids
    observers: Observers
    dispatcher: Dispatcher
    policy_of: Callable[[AgentId], MemoryPolicy]
    recall: RecallFor | None = None
    _made: dict[AgentId, AgentMemory] = field(default_factory=dict, init=False)

    def is_on(self, agent_id: AgentId) -> bool:
        """Whether an agent has opted in."""
        return self.policy_of(agent_id).is_structured

    def find(self, agent_id: AgentId) -> AgentMemory | None:
        """The memory work of an agent; None where it has not opted in."""
        return self.get(agent_id) if self.is_on(agent_id) else None

    def get(self, agent_id: AgentId) -> AgentMemory:
        """The same for whoever looks into memory from outside, whether the agent writes to it or not."""
        if agent_id not in self._made:
            policy = self.policy_of(agent_id)
            self._made[agent_id] = AgentMemory(
                store=self.store,
                clock=self.clock,
                policy=policy,
                observers=self.observers,
                dispatcher=self.dispatcher,
                rememberer=Rememberer(store=self.store, clock=self.clock, ids=self.ids, policy=policy),
                recollector=Recollector(
                    store=self.store, messages=self.store, clock=self.clock, policy=policy, recall=self.recall
                ),
            )
        return self._made[agent_id]
