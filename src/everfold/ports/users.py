"""Users, and their bindings.

Atomicity and errors are those of `everfold.ports.stores`. A session that is stored for a user whom the store does not
know makes them known, without a name and without a binding.
"""

from typing import Protocol

from everfold.core.access.users import Binding, User
from everfold.core.primitives.ids import UserId


class UserStore(Protocol):
    """One row a user; a binding is of one user, and one user at most is the default one."""

    async def add_user(self, user: User) -> None:
        """Store a user.

        Raises:
            ConflictError: the id exists, a binding is another user's, or there is a default user and this is to be one.
        """
        ...

    async def find_user(self, user_id: UserId) -> User | None:
        """The user with this id."""
        ...

    async def find_bound(self, binding: Binding) -> User | None:
        """The user with this binding."""
        ...

    async def find_default(self) -> User | None:
        """The default user."""
        ...

    async def change_user(self, user: User, *, expected: User) -> None:
        """Replace the display name and the bindings of a user; id, time and who is the default stay.

        Raises:
            ConflictError: the user is not the expected one any more, or a binding is another user's.
        """
        ...

    async def list_users(self, *, after: UserId | None, limit_count: int) -> list[User]:
        """Users in the order in which they became known, after the given one."""
        ...

    async def list_users_named(self, text: str, *, after: UserId | None, limit_count: int) -> list[User]:
        """Users whose display name has this text in it, after the given one: first those whose name begins with it.

        Of each kind in the order in which they became known. Compared as `fold_name` folds both; a text that folds to
        nothing is in every name. O(users), a few milliseconds for ten thousand.
        """
        ...
