"""The block of memory that is always injected: one line an item, and how much of its budget they take.

Source: DESIGN section 4, "Budgets" and "Snapshot and delta".
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, get_args

from everfold.core.memory.items import Item, ItemKind, Tier
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.primitives.ids import AgentId
from everfold.core.primitives.origins import Origin

_KIND_WORDS: Final[dict[ItemKind, str]] = {
    "preference": "preference",
    "decision": "decision",
    "task": "task",
    "open_item": "open",
}
_WRITERS: Final[dict[Origin, str]] = {
    "assistant": "noted by the assistant",
    "tool": "from a tool",
    "external": "from outside",
}


def render_item_line(item: Item) -> str:
    """An item as one line of the block: what it says, then its kind, since when and until when, in absolute dates.

    A line of the user tier that the user did not say names who did.
    """
    told = [_KIND_WORDS.get(item.kind, "")]
    if item.tier == "user":
        told.append(_WRITERS.get(item.origin, ""))
    told.append(f"{item.valid_from.date().isoformat()}")
    if item.valid_to is not None:
        told.append(f"until {item.valid_to.date().isoformat()}")
    return f"- {' '.join(item.statement.split())} ({', '.join(filter(None, told))})"


def measure_item_lines(items: Iterable[Item]) -> int:
    """The characters that the lines of items take, each with its line break."""
    return sum(len(render_item_line(item)) + 1 for item in items)


def list_block(items: Iterable[Item], tier: Tier, *, now: datetime) -> list[Item]:
    """Those of the items that the block of one tier shows, in their order."""
    return [item for item in items if item.tier == tier and item.shelf == "block" and item.is_current(now)]


def read_char_limit(policy: MemoryPolicy, tier: Tier) -> int:
    """How many characters the block of one tier may have."""
    return policy.user_char_limit if tier == "user" else policy.agent_char_limit


def list_overflow(items: Iterable[Item], policy: MemoryPolicy, *, agent_id: AgentId, now: datetime) -> list[Item]:
    """What has to leave the block so that each tier is within its budget: those seen longest ago, explicit ones last."""
    given = [item for item in items if item.tier == "user" or item.agent_id == agent_id]
    leaving: list[Item] = []
    for tier in get_args(Tier):
        shown = list_block(given, tier, now=now)
        over_chars = measure_item_lines(shown) - read_char_limit(policy, tier)
        for item in sorted(shown, key=lambda item: (item.is_explicit, item.last_seen_at, item.recorded_at, item.id)):
            if over_chars <= 0:
                break
            leaving.append(item)
            over_chars -= measure_item_lines([item])
    return leaving
