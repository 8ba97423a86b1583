"""Users in SQL. Each function is one call of the port, inside the transaction that the store opened."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import cast

from everfold.adapters.sql.codec import from_micros, to_micros
from everfold.adapters.sql.database import Database, Row
from everfold.adapters.sql.listing import find_settled_key
from everfold.core.access.users import Binding, User, fold_name, join_bindings
from everfold.core.primitives.ids import UserId
from everfold.errors import ConflictError, NotFoundError


def add_user(database: Database, user: User) -> None:
    """See `UserStore.add_user`."""
    if find_user(database, user.id) is not None:
        raise ConflictError(f"user {user.id} exists already; give the new one an id of its own", user=user.id)
    if user.is_default and (default := find_default(database)) is not None:
        raise ConflictError(f"user {default.id} is already the default user; a store has only one", user=default.id)
    database.run(
        "add_user",
        user_id=user.id,
        display_name=user.name,
        folded=fold_name(user.name),
        is_default=int(user.is_default),
        created_at=to_micros(user.created_at),
    )
    _bind(database, user)


def _bind(database: Database, user: User) -> None:
    for binding in user.bindings:
        bound = find_bound(database, binding)
        if bound is not None:
            raise ConflictError(f"{binding} already belongs to user {bound.id}", user=bound.id)
        database.run("bind_user", user_id=user.id, channel=binding.channel, own_id=binding.own_id)


def find_user(database: Database, user_id: UserId) -> User | None:
    """See `UserStore.find_user`."""
    return _find_one(database.rows("find_user_row", user_id=user_id))


def find_bound(database: Database, binding: Binding) -> User | None:
    """See `UserStore.find_bound`."""
    return _find_one(database.rows("find_bound_user", channel=binding.channel, own_id=binding.own_id))


def find_default(database: Database) -> User | None:
    """See `UserStore.find_default`."""
    return _find_one(database.rows("find_default_user"))


def change_user(database: Database, user: User, *, expected: User) -> None:
    """See `UserStore.change_user`."""
    row = database.row("find_user", user_id=user.id)
    if row is not None:
        database.lock_user(cast("int", row[0]))
    found = find_user(database, user.id)
    if found is None:
        raise NotFoundError(f"there is no user {user.id!r}; `everfold users` lists them", user=user.id)
    if found != expected:
        raise ConflictError(f"user {user.id} has changed since it was read; read it again", user=user.id)
    database.run("rename_user", user_id=user.id, display_name=user.name, folded=fold_name(user.name))
    database.run("unbind_user", user_id=user.id)
    _bind(database, user)


def list_users(database: Database, *, after: UserId | None, limit_count: int) -> list[User]:
    """See `UserStore.list_users`."""
    after_key, last_key = _find_place(database, after), find_settled_key(database, "users")
    return _read_users(database.rows("list_users", after=after_key, last_key=last_key, limit_count=limit_count))


def list_users_named(database: Database, text: str, *, after: UserId | None, limit_count: int) -> list[User]:
    """See `UserStore.list_users_named`."""
    after_key, last_key = _find_place(database, after), find_settled_key(database, "users")
    folded = fold_name(text)
    return _read_users(
        database.rows("list_users_named", folded=folded, after=after_key, last_key=last_key, limit_count=limit_count)
    )


def _find_place(database: Database, after: UserId | None) -> int:
    """The key of the last user of the page before; 0 before the first page."""
    if after is None:
        return 0
    row = database.row("find_user", user_id=after)
    if row is None:
        raise NotFoundError(f"there is no user {after!r}; use one that was listed", user=after)
    return cast("int", row[0])


def _find_one(rows: Sequence[Row]) -> User | None:
    return next(iter(_read_users(rows)), None)


def _read_users(rows: Sequence[Row]) -> list[User]:
    """The users of rows with one binding each, in the order of the rows."""
    return [_read_user(row, bound) for row, bound in groupby(rows, key=lambda row: row[:4])]


def _read_user(row: Row, bound: Iterable[Row]) -> User:
    id_, name, is_default, created_at = row
    pairs = [cast("tuple[str, str]", one[4:]) for one in bound if one[4] is not None]
    return User(
        id=UserId(cast("str", id_)),
        name=cast("str", name),
        bindings=join_bindings(Binding(channel=channel, own_id=own_id) for channel, own_id in pairs),
        is_default=bool(is_default),
        created_at=from_micros(created_at),
    )
