"""The methods of the SQLite store that lists and pictures are made of."""

from everfold.adapters.sqlite import browsing
from everfold.adapters.sqlite.connections import Connections, reads
from everfold.core.primitives.ids import SessionId


class SqliteBrowsing(Connections):
    """The browsing store's methods; see `everfold.ports.browsing.BrowsingStore`."""

    list_newest_sessions = reads(browsing.list_newest_sessions)
    read_figures = reads(browsing.read_figures)

    async def list_refreshes(self, session_id: SessionId) -> list[int]:
        """See the port."""
        return await self._read(browsing.list_refreshes, self._reader.places, session_id)

    async def list_erased(self, session_id: SessionId) -> list[int]:
        """See the port."""
        return await self._read(browsing.list_erased, self._reader.places, session_id)

    find_revision = reads(browsing.find_revision)
