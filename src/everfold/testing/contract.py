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

from everfold.testing.contract_access import AccessContract
from everfold.testing.contract_browsing import BrowsingContract
from everfold.testing.contract_compaction import CompactionContract
from everfold.testing.contract_erase import EraseContract
from everfold.testing.contract_forgetting import ForgettingContract
from everfold.testing.contract_history import HistoryContract
from everfold.testing.contract_log import LogContract
from everfold.testing.contract_memory import LedgerContract
from everfold.testing.contract_memory_records import MemoryRecordContract
from everfold.testing.contract_overview import OverviewContract
from everfold.testing.contract_sessions import SessionContract
from everfold.testing.contract_usage import UsageContract
from everfold.testing.contract_users import UserContract
from everfold.testing.contract_vectors import VectorContract
from everfold.testing.contract_work import WorkContract


class StoreContract(
    SessionContract,
    UserContract,
    LogContract,
    CompactionContract,
    WorkContract,
    HistoryContract,
    BrowsingContract,
    EraseContract,
    ForgettingContract,
    UsageContract,
    LedgerContract,
    MemoryRecordContract,
    VectorContract,
    AccessContract,
    OverviewContract,
):
    """All that a store holds to. Each test takes a `store` fixture: an empty, open store."""
