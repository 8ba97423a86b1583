"""API keys: make them, check who holds one, list and revoke them, and see that a new store has one."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Final

from everfold.core.access.api_keys import (
    ADMIN,
    KEY_PREFIX,
    ApiKey,
    ApiKeyId,
    Scope,
    hash_secret,
    is_admin,
    judge,
    parse_scope,
    require_name,
)
from everfold.core.primitives.ids import parse_agent
from everfold.core.primitives.listing import require_page_size
from everfold.core.primitives.moments import require_aware
from everfold.errors import ConflictError, InvalidInputError, NotFoundError, StoreUnavailableError, UnauthenticatedError
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids, Secrets
from everfold.services.access.users import Users
from everfold.services.check_arguments import checked

FIRST_NAME: Final = "first"
"""The name of the key that a new store begins with."""

TOUCH_SECS: Final = 60
"""How often the last use of a key is written at most, so that a read costs no write. Source: own choice."""

MOST_TOUCHED: Final = 10_000
"""How many keys' last uses are remembered, before it is begun anew."""

_PAGE_COUNT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeApiKey:
    """A new API key with its secret, which is stored nowhere: this is the only time that it is seen."""

    secret: str = field(repr=False)
    api_key: ApiKey


@checked
@dataclass(slots=True, kw_only=True)
class ApiKeys:
    """The keys of one store."""

    store: Store
    clock: Clock
    ids: Ids
    secrets: Secrets
    users: Users
    _touched: dict[ApiKeyId, datetime] = field(default_factory=dict, init=False)

    async def make(
        self,
        name: str,
        scope: Scope | str = ADMIN,
        *,
        is_read_only: bool = False,
        expires_at: datetime | None = None,
        lifetime: timedelta | None = None,
    ) -> MadeApiKey:
        """A new key. A user of the scope may be named by name, by `default`, or by id; the key has the id.

        Args:
            name: What people call it.
            scope: `admin`, `user:NAME`, `agent:NAME`, or a scope.
            is_read_only: It changes nothing; a scope that says so already stays so.
            expires_at: From when on it is refused; aware, and still to come.
            lifetime: The same, from now on; one of both at most. Never when both are left out.

        Raises:
            InvalidInputError: the name, the scope or the expiry cannot be one.
            NotFoundError: no user has the name of the scope.
            ConflictError: a key that is not revoked has the name.
        """
        now = self.clock.now()
        made = scope if isinstance(scope, Scope) else parse_scope(scope)
        key = ApiKey(
            id=ApiKeyId(self.ids.new_id(KEY_PREFIX)),
            name=require_name(name),
            scope=await self._resolve(replace(made, is_read_only=made.is_read_only or is_read_only)),
            secret_hash="",
            created_at=now,
            expires_at=_choose_expiry(now, expires_at, lifetime),
        )
        return await self._store(key)

    async def check(self, secret: str) -> ApiKey:
        """The key that a secret is of, now. Costs one read, and once a minute a write.

        Raises:
            UnauthenticatedError: no key has this secret, or the key is expired or revoked.
        """
        return await self._check(hash_secret(secret))

    async def list_api_keys(self, *, after: str | None = None, limit: int = 100) -> list[ApiKey]:
        """API keys in the order of their making, revoked and expired ones too; `after` is the last id of the page before.

        Raises:
            NotFoundError: no key has the id `after`.
        """
        last = None if after is None else ApiKeyId(after)
        return await self.store.list_api_keys(after=last, limit_count=require_page_size(limit))

    async def get(self, text: str) -> ApiKey:
        """The key with this id, or the one with this name that is not revoked. O(keys).

        Raises:
            NotFoundError: there is none.
        """
        async for key in self._walk():
            if key.id == text or (key.name == text and key.revoked_at is None):
                return key
        raise NotFoundError(f"No working API key {text!r}. `everfold api-keys list` lists them.", api_key=text)

    async def revoke(self, text: str, *, even_last: bool = False) -> ApiKey:
        """End the key with this id or name, at once and for ever. One that is revoked already stays as it is.

        Args:
            text: Its id or its name.
            even_last: Also the last key that works and may do everything; a server makes another when it begins anew.

        Raises:
            NotFoundError: there is none.
            ConflictError: it is the last key that works and may do everything.
        """
        key = await self.get(text)
        return await self.store.revoke_api_key(key.id, revoked_at=self.clock.now(), keeps_admin=not even_last)

    async def ensure_first(self) -> MadeApiKey | None:
        """A new admin key where none works that may write; None where there is one. Two at once make one."""
        for at in count(1):
            if await self._has_admin():
                return None
            with suppress(ConflictError):  # the name is taken: by another process just now, or by a key of less power
                return await self.make(FIRST_NAME if at == 1 else f"{FIRST_NAME}-{at}", ADMIN)
        raise AssertionError("unreachable: the numbers do not end")

    async def _store(self, key: ApiKey) -> MadeApiKey:
        secret = self.secrets.new_secret()
        key = replace(key, secret_hash=hash_secret(secret))
        await self.store.add_api_key(key)
        return MadeApiKey(secret=secret, api_key=key)

    async def _resolve(self, scope: Scope) -> Scope:
        """The scope with the id of the user whom it names, or with the agent if its name can be one."""
        match scope.kind:
            case "admin":
                return scope
            case "agent":
                return replace(scope, name=parse_agent(scope.name))
            case "user":
                user_id = await self.users.find_id(scope.name) or (await self.users.get(scope.name)).id
                return replace(scope, name=user_id)

    async def _check(self, secret_hash: str) -> ApiKey:
        now = self.clock.now()
        key = await self.store.find_api_key(secret_hash)
        if key is None:
            raise UnauthenticatedError("Invalid API key. `everfold api-keys add` creates one.")
        match judge(key, now):
            case "revoked":
                raise UnauthenticatedError(f"API key {key.name!r} was revoked. Ask for another one.", api_key=key.id)
            case "expired":
                raise UnauthenticatedError(
                    f"API key {key.name!r} expired at {key.expires_at:%Y-%m-%d %H:%M} UTC. Ask for another one.",
                    api_key=key.id,
                )
            case None:
                return await self._touch(key, now)

    async def _touch(self, key: ApiKey, now: datetime) -> ApiKey:
        """Write the use, at most once a minute; a store that cannot write now does not keep its readers out."""
        touched = self._touched.get(key.id, key.last_used_at)
        if touched is not None and now - touched < timedelta(seconds=TOUCH_SECS):
            return key
        if len(self._touched) >= MOST_TOUCHED:
            self._touched.clear()
        self._touched[key.id] = now  # before waiting, so that requests at once write once
        with suppress(StoreUnavailableError):
            await self.store.touch_api_key(key.id, used_at=now)
        return replace(key, last_used_at=now)

    async def _has_admin(self) -> bool:
        now = self.clock.now()
        async for key in self._walk():
            if is_admin(key, now):
                return True
        return False

    async def _walk(self) -> AsyncIterator[ApiKey]:
        after: ApiKeyId | None = None
        while page := await self.store.list_api_keys(after=after, limit_count=_PAGE_COUNT):
            for key in page:
                yield key
            after = page[-1].id


def _choose_expiry(now: datetime, expires_at: datetime | None, lifetime: timedelta | None) -> datetime | None:
    if expires_at is not None and lifetime is not None:
        raise InvalidInputError("An API key has an expiry or a lifetime. Give one of them.")
    require_aware("expires_at", expires_at)
    if expires_at is None and lifetime is None:
        return None
    try:
        chosen = expires_at if lifetime is None else now + lifetime
    except OverflowError as error:
        raise InvalidInputError(f"The lifetime of an API key is too long: {lifetime}.") from error
    if chosen is None or chosen <= now:
        raise InvalidInputError(f"An API key must expire after now ({now:%Y-%m-%d %H:%M} UTC), got {chosen}.")
    return chosen
