"""The methods of the SQLite store that overviews are asked by."""

from everfold.adapters.sqlite import overview
from everfold.adapters.sqlite.connections import Connections, reads


class SqliteOverview(Connections):
    """The overview store's methods; see `everfold.ports.overview.OverviewStore`."""

    count_work = reads(overview.count_work)
    list_agents = reads(overview.list_agents)
    list_unfinished = reads(overview.list_unfinished)
    list_degraded = reads(overview.list_degraded)
    sum_spend = reads(overview.sum_spend)
