"""The methods of a store that overviews are asked by."""

from everfold.adapters.sql import overview
from everfold.adapters.sql.connections import Connections, reads


class SqlOverview(Connections):
    """The overview store's methods; see `everfold.ports.overview.OverviewStore`."""

    count_work = reads(overview.count_work)
    list_agents = reads(overview.list_agents)
    list_unfinished = reads(overview.list_unfinished)
    list_degraded = reads(overview.list_degraded)
    sum_spend = reads(overview.sum_spend)
