"""API keys and known writes in memory."""

from dataclasses import replace
from datetime import datetime
from itertools import islice

from everfold.adapters.inmemory.tables import Tables, TablesHolder
from everfold.core.access.api_keys import ApiKey, ApiKeyId, is_admin, refuse_last_admin
from everfold.core.access.repeats import KeptAnswer, KnownRequest
from everfold.errors import ConflictError, NotFoundError


class InMemoryAccess(TablesHolder):
    """The access store's methods; see `everfold.ports.access.AccessStore`."""

    tells_writes = False

    async def add_api_key(self, key: ApiKey) -> None:
        """Store a key. O(keys)."""
        keys = self._tables.keys
        if key.id in keys:
            raise ConflictError(f"key {key.id} exists already; give the new one an id of its own", key=key.id)
        for other in keys.values():
            if other.secret_hash == key.secret_hash:
                raise ConflictError(f"key {key.id} has the secret of another key; make a new one", key=key.id)
            if other.name == key.name and other.revoked_at is None and key.revoked_at is None:
                raise ConflictError(
                    f"the name {key.name!r} is key {other.id}'s; choose another one, or revoke that key", key=other.id
                )
        keys[key.id] = key

    async def find_api_key(self, secret_hash: str) -> ApiKey | None:
        """The key with this hash of its secret. O(keys)."""
        return next((key for key in self._tables.keys.values() if key.secret_hash == secret_hash), None)

    async def list_api_keys(self, *, after: ApiKeyId | None, limit_count: int) -> list[ApiKey]:
        """API keys in the order in which they were stored, after the given one."""
        keys = iter(self._tables.keys.values())
        if after is not None:
            _get_key(self._tables, after)
            next(key for key in keys if key.id == after)
        return list(islice(keys, limit_count))

    async def revoke_api_key(self, key_id: ApiKeyId, *, revoked_at: datetime, keeps_admin: bool = False) -> ApiKey:
        """End a key, and give it. O(keys)."""
        key = _get_key(self._tables, key_id)
        others = (other for other in self._tables.keys.values() if other.id != key_id)
        if keeps_admin and is_admin(key, revoked_at) and not any(is_admin(other, revoked_at) for other in others):
            raise refuse_last_admin(key)
        revoked = key if key.revoked_at is not None else replace(key, revoked_at=revoked_at)
        self._tables.keys[key_id] = revoked
        return revoked

    async def touch_api_key(self, key_id: ApiKeyId, *, used_at: datetime) -> None:
        """Note when a key was used."""
        key = self._tables.keys.get(key_id)
        if key is not None and (key.last_used_at is None or key.last_used_at < used_at):
            self._tables.keys[key_id] = replace(key, last_used_at=used_at)

    async def begin_request(self, request: KnownRequest, *, kept_since: datetime) -> KnownRequest | None:
        """Take the place of a write, or give who has it. O(places)."""
        tables = self._tables
        tables.requests = {key: one for key, one in tables.requests.items() if one.made_at >= kept_since}
        tables.bodiless &= tables.requests.keys()
        known = tables.requests.get(request.key)
        if known is not None:
            return known
        tables.requests[request.key] = replace(request, answer=None)
        tables.bodiless.discard(request.key)
        return None

    async def finish_request(self, request: KnownRequest, answer: KeptAnswer | None) -> None:
        """Fill the place that a request took with its answer, or give it back."""
        tables = self._tables
        known = tables.requests.get(request.key)
        if known is None or known.made_at != request.made_at or known.answer is not None:
            return
        if answer is None:
            del tables.requests[request.key]
            return
        body = None if request.key in tables.bodiless else answer.body
        tables.requests[request.key] = replace(known, answer=replace(answer, body=body))


def forget_answers(tables: Tables) -> None:
    """Take the bodies of all answers, also of those that are still to come for the places that are taken."""
    for key, known in tables.requests.items():
        if known.answer is None:
            tables.bodiless.add(key)
        else:
            tables.requests[key] = replace(known, answer=replace(known.answer, body=None))


def _get_key(tables: Tables, key_id: ApiKeyId) -> ApiKey:
    key = tables.keys.get(key_id)
    if key is None:
        raise NotFoundError(f"there is no key {key_id!r}; use the id of one that was listed", key=key_id)
    return key
