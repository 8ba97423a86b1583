"""The store contract: what holds for every store, as tests that any store can be put under.

A store joins with a class of its own and a fixture that opens an empty one:

    class TestMyStore(StoreContract):
        @pytest.fixture
        async def store(self, tmp_path):
            async with open_my_store(tmp_path) as store:
                yield store

The tests are async functions and run under anyio's pytest plugin (`anyio_mode = "auto"`). For assertions that tell what
they compared, register the modules first: `pytest.register_assert_rewrite("everfold.testing")` in a `conftest.py`.
Needs `pytest`.
"""

from everfold.testing.contract.access import AccessContract
from everfold.testing.contract.activity import ActivityContract
from everfold.testing.contract.browsing import BrowsingContract
from everfold.testing.contract.clients import ClientContract
from everfold.testing.contract.compaction import CompactionContract
from everfold.testing.contract.erase import EraseContract
from everfold.testing.contract.following import FollowingContract
from everfold.testing.contract.forgetting import ForgettingContract
from everfold.testing.contract.history import HistoryContract
from everfold.testing.contract.leases import LeaseContract
from everfold.testing.contract.log import LogContract
from everfold.testing.contract.memory import ItemContract
from everfold.testing.contract.memory_files import MemoryFileContract
from everfold.testing.contract.memory_records import MemoryRecordContract
from everfold.testing.contract.overview import OverviewContract
from everfold.testing.contract.sessions import SessionContract
from everfold.testing.contract.transitions import TransitionContract
from everfold.testing.contract.usage import UsageContract
from everfold.testing.contract.users import UserContract
from everfold.testing.contract.vectors import VectorContract
from everfold.testing.contract.work import WorkContract


class StoreContract(
    SessionContract,
    UserContract,
    LogContract,
    CompactionContract,
    WorkContract,
    LeaseContract,
    TransitionContract,
    HistoryContract,
    BrowsingContract,
    EraseContract,
    ForgettingContract,
    UsageContract,
    ItemContract,
    MemoryRecordContract,
    MemoryFileContract,
    ClientContract,
    VectorContract,
    AccessContract,
    OverviewContract,
    FollowingContract,
    ActivityContract,
):
    """All that a store holds to. Each test takes a `store` fixture: an empty, open store."""
