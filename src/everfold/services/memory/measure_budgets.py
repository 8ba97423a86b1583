"""Measure: how much of its budget each tier of the always-injected block takes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from everfold.core.memory.block import list_block, measure_item_lines, read_char_limit
from everfold.core.memory.items import Item, Tier
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.primitives.ids import AgentId, UserId
from everfold.ports.memory import MemoryStore
from everfold.services.memory.look_up import list_block_items


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """One tier of the block.

    Attributes:
        agent_id: Whose notes; None for the user tier.
    """

    agent_id: AgentId | None
    used_chars: int
    limit_chars: int
    items_count: int


async def measure_budgets(
    store: MemoryStore,
    user_id: UserId,
    agents: Sequence[AgentId] | None,
    *,
    policy_of: Callable[[AgentId], MemoryPolicy],
    fallback: AgentId,
    now: datetime,
) -> tuple[Budget, ...]:
    """The user tier's budget, then those of agents by name.

    Args:
        store: Where memory is.
        user_id: Whose.
        agents: Of which agents; None for all that have noted something.
        policy_of: The limits of an agent.
        fallback: The agent whose limit the user tier has here.
        now: What is past its end by then takes nothing.
    """
    items = await list_block_items(store, user_id, None)
    if agents is None:
        agents = sorted({item.agent_id for item in items if item.tier == "agent"})
    owned = ((agent, [item for item in items if item.agent_id == agent]) for agent in agents)
    user_tier = _measure(items, "user", None, policy_of(fallback), now)
    return (user_tier, *(_measure(own, "agent", agent, policy_of(agent), now) for agent, own in owned))


def _measure(
    items: Sequence[Item], tier: Tier, agent_id: AgentId | None, policy: MemoryPolicy, now: datetime
) -> Budget:
    shown = list_block(items, tier, now=now)
    return Budget(
        agent_id=agent_id,
        used_chars=measure_item_lines(shown),
        limit_chars=read_char_limit(policy, tier),
        items_count=len(shown),
    )
