"""Access: the keys that open a server, and the writes that are carried out once.

Atomicity and errors are those of `everfold.ports.stores`. A key is never deleted. An erase of anything takes the bodies
of all kept answers, and of those that are still to come for the places that are taken.
"""

from datetime import datetime
from typing import Protocol

from everfold.core.access.api_keys import ApiKey, ApiKeyId
from everfold.core.access.repeats import KeptAnswer, KnownRequest


class AccessStore(Protocol):
    """One row a key, found by the hash of its secret; one place a write, found by who calls it what."""

    async def add_api_key(self, key: ApiKey) -> None:
        """Store a key.

        Raises:
            ConflictError: the id or the hash exists, or a key that is not revoked has the name.
        """
        ...

    async def find_api_key(self, secret_hash: str) -> ApiKey | None:
        """The key with this hash of its secret, expired and revoked ones too."""
        ...

    async def list_api_keys(self, *, after: ApiKeyId | None, limit_count: int) -> list[ApiKey]:
        """API keys in the order in which they were stored, after the given one."""
        ...

    async def revoke_api_key(self, key_id: ApiKeyId, *, revoked_at: datetime, keeps_admin: bool = False) -> ApiKey:
        """End a key, and give it. One that is revoked already stays as it is. Its name is free.

        Args:
            key_id: Which.
            revoked_at: When.
            keeps_admin: Not where it works then and may do everything, and no other key does.

        Raises:
            ConflictError: it is that last one; nothing was changed.
        """
        ...

    async def touch_api_key(self, key_id: ApiKeyId, *, used_at: datetime) -> None:
        """Note when a key was used. An earlier time than the one that is there, and an unknown key, change nothing."""
        ...

    async def begin_request(
        self, request: KnownRequest, *, kept_since: datetime, running_since: datetime
    ) -> KnownRequest | None:
        """Take the place of a write and give None; where it is taken, change nothing and give who has it.

        Places taken before `kept_since` are removed first, whoever's they are; one taken before `running_since` that
        has no answer is taken over.
        """
        ...

    async def finish_request(self, request: KnownRequest, answer: KeptAnswer | None) -> None:
        """Fill the place that a request took with its answer; without an answer, give it back.

        Changes nothing where the place is another's by now (its `made_at` differs), or has an answer.
        """
        ...
