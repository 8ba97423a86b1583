"""Leases in SQL, by the time of the database. Each function is one call of the port, inside the store's transaction."""

from typing import cast

from everfold.adapters.sql.codec import to_duration
from everfold.adapters.sql.database import Database, SqlValue
from everfold.adapters.sql.owners import find_user_key, get_user_key
from everfold.ports.leases import LeaseName


def claim_lease(database: Database, name: LeaseName, *, holder: str, secs: float) -> bool:
    """See `LeaseStore.claim_lease`."""
    return _run(database, "claim_lease", name, holder=holder, duration=to_duration(secs)) > 0


def renew_lease(database: Database, name: LeaseName, *, holder: str, secs: float) -> bool:
    """See `LeaseStore.renew_lease`."""
    return _run(database, "renew_lease", name, holder=holder, duration=to_duration(secs)) > 0


def find_holder(database: Database, name: LeaseName) -> str | None:
    """See `LeaseStore.find_holder`."""
    user_key = find_user_key(database, name.user_id)
    row = database.row("find_holder", user_key=user_key, work=name.work, about=name.about)
    return None if row is None else cast("str", row[0])


def release_lease(database: Database, name: LeaseName, *, holder: str) -> None:
    """See `LeaseStore.release_lease`."""
    _run(database, "release_lease", name, holder=holder)


def _run(database: Database, query: str, name: LeaseName, **values: SqlValue) -> int:
    user_key = get_user_key(database, name.user_id)
    return database.run(query, user_key=user_key, work=name.work, about=name.about, **values)
