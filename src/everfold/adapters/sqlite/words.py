"""The index of words in SQLite: full-text tables whose rows have the keys of messages and of items."""

from collections.abc import Mapping, Sequence
from typing import cast

from everfold.adapters.sql.database import Database, Row
from everfold.adapters.sql.matching import write_filter
from everfold.adapters.sqlite.matching import write_item_match, write_match
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.text.searching import BEFORE_WEIGHT, SearchQuery

REWRITE_SHARE = 50
"""Taking one row's words out of the index costs what writing so many rows anew does.

Source: our measurement, 40,000 rows of 20 words: 0.3 ms a row taken out, 5 microseconds a row written anew.
"""


class SqliteWords:
    """The full-text tables of one connection; see `everfold.adapters.sql.database.WordIndex`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find_messages(
        self,
        query: SearchQuery,
        user_key: int,
        *,
        agent_key: int | None,
        session_keys: Sequence[int],
        only: SearchFilter,
        entry_counts: Mapping[str, int],  # noqa: ARG002 - the index knows
        limit_count: int,
    ) -> list[Row]:
        """See the protocol. Without a filter messages are looked up only for the rows that are given."""
        match = write_match(query, user_key, agent_key=agent_key, session_keys=session_keys)
        if only == ANY_MESSAGE:
            return self._database.rows(
                "search_messages", match=match, before_weight=BEFORE_WEIGHT, candidate_count=limit_count
            )
        return self._database.rows(
            "search_some_messages",
            match=match,
            before_weight=BEFORE_WEIGHT,
            candidate_count=limit_count,
            **write_filter(only),
        )

    def find_items(self, query: SearchQuery, user_key: int, *, place: int | None, limit_count: int) -> list[Row]:
        """See the protocol."""
        match = write_item_match(query, user_key, place=place)
        return self._database.rows("search_items", match=match, limit_count=limit_count)

    def find_newest_items(self, query: SearchQuery, user_key: int, *, place: int | None, limit_count: int) -> list[Row]:
        """See the protocol."""
        match = write_item_match(query, user_key, place=place)
        return self._database.rows("find_newest_items", match=match, limit_count=limit_count)

    def wipe_items(self, user_key: int) -> None:
        """See the protocol. Row by row, or all at once where writing the index anew is cheaper.

        O(items of the user), or O(all items) where those are at most REWRITE_SHARE times as many.
        """
        database = self._database
        own_count, all_count = cast("tuple[int, int]", database.row("count_wiped_words", user_key=user_key))
        is_secure = own_count * REWRITE_SHARE < all_count
        if not is_secure:
            database.run("set_secure_delete", is_secure=0)
        database.run("wipe_item_words", user_key=user_key)
        if not is_secure:
            database.run("optimize_item_index")
            database.run("set_secure_delete", is_secure=1)

    def merge_messages(self) -> None:
        """See the protocol."""
        self._database.run("optimize_search")
