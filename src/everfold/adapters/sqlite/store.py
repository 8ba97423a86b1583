"""The SQLite store: the ports over one file, or over one database in memory.

The functions that do the work, and most of the methods, are in `everfold.adapters.sql`; see `connections` for the threads
that they run on, `words` for the index of words and `vector_store` for the methods of vectors.
"""

import asyncio
from typing import Self

from everfold.adapters.sql.access_store import SqlAccess
from everfold.adapters.sql.browsing_store import SqlBrowsing
from everfold.adapters.sql.copy_store import SqlCopying
from everfold.adapters.sql.log_store import SqlLog
from everfold.adapters.sql.memory_store import SqlMemory
from everfold.adapters.sql.overview_store import SqlOverview
from everfold.adapters.sqlite.connection import Database, translated
from everfold.adapters.sqlite.integrity import check_integrity
from everfold.adapters.sqlite.vector_store import SqliteVectors
from everfold.core.log.appending import AppendPlan
from everfold.core.primitives.ids import SessionId
from everfold.ports.system import Clock

LARGE_BATCH_COUNT = 100
"""Messages of one transaction that swell the index's memory: the next smaller append has it shrunk first.

Source: our measurement, `bench/turn.py`: after batches of 500 every append costs a tenth less for it.
"""


class SqliteStore(SqlLog, SqlMemory, SqlAccess, SqlOverview, SqlBrowsing, SqlCopying, SqliteVectors):
    """Everything in one SQLite file. Several processes may open the same file.

    The path `memory://` keeps everything in memory and forgets it when the store is closed; it is a new store each time.

    Args:
        path: The file, or `memory://`.
        clock: Tells until when a lease holds; the machine's when left out.
    """

    def __init__(self, path: str, clock: Clock | None = None) -> None:
        super().__init__(path, clock)
        self._is_index_swollen = False

    @classmethod
    async def open(cls, path: str, clock: Clock | None = None) -> Self:
        """Open a file, make it when it is missing, and bring it to the current schema."""
        return await asyncio.to_thread(cls, path, clock)

    async def close(self) -> None:
        """Close every connection."""
        if not self._writer.is_closed:
            self._reader.is_closed = self._writer.is_closed = True  # now, so that no call gets in behind the end
            await self._close_seeker()
            await asyncio.to_thread(self._reader.close)
            await asyncio.to_thread(self._writer.close)

    async def append(self, session_id: SessionId, plan: AppendPlan, *, expected_revision: int) -> None:
        """See the port."""
        is_large = len(plan.appended) >= LARGE_BATCH_COUNT
        if self._is_index_swollen and not is_large:
            await self._writer.call(self._writer.database.shrink_index)
        self._is_index_swollen = is_large
        await super().append(session_id, plan, expected_revision=expected_revision)

    async def is_erasing(self) -> bool:
        """See the port."""
        return await self._read(Database.is_erasing)

    async def finish_erasing(self) -> bool:
        """See the port."""
        if not await self.is_erasing():
            return True
        with translated(self.path):
            return await self._writer.call(self._writer.database.empty_log)

    async def check_integrity(self) -> list[str]:
        """See the port."""
        return await self._read(check_integrity)
