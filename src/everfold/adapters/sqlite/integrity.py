"""The check of a whole file."""

from typing import cast

from everfold.adapters.sqlite.connection import CHECK_SECS, Database

_PROBLEMS_COUNT = 20
"""How many problems of a kind a check names."""


def check_integrity(database: Database) -> list[str]:
    """See `HistoryStore.check_integrity`."""
    with database.bounded(CHECK_SECS), database.snapshot():
        database.row("touch_message_index")
        database.row("touch_item_index")
        rows = database.connection.execute("PRAGMA integrity_check(20)").fetchall()
        unindexed = cast("list[tuple[str, int]]", database.rows("find_unindexed", limit_count=_PROBLEMS_COUNT))
        ((surplus,),) = cast("list[tuple[int]]", database.rows("count_indexed_nothing"))
    problems = [str(row[0]) for row in rows if row[0] != "ok"]
    problems += [f"session {id_}: message {seq} is missing in the search index" for id_, seq in unindexed]
    return [*problems, f"the search index has {surplus} rows of no message"] if surplus else problems
