"""The index of words in SQLite: full-text tables whose rows have the keys of messages and of items."""

from collections.abc import Sequence
from typing import Protocol, cast

from everfold.adapters.sql.database import Bound, Database, Indexed, Row, TermCounts
from everfold.adapters.sql.matching import key_words, write_filter, write_item_scope
from everfold.adapters.sqlite.matching import write_holding_match, write_item_match, write_match
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.log.sessions import NO_END
from everfold.core.text.searching import BEFORE_WEIGHT, Corpus, SearchQuery

REWRITE_SHARE = 50
"""Taking one row's words out of the index costs what writing so many rows anew does.

Source: our measurement, 40,000 rows of 20 words: 0.3 ms a row taken out, 5 microseconds a row written anew.
"""


class _Inserting(Database, Protocol):
    """A database whose new keys follow each other."""

    def insert_each(self, name: str, rows: Sequence[Row]) -> list[int]:
        """Execute a named query that inserts one row once for each row of bindings; the keys in the same order."""


class SqliteWords:
    """The full-text tables of one connection; see `everfold.adapters.sql.database.WordIndex`."""

    def __init__(self, database: _Inserting) -> None:
        self._database = database

    def insert_messages(self, rows: Sequence[Row], words: Sequence[Row]) -> None:
        """See the protocol."""
        message_ids = self._database.insert_each("insert_message", rows)
        found = [(message_id, *one) for message_id, one in zip(message_ids, words, strict=True)]
        self._database.run_each("insert_search_row", found)

    def ask_counts(
        self, kind: Indexed, query: SearchQuery, user_key: int, *, place: int | None = None, most_count: int = NO_END
    ) -> list[Bound]:
        """See the protocol."""
        words = [key_words(user_key, word) for word in sorted(query.words)]
        if kind == "message":
            return [("count_search_word", {"word": word}) for word in words]
        if most_count < NO_END:
            return [("count_item_word_entries", {"word": word, "most_count": most_count}) for word in words]
        scopes = [write_item_scope(user_key, place=one) for one in sorted({0, place or 0})]
        return [("count_item_word", {"word": word}) for word in (*words, *scopes)]

    def read_counts(self, query: SearchQuery, found: Sequence[Sequence[Row]]) -> TermCounts:
        """See the protocol. What is beyond the words are scopes, which all rows are in."""
        words, counts = sorted(query.words), [cast("int", rows[0][0]) if rows else 0 for rows in found]
        rows_count = sum(counts[len(words) :])
        return TermCounts(words=dict(zip(words, counts, strict=False)), whole=Corpus(rows_count, 0))

    def find_messages(
        self,
        query: SearchQuery,
        user_key: int,
        *,
        agent_key: int | None,
        session_keys: Sequence[int],
        only: SearchFilter,
        counts: TermCounts,  # noqa: ARG002 - the index knows
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

    def find_holding(
        self,
        query: SearchQuery,
        user_keys: Sequence[int],
        *,
        agent_key: int | None,
        only: SearchFilter,
        limit_count: int,
    ) -> list[Row]:
        """See the protocol."""
        match = write_holding_match(query, user_keys, agent_key=agent_key)
        return self._database.rows("find_holding", match=match, limit_count=limit_count, **write_filter(only))

    def find_items(
        self,
        query: SearchQuery,
        user_key: int,
        *,
        place: int | None,
        counts: TermCounts,  # noqa: ARG002 - the index knows
        limit_count: int,
    ) -> list[Row]:
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
