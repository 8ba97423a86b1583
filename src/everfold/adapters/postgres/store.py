"""The PostgreSQL store: the ports over one database, which many processes may use at the same time.

The functions that do the work, and most of the methods, are in `everfold.adapters.sql`; see `connections` for the threads
that they run on and `words` for the index of words.
"""

import asyncio
from collections.abc import Sequence
from typing import Self, cast

from everfold.adapters.postgres.connection import Database
from everfold.adapters.postgres.vector_store import PostgresVectors
from everfold.adapters.sql.access_store import SqlAccess
from everfold.adapters.sql.browsing_store import SqlBrowsing
from everfold.adapters.sql.copy_store import SqlCopying
from everfold.adapters.sql.log_store import SqlLog
from everfold.adapters.sql.memory_store import SqlMemory
from everfold.adapters.sql.overview_store import SqlOverview
from everfold.core.memory.records import AuditEntry, MemoryChange, MemoryVersion
from everfold.core.primitives.ids import SessionId, UserId
from everfold.ports.forgetting import WipedUser

_PROBLEMS_COUNT = 20
"""How many problems of a kind a check names."""


class PostgresStore(SqlLog, SqlMemory, SqlAccess, SqlOverview, SqlBrowsing, SqlCopying, PostgresVectors):
    """Everything in one PostgreSQL database."""

    @classmethod
    async def open(cls, url: str) -> Self:
        """Open a database that is there, and bring it to the current schema."""
        return await asyncio.to_thread(cls, url)

    async def close(self) -> None:
        """Close every connection."""
        if not self.is_closed:
            self.is_closed = True
            await asyncio.to_thread(self._shut)

    async def erase_sessions(self, session_ids: Sequence[SessionId], change: MemoryChange) -> dict[str, int]:
        """See the port. An index of vectors that are gone goes too."""
        counts = await super().erase_sessions(session_ids, change)
        await self._drop_stale_indexes(change.user_id)
        return counts

    async def wipe_user(self, user_id: UserId, *, expected: MemoryVersion, entry: AuditEntry) -> WipedUser:
        """See the port. An index of vectors that are gone goes too."""
        wiped = await super().wipe_user(user_id, expected=expected, entry=entry)
        await self._drop_stale_indexes(user_id)
        return wiped

    async def is_erasing(self) -> bool:
        """Never: what the server's files hold is not Everfold's to overwrite."""
        return False

    async def finish_erasing(self) -> bool:
        """See the port."""
        return True

    async def check_integrity(self) -> list[str]:
        """See the port. The server checks its own pages; what is looked at here is the index of words."""
        return await self._read(_list_unindexed)


def _list_unindexed(database: Database) -> list[str]:
    rows = cast("list[tuple[str, int]]", database.rows("find_unindexed", limit_count=_PROBLEMS_COUNT))
    return [f"session {id_}: message {seq} is missing in the search index" for id_, seq in rows]
