"""Users: find whom a text names, make them where they are new, and keep the users of the settings."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from everfold.core.access.users import (
    DEFAULT_NAME,
    NAME_CHANNEL,
    Binding,
    User,
    UserEntry,
    UserReference,
    bind_name,
    join_bindings,
    parse_user_reference,
)
from everfold.core.primitives.ids import UserId, require_short
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.telling.tries import Tries

_NAMESPACE = UUID("3f0f6a52-3c51-5f0e-9a3c-6d5d0c6f2b11")
"""Makes a UUID of an id of ours. Source: RFC 9562, section 5.5; a random one, fixed."""

MOST_KNOWN = 10_000
"""How many names an engine remembers the users of, before it begins anew."""


@dataclass(slots=True, kw_only=True)
class Users:
    """The users of one store.

    Whom a name means never changes: names are bound to users and not taken away. So what was found once is remembered,
    and a user who was resolved before costs no query.
    """

    store: Store
    clock: Clock
    ids: Ids
    _known: dict[str, UserId] = field(default_factory=dict, init=False)
    _proposed: dict[str, UserId] = field(default_factory=dict, init=False)

    async def ensure_id(self, text: str) -> UserId:
        """The id of whom a text names; the default user and an unknown name are stored first.

        A UUID is taken as it is: its user is stored with their first session.

        Raises:
            InvalidInputError: the text names no user; see `parse_user_reference`.
        """
        reference = parse_user_reference(text)
        return self._read_known(reference) or self._remember(text, await self._ensure(reference))

    async def propose_id(self, text: str) -> UserId:
        """The id of whom a text names, or the one that `ensure_id` will store them under; nothing is stored.

        Raises:
            InvalidInputError: the text names no user; see `parse_user_reference`.
        """
        if (found := await self.find_id(text)) is not None:
            return found
        name = parse_user_reference(text).text
        return self._proposed.get(name) or self._proposed.setdefault(name, self._new_id())

    async def find_id(self, text: str) -> UserId | None:
        """The id of whom a text names, or None where no user has that name; nothing is stored.

        Raises:
            InvalidInputError: the text names no user; see `parse_user_reference`.
        """
        reference = parse_user_reference(text)
        if (known := self._read_known(reference)) is not None:
            return known
        user = await self._find(reference)
        return None if user is None else self._remember(text, user)

    def _read_known(self, reference: UserReference) -> UserId | None:
        return UserId(reference.text) if reference.kind == "id" else self._known.get(reference.text)

    async def read_id(self, user: str) -> UserId:
        """The id of the user whom a text names; a text that names no user is taken for an id, which no user has."""
        return await self.find_id(user) or UserId(user)

    async def get(self, text: str) -> User:
        """The user whom a text names. The default user is always there: stored when asked for first.

        Raises:
            InvalidInputError: the text names no user; see `parse_user_reference`.
            NotFoundError: no user has that name or id.
        """
        reference = parse_user_reference(text)
        user = await (self._ensure if reference.kind == "default" else self._find)(reference)
        if user is None:
            raise NotFoundError(f"there is no user {text!r}; `everfold users` lists them", user=text)
        return user

    async def add(self, name: str, bindings: Sequence[Binding]) -> User:
        """Store a new user, who is reached by their name and the bindings.

        Raises:
            InvalidInputError: the name or a binding cannot be one.
            ConflictError: the name or a binding is another user's.
        """
        wanted = join_bindings([bind_name(name)], bindings)
        tries = Tries(f"user {name[:60]!r}")
        while True:
            await tries.begin()
            await self._check_new(wanted, None)
            user = self._new_user(name, wanted)
            with suppress(ConflictError):  # another writer was first: look again
                await self.store.add_user(user)
                return user

    async def list_page(self, named: str, *, after: UserId | None, limit_count: int) -> list[User]:
        """Users in the order in which they became known; with a text see `UserStore.list_users_named`.

        Raises:
            NotFoundError: no user has the id `after`.
        """
        if any("\ud800" <= character <= "\udfff" for character in named):
            return []  # no name holds half of a character
        if not named:
            return await self.store.list_users(after=after, limit_count=limit_count)
        return await self.store.list_users_named(named, after=after, limit_count=limit_count)

    async def change(
        self,
        text: str,
        *,
        name: str | None,
        bindings: Sequence[Binding] | None,
        expected_version: str | None = None,
    ) -> User:
        """Change the display name or the bindings of a user, or both; None leaves them.

        The new name is bound to them too. The names that they had stay theirs: whom a name means never changes.

        Raises:
            InvalidInputError: the text names no user, or the name or a binding cannot be one.
            NotFoundError: no user has that name or id.
            ConflictError: the name or a binding is another user's, or the user is at another version than expected.
        """
        tries = Tries(f"user {text[:60]!r}")
        while True:
            await tries.begin()
            user = await self.get(text)
            if expected_version not in (None, user.version):
                raise ConflictError(
                    f"user {user.id} was changed elsewhere and is now {user.shown_name!r}; read the user again, then decide",
                    user=user.id,
                )
            held = user.bindings if bindings is None else (*bindings, *_names_of(user))
            names = [] if name is None or (user.is_default and name == DEFAULT_NAME) else [bind_name(name)]
            changed = replace(user, name=user.name if name is None else name, bindings=join_bindings(held, names))
            if await self._change(user, changed):
                return changed

    async def apply(self, entries: Sequence[UserEntry]) -> None:
        """Have the users of the settings in the store; see `plan_users`. What is so already is left as it is.

        Raises:
            ConflictError: a name or a binding is another user's.
        """
        for entry in entries:
            tries = Tries(f"user {entry.name[:60]!r}")
            await tries.begin()
            while not await self._apply(entry):
                await tries.begin()

    async def _apply(self, entry: UserEntry) -> bool:
        """Whether a user of the settings is in the store; False where another writer was first."""
        if entry.is_default:
            user = await self._ensure(UserReference(kind="default", text=DEFAULT_NAME))
        else:
            user = await self._ensure(UserReference(kind="name", text=entry.name))
        name = entry.name if entry.is_default or not user.name else user.name
        return await self._change(user, replace(user, name=name, bindings=join_bindings(user.bindings, entry.bindings)))

    async def _find(self, reference: UserReference) -> User | None:
        match reference.kind:
            case "default":
                return await self.store.find_default()
            case "id":
                return await self.store.find_user(UserId(reference.text))
            case "name":
                return await self.store.find_bound(bind_name(reference.text))

    def _remember(self, text: str, user: User) -> UserId:
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[text] = user.id
        return user.id

    async def _ensure(self, reference: UserReference) -> User:
        """The user of `default` or of a name, stored where there was none: by this writer or another one."""
        is_default = reference.kind == "default"
        tries = Tries(f"user {reference.text[:60]!r}")
        while True:
            await tries.begin()
            user = await self._find(reference)
            if user is not None:
                return user
            bindings = () if is_default else (bind_name(reference.text),)
            user = self._new_user(reference.text, bindings, is_default=is_default)
            with suppress(ConflictError):
                await self.store.add_user(user)
                return user

    def _new_id(self) -> UserId:
        return UserId(str(uuid5(_NAMESPACE, self.ids.new_id("usr_"))))

    def _new_user(self, name: str, bindings: tuple[Binding, ...], *, is_default: bool = False) -> User:
        return User(
            id=self._proposed.pop(name) if name in self._proposed else self._new_id(),
            name=name,
            bindings=bindings,
            is_default=is_default,
            created_at=self.clock.now(),
        )

    async def _change(self, user: User, changed: User) -> bool:
        """Whether a user is now as wanted; False where another writer was first."""
        if changed == user:
            return True
        await self._check_new(set(changed.bindings) - set(user.bindings), user)
        try:
            await self.store.change_user(changed, expected=user)
        except ConflictError:
            return False
        return True

    async def _check_new(self, bindings: Collection[Binding], user: User | None) -> None:
        """Refuse bindings that not every store holds, or that another user has."""
        for binding in sorted(bindings):
            require_short(binding.channel, "channel")
            require_short(binding.own_id, "binding")
            bound = await self.store.find_bound(binding)
            if bound is not None and (user is None or bound.id != user.id):
                raise ConflictError(
                    f"{binding} is bound to user {bound.id} ({bound.shown_name}) already; choose another one, or "
                    "remove it from that user first",
                    user=bound.id,
                )


def _names_of(user: User) -> list[Binding]:
    return [binding for binding in user.bindings if binding.channel == NAME_CHANNEL]
