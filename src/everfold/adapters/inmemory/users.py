"""Users in memory."""

from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.core.access.users import Binding, User, fold_name
from everfold.core.primitives.ids import UserId
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
        return _take_page(list(self._tables.users.values()), self._find_last(after), limit_count)

    async def list_users_named(self, text: str, *, after: UserId | None, limit_count: int) -> list[User]:
        """Users whose display name has this text in it, after the given one: first those whose name begins with it."""
        last, folded = self._find_last(after), fold_name(text)
        begin = [user for user in self._tables.users.values() if fold_name(user.name).startswith(folded)]
        inside = [user for user in self._tables.users.values() if folded in fold_name(user.name)]
        return _take_page([*begin, *(user for user in inside if user not in begin)], last, limit_count)

    def _find_last(self, after: UserId | None) -> User | None:
        if after is not None and after not in self._tables.users:
            raise NotFoundError(f"there is no user {after!r}; use one that was listed", user=after)
        return None if after is None else self._tables.users[after]


def _take_page(users: list[User], last: User | None, limit_count: int) -> list[User]:
    """The users behind the last one of the page before."""
    first = users.index(last) + 1 if last in users else 0
    return users[first : first + limit_count]


def _find_default(tables: Tables) -> User | None:
    return next((user for user in tables.users.values() if user.is_default), None)


def _find_bound(tables: Tables, binding: Binding) -> User | None:
    return next((user for user in tables.users.values() if binding in user.bindings), None)


def _check_bindings(tables: Tables, user: User) -> None:
    for binding in user.bindings:
        bound = _find_bound(tables, binding)
        if bound is not None and bound.id != user.id:
            raise ConflictError(f"{binding} is user {bound.id}'s; one binding is of one user", user=bound.id)
