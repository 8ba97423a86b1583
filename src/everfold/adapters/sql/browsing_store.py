"""The methods of a store that lists and pictures are made of."""

from everfold.adapters.sql import browsing
from everfold.adapters.sql.connections import Connections, reads, reads_placed


class SqlBrowsing(Connections):
    """The browsing store's methods; see `everfold.ports.browsing.BrowsingStore`."""

    list_newest_sessions = reads(browsing.list_newest_sessions)
    read_figures = reads(browsing.read_figures)
    read_ends = reads_placed(browsing.read_ends)
    list_refreshes = reads_placed(browsing.list_refreshes)
    list_erased = reads_placed(browsing.list_erased)
    find_revision = reads(browsing.find_revision)
