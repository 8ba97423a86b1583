"""The methods of a store that overviews are asked by."""

from everfold.adapters.sql import activity, overview
from everfold.adapters.sql.connections import Connections, notes, reads


class SqlOverview(Connections):
    """The methods of `everfold.ports.overview.OverviewStore` and `everfold.ports.activity.ActivityStore`."""

    count_work = reads(overview.count_work)
    list_agents = reads(overview.list_agents)
    list_unfinished = reads(overview.list_unfinished)
    list_degraded = reads(overview.list_degraded)
    sum_spend = reads(overview.sum_spend)

    add_activity = notes(activity.add_activity)
    list_activity = reads(activity.list_activity)
    sum_activity = reads(activity.sum_activity)
