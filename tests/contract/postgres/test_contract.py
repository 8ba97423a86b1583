"""The PostgreSQL store holds to the contract."""

from everfold.testing.contract.access import AccessContract
from everfold.testing.contract.activity import ActivityContract
from everfold.testing.contract.browsing import BrowsingContract
from everfold.testing.contract.compaction import CompactionContract
from everfold.testing.contract.erase import EraseContract
from everfold.testing.contract.forgetting import ForgettingContract
from everfold.testing.contract.history import HistoryContract
from everfold.testing.contract.leases import LeaseContract
from everfold.testing.contract.log import LogContract
from everfold.testing.contract.memory import ItemContract
from everfold.testing.contract.memory_records import MemoryRecordContract
from everfold.testing.contract.overview import OverviewContract
from everfold.testing.contract.sessions import SessionContract
from everfold.testing.contract.transitions import TransitionContract
from everfold.testing.contract.usage import UsageContract
from everfold.testing.contract.users import UserContract
from everfold.testing.contract.vectors import VectorContract
from everfold.testing.contract.work import WorkContract


class TestPostgresStore(
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
    AccessContract,
    OverviewContract,
    VectorContract,
    ActivityContract,
):
    """Runs the contract over a server of the tests' own."""
