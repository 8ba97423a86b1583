"""How far a list that goes on behind a key may be read, where rows are committed in another order than their keys were drawn."""

from typing import Literal, TypeAlias, cast

from everfold.adapters.sql.database import Database

Listed: TypeAlias = Literal["sessions", "users", "model_calls", "api_keys"]
"""The tables that are listed over all users. Writes of one user wait for each other, so a list of theirs needs none of this."""


def find_settled_key(database: Database, listed: Listed) -> int:
    """The highest key of a table up to which no row can appear any more. To be asked before the rows are read."""
    [(key,)] = database.rows("find_settled_key", listed=listed)
    return cast("int", key)
