"""The methods of the SQLite store that keys and known writes are reached by."""

from datetime import datetime

from everfold.adapters.sqlite import access
from everfold.adapters.sqlite.lanes import Lanes
from everfold.core.access import AccessKey, KeyId
from everfold.core.repeats import KeptAnswer, KnownRequest


class SqliteAccess(Lanes):
    """The access store's methods; see `everfold.ports.access.AccessStore`."""

    async def add_key(self, key: AccessKey) -> None:
        """See the port."""
        await self._write(access.add_key, key)

    async def find_key(self, secret_hash: str) -> AccessKey | None:
        """See the port."""
        return await self._read(access.find_key, secret_hash)

    async def list_keys(self, *, after: KeyId | None, limit_count: int) -> list[AccessKey]:
        """See the port."""
        return await self._read(access.list_keys, after, limit_count)

    async def revoke_key(self, key_id: KeyId, *, revoked_at: datetime, keeps_admin: bool = False) -> AccessKey:
        """See the port."""
        return await self._write(access.revoke_key, key_id, revoked_at, keeps_admin)

    async def touch_key(self, key_id: KeyId, *, used_at: datetime) -> None:
        """See the port."""
        await self._write(access.touch_key, key_id, used_at)

    async def begin_request(
        self, request: KnownRequest, *, kept_since: datetime, running_since: datetime
    ) -> KnownRequest | None:
        """See the port."""
        return await self._write(access.begin_request, request, kept_since, running_since)

    async def finish_request(self, request: KnownRequest, answer: KeptAnswer | None) -> None:
        """See the port."""
        await self._write(access.finish_request, request, answer)
