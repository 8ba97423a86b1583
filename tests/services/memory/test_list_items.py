"""Listing the items of a memory page by page."""

from dataclasses import replace
from datetime import timedelta

import pytest

from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.memory.items import Item
from everfold.services.memory.list_items import ItemQuery, list_whole
from everfold.testing.kit.builders import ADA, minute
from everfold.testing.kit.memory_builders import item, put

pytestmark = pytest.mark.anyio


class _CountingStore(SqliteStore):
    """A store that counts its listings."""

    listings_count = 0

    async def list_items(self, *args: object, **asked: object) -> list[Item]:  # type: ignore[override]  # passed on
        self.listings_count += 1
        return await super().list_items(*args, **asked)  # type: ignore[arg-type]  # passed on


@pytest.mark.parametrize("limit_count", [1, 2, 100])
async def test_many_ended_items_take_few_queries(limit_count: int) -> None:
    """Items behind 197 that have ended are found with two queries, however short the page is."""
    store = _CountingStore(IN_MEMORY)
    ended = [replace(item(f"itm_{at:03}"), valid_to=minute(5)) for at in range(197)]
    await put(store, *ended, item("itm_900"), item("itm_901"))
    query = ItemQuery(now=minute(5) + timedelta(days=1))
    found = await list_whole(store, ADA, None, query, after=None, limit_count=limit_count)
    assert [one.id for one in found] == ["itm_900", "itm_901"][:limit_count]
    assert store.listings_count <= 2
