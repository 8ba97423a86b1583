"""Users in memory."""

from itertools import islice

from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.core.sessions import UserId
from everfold.core.users import Binding, User
from everfold.errors import ConflictError, NotFoundError


class InMemoryUsers(TablesHolder):
    """The user store's methods; see `everfold.ports.users.UserStore`."""

    async def add_user(self, user: User) -> None:
        """Store a user."""
        tables = self._tables
        if user.id in tables.users:
            raise ConflictError(f"user {user.id} exists already; give the new one an id of its own", user=user.id)
        if user.is_default and (default := _find_default(tables)) is not None:
            raise ConflictError(f"user {default.id} is the default user already; there is one", user=default.id)
        _check_bindings(tables, user)
        tables.users[user.id] = user

    async def find_user(self, user_id: UserId) -> User | None:
        """The user with this id."""
        return self._tables.users.get(user_id)

    async def find_bound(self, binding: Binding) -> User | None:
        """The user who is reached there. O(users)."""
        return _find_bound(self._tables, binding)

    async def find_default(self) -> User | None:
        """The default user. O(users)."""
        return _find_default(self._tables)

    async def change_user(self, user: User, *, expected: User) -> None:
        """Replace the display name and the bindings of a user."""
        tables = self._tables
        found = tables.users.get(user.id)
        if found is None:
            raise NotFoundError(f"there is no user {user.id!r}; use the id of one that was listed", user=user.id)
        if found != expected:
            raise ConflictError(f"user {user.id} was changed by someone else meanwhile; read them again", user=user.id)
        _check_bindings(tables, user)
        tables.users[user.id] = User(
            id=found.id,
            name=user.name,
            bindings=user.bindings,
            is_default=found.is_default,
            created_at=found.created_at,
        )

    async def list_users(self, *, after: UserId | None, limit_count: int) -> list[User]:
        """Users in the order in which they became known, after the given one."""
        users = iter(self._tables.users.values())
        if after is not None:
            if after not in self._tables.users:
                raise NotFoundError(f"there is no user {after!r}; use one that was listed", user=after)
            next(user for user in users if user.id == after)
        return list(islice(users, limit_count))


def _find_default(tables: Tables) -> User | None:
    return next((user for user in tables.users.values() if user.is_default), None)


def _find_bound(tables: Tables, binding: Binding) -> User | None:
    return next((user for user in tables.users.values() if binding in user.bindings), None)


def _check_bindings(tables: Tables, user: User) -> None:
    for binding in user.bindings:
        bound = _find_bound(tables, binding)
        if bound is not None and bound.id != user.id:
            raise ConflictError(f"{binding} is user {bound.id}'s; one binding is of one user", user=bound.id)
