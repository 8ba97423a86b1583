"""What the functions of this folder need of a database: named queries, transactions, locks and an index of words."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from everfold.core.log.search_filters import SearchFilter
from everfold.core.log.sessions import NO_END
from everfold.core.text.searching import Corpus, SearchQuery, SearchTerm

SqlValue: TypeAlias = int | float | bytes | str | None
"""What a column or a binding holds."""

MOST_KEYS = 20_000
"""How many keys of users and agents one connection remembers. Source: own choice; some megabytes."""

NO_USER = 0
"""No user has this key: what is locked under it belongs to the whole store."""

Row: TypeAlias = tuple[SqlValue, ...]

Bound: TypeAlias = tuple[str, Mapping[str, SqlValue]]
"""A named query with its bindings."""

Indexed: TypeAlias = Literal["message", "item"]
"""What an index of words is of."""


class OwnerKeys:
    """The keys of users and agents that one connection has read: they never change, and their rows are never removed.

    What a transaction has read is forgotten when it is rolled back, since it may have made the row itself.
    """

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str], int] = {}

    def find(self, kind: Literal["user", "agent"], id_: str) -> int | None:
        """The key of a user or an agent that was read."""
        return self._keys.get((kind, id_))

    def keep(self, kind: Literal["user", "agent"], id_: str, key: int) -> None:
        """Remember a key."""
        if len(self._keys) >= MOST_KEYS:
            self._keys.clear()
        self._keys[kind, id_] = key

    def forget(self) -> None:
        """Remember none."""
        self._keys.clear()


class Database(Protocol):
    """One connection with its named queries. Not for two threads at once."""

    @property
    def loses_answers(self) -> bool:
        """Whether a commit may be carried out and its answer be lost, as on the way from a server."""

    @property
    def keys(self) -> "OwnerKeys":
        """The keys of users and agents that this connection has read."""

    @property
    def words(self) -> "WordIndex":
        """The index of words of messages and items."""

    def rows(self, name: str, **values: SqlValue) -> list[Row]:
        """All rows of a named query."""

    def row(self, name: str, **values: SqlValue) -> Row | None:
        """The first row of a named query, or None."""

    def rows_each(self, name: str, bindings: Sequence[Mapping[str, SqlValue]]) -> list[list[Row]]:
        """All rows of a named query for each of several bindings, in their order. To a server it is one way there and back."""

    def rows_all(self, asked: Sequence[Bound]) -> list[list[Row]]:
        """All rows of each of several named queries, in their order. To a server it is one way there and back."""

    def run(self, name: str, **values: SqlValue) -> int:
        """Execute a named query and give the number of rows that it changed."""

    def run_all(self, asked: Sequence[Bound]) -> list[int]:
        """Execute several named queries in order, and give of each the number of rows that it changed.

        To a server it is one way there and back.
        """

    def run_each(self, name: str, rows: Sequence[Row | Mapping[str, SqlValue]]) -> None:
        """Execute a named query once for each row of bindings, in order."""

    def insert(self, name: str, **values: SqlValue) -> int:
        """Execute a named query that inserts one row, and give its key; 0 where the query inserts none."""

    def claim(self, name: str, **values: SqlValue) -> bool:
        """Execute a named query that changes the one row for which the writes of a session or user wait for each other.

        Returns:
            Whether it changed it: the row was as the query expects it.
        """

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing: commits at the end, rolls back on any error."""

    def list_columns(self) -> list[tuple[str, str, int]]:
        """Every column of our tables: table, name, and place in the primary key (from 1; 0 for none)."""

    def query(self, text: str, values: Row = ()) -> list[Row]:
        """All rows of a statement that has no name, with `?` for each value."""

    def insert_rows(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert rows with their keys; what is inserted without one later gets a key that no row has."""

    def lock_user(self, user_key: int) -> None:
        """Wait until no other transaction that has locked this user is open; held until this one ends.

        Where a database has one writer at a time, every transaction has waited already.
        """

    def prove_by(self, *queries: Bound) -> None:
        """Say how it is found out whether this transaction was committed, where the answer is lost and the server cannot say.

        If one of these finds a row it was, else it was not and is done again. Of several calls the first that names a query
        counts. Without a query it is done again in any case: it is refused where it was committed.
        """

    def run_last(self, *asked: Bound) -> None:
        """Execute several named queries in order right before this transaction is committed. Of several calls the last counts."""

    def mark_erased(self) -> None:
        """Note, within the transaction of an erase, that erased words are still in the files of the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermCounts:
    """How often what a query looks for is in an index of words, within one user's rows.

    Attributes:
        words: How many rows hold each single word; of a common one it may be an estimate.
        terms: How many hold each phrase and each beginning of words, where the database does not know it when it ranks.
        whole: All rows and their words, where that is counted too.
    """

    words: Mapping[str, int]
    terms: Mapping[SearchTerm, int] = field(default_factory=dict)
    whole: Corpus = field(default=Corpus(0, 0))


class WordIndex(Protocol):
    """What depends on how a database finds words. Rows are replaced and removed by named queries, and those of items added."""

    def insert_messages(self, rows: Sequence[Row], words: Sequence[Row]) -> None:
        """Insert messages and what they are found by.

        Args:
            rows: The columns of each message, as `codec.message_row` gives them.
            words: Of each its words, those of the messages before it, and its scope, in one text each.
        """

    def ask_counts(
        self, kind: Indexed, query: SearchQuery, user_key: int, *, place: int | None = None, most_count: int = NO_END
    ) -> list[Bound]:
        """The queries that tell how many of a user's messages or items hold what is looked for.

        Args:
            kind: Messages or items.
            query: What to look for.
            user_key: Whose.
            place: Of items, where only those of the user tier and of this place are asked for.
            most_count: How far items have to be counted.
        """

    def read_counts(self, query: SearchQuery, found: Sequence[Sequence[Row]]) -> TermCounts:
        """What these queries gave."""

    def find_messages(
        self,
        query: SearchQuery,
        user_key: int,
        *,
        agent_key: int | None,
        session_keys: Sequence[int],
        only: SearchFilter,
        counts: TermCounts,
        limit_count: int,
    ) -> list[Row]:
        """The best messages of a user for a query, best first, of equal ones the newer.

        Args:
            query: What to look for; it has a term.
            user_key: Whose messages.
            agent_key: Only messages of this agent, when given.
            session_keys: Only messages that were appended to one of these sessions, when given.
            only: Only messages that it admits.
            counts: How many messages of the user hold what is looked for.
            limit_count: How many.

        Returns:
            Rows of id, score, agent key, session id, sequence number, role, speaker and tokens.
        """

    def find_holding(
        self,
        query: SearchQuery,
        user_keys: Sequence[int],
        *,
        agent_key: int | None,
        only: SearchFilter,
        limit_count: int,
    ) -> list[Row]:
        """The newest messages of several users that hold every term themselves, newest first.

        Args:
            query: What to look for; it has a term.
            user_keys: Whose messages; at least one.
            agent_key: Only messages of this agent, when given.
            only: Only messages that it admits.
            limit_count: How many.

        Returns:
            Rows of user id, session id and sequence number.
        """

    def find_items(
        self, query: SearchQuery, user_key: int, *, place: int | None, counts: TermCounts, limit_count: int
    ) -> list[Row]:
        """The best active items of a user, best first, of equal ones the newer: rows of content and score.

        Args:
            query: What to look for; it has a term.
            user_key: Whose items.
            place: Only items of the user tier and of this place, when given.
            counts: How many items of the user hold what is looked for.
            limit_count: How many.
        """

    def find_newest_items(self, query: SearchQuery, user_key: int, *, place: int | None, limit_count: int) -> list[Row]:
        """The newest active items of a user that match, newest first: rows of content. Arguments as in `find_items`."""

    def wipe_items(self, user_key: int) -> None:
        """Take the words of all items of a user out of the index, before the items themselves go."""

    def merge_messages(self) -> None:
        """After an erase: leave no trace of the words that were taken out, as far as the index keeps one."""
