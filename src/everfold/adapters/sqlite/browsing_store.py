"""The methods of the SQLite store that lists and pictures are made of."""

from collections.abc import Sequence

from everfold.adapters.sqlite import browsing
from everfold.adapters.sqlite.lanes import Lanes
from everfold.core.events import CompactionEvent
from everfold.core.sessions import AgentId, EventId, SessionId, SessionRecord, UserId
from everfold.ports.browsing import SessionFigures


class SqliteBrowsing(Lanes):
    """The browsing store's methods; see `everfold.ports.browsing.BrowsingStore`."""

    async def list_newest_sessions(
        self, *, user_id: UserId | None, agent_id: AgentId | None, before: SessionId | None, limit_count: int
    ) -> list[SessionRecord]:
        """See the port."""
        return await self._read(browsing.list_newest_sessions, user_id, agent_id, before, limit_count)

    async def read_figures(self, session_ids: Sequence[SessionId]) -> dict[SessionId, SessionFigures]:
        """See the port."""
        return await self._read(browsing.read_figures, session_ids)

    async def list_refreshes(self, session_id: SessionId) -> list[int]:
        """See the port."""
        return await self._read(browsing.list_refreshes, self._reader.places, session_id)

    async def list_erased(self, session_id: SessionId) -> list[int]:
        """See the port."""
        return await self._read(browsing.list_erased, self._reader.places, session_id)

    async def find_revision(self, event_id: EventId) -> CompactionEvent | None:
        """See the port."""
        return await self._read(browsing.find_revision, event_id)
