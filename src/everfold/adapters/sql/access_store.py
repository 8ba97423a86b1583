"""The methods of a store that keys and known writes are reached by."""

from everfold.adapters.sql import access
from everfold.adapters.sql.connections import Connections, notes, reads, writes


class SqlAccess(Connections):
    """The access store's methods; see `everfold.ports.access.AccessStore`."""

    tells_writes = True

    add_api_key = writes(access.add_api_key)
    find_api_key = reads(access.find_api_key)
    list_api_keys = reads(access.list_api_keys)
    revoke_api_key = writes(access.revoke_api_key)
    touch_api_key = notes(access.touch_api_key)
    begin_request = notes(access.begin_request)
    finish_request = notes(access.finish_request)
