"""The whole store in the memory of one process."""

from everfold.adapters.inmemory.access import InMemoryAccess
from everfold.adapters.inmemory.browsing import InMemoryBrowsing
from everfold.adapters.inmemory.compaction import InMemoryCompactions, InMemoryWork
from everfold.adapters.inmemory.forgetting import InMemoryForgetting
from everfold.adapters.inmemory.history import InMemoryHistory
from everfold.adapters.inmemory.leases import InMemoryRefreshLeases
from everfold.adapters.inmemory.log import InMemoryLog
from everfold.adapters.inmemory.memory import InMemoryMemory
from everfold.adapters.inmemory.overview import InMemoryOverview
from everfold.adapters.inmemory.sessions import InMemorySessions
from everfold.adapters.inmemory.tables import Tables
from everfold.adapters.inmemory.usage import InMemoryUsage
from everfold.adapters.inmemory.users import InMemoryUsers
from everfold.adapters.inmemory.vectors import InMemoryVectors


class InMemoryStore(
    InMemorySessions,
    InMemoryUsers,
    InMemoryLog,
    InMemoryCompactions,
    InMemoryWork,
    InMemoryRefreshLeases,
    InMemoryHistory,
    InMemoryBrowsing,
    InMemoryUsage,
    InMemoryMemory,
    InMemoryForgetting,
    InMemoryVectors,
    InMemoryAccess,
    InMemoryOverview,
):
    """A store that keeps everything in memory and forgets it when it is closed; see `everfold.ports.stores.Store`.

    It behaves as every other store does, errors included, which makes it the quick one for tests. For one event loop;
    not for several threads at once.
    """

    def __init__(self) -> None:
        super().__init__(Tables())

    async def close(self) -> None:
        """Forget everything; later calls raise `StoreUnavailableError`. Closing again does nothing."""
        self._is_closed = True
        self._held = Tables()
