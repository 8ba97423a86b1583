"""Rows of memory for tests of the server: of two users, each with notes of two agents."""

from dataclasses import replace
from typing import Final

import httpx2
from tests.server.conftest import Served, Settings

from everfold.core.memory.items import Item
from everfold.core.memory.topics import Dream, Topic
from everfold.core.primitives.ids import AgentId, UserId
from everfold.ports.stores import Store
from everfold.testing.kit.memory_builders import dream, item, put, topic

ADA: Final = UserId("6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b")
BEN: Final = UserId("0b8f5a4e-1c2d-4e3f-8a9b-7c6d5e4f3a2b")
SHOP: Final = AgentId("shop")
DESK: Final = AgentId("desk")
STRUCTURED: Final[Settings] = {"compaction": {"synchronous": True}, "memory": {"system": "structured"}}


def store_of(served: Served) -> Store:
    """The store that a server serves."""
    return served.runtime.engine._store


def fact(id_: str, statement: str = "The berth costs 17 euros.", *, user_id: UserId = ADA) -> Item:
    """What is known of a user, noted by the shop."""
    return item(id_, statement, user_id=user_id, agent_id=SHOP)


def note(id_: str, statement: str, agent_id: AgentId = SHOP, *, user_id: UserId = ADA) -> Item:
    """What an agent noted for itself."""
    return item(id_, statement, user_id=user_id, agent_id=agent_id, tier="agent")


def about(id_: str, name: str = "harbour", content: str = "Berths are let by the day.") -> Topic:
    """A topic of the user tier."""
    return topic(id_, name, user_id=ADA, agent_id=SHOP, content=content)


def own(id_: str, name: str, agent_id: AgentId = SHOP, *, user_id: UserId = ADA) -> Topic:
    """A topic that is an agent's own."""
    return topic(id_, name, user_id=user_id, agent_id=agent_id, tier="agent")


def dreamt(id_: str, *topics: Topic) -> Dream:
    """A dream of Ada and the shop."""
    return dream(id_, *topics, user_id=ADA, agent_id=SHOP)


async def fill(served: Served) -> None:
    """Ada and Ben with a fact, a topic, and notes and topics of two agents each."""
    store = store_of(served)
    for user_id, mark in ((ADA, "a"), (BEN, "b")):
        rows: list[Item | Topic] = [fact(f"itm_{mark}1", f"The berth of {mark} costs 17 euros.", user_id=user_id)]
        for agent_id in (SHOP, DESK):
            rows.append(note(f"itm_{mark}_{agent_id}", f"{agent_id} noted {mark}.", agent_id, user_id=user_id))
            rows.append(own(f"top_{mark}_{agent_id}", f"work_of_{agent_id}", agent_id, user_id=user_id))
        rows.append(replace(about(f"top_{mark}1"), user_id=user_id))
        await put(store, *rows)


async def act_as(served: Served, scope: str, *, read_only: bool = False) -> httpx2.AsyncClient:
    """A client with a key of a scope, which is its name too."""
    return served.client(await served.key(scope, read_only=read_only, name=scope.replace(":", " ")))
