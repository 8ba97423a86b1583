"""Access: API keys, and writes that are carried out once.

Atomicity and errors are those of `everfold.ports.stores`. An API key is never deleted. Every erase removes the
bodies of all kept answers, and of answers that are stored later for requests begun before it.
"""

from datetime import datetime
from typing import Protocol

from everfold.core.access.api_keys import ApiKey, ApiKeyId
from everfold.core.access.repeats import KeptAnswer, KnownRequest


class AccessStore(Protocol):
    """One row an API key, found by the hash of its secret; one place a write, found by API key and idempotency key.

    Attributes:
        tells_writes: Whether every method of the store that writes reports it; see `everfold.ports.writing`.
    """

    @property
    def tells_writes(self) -> bool:
        """See the class."""
        ...

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
        """Revoke an API key, and give it. A revoked one stays as it is. Its name can be used again.

        Args:
            key_id: Which.
            revoked_at: When.
            keeps_admin: Refuse to revoke the last working API key of the scope admin.

        Raises:
            ConflictError: it is that last one; nothing was changed.
        """
        ...

    async def touch_api_key(self, key_id: ApiKeyId, *, used_at: datetime) -> None:
        """Note when a key was used. An earlier time than the one that is there, and an unknown key, change nothing."""
        ...

    async def begin_request(self, request: KnownRequest, *, kept_since: datetime) -> KnownRequest | None:
        """Take the place of a write and give None; if it is taken, change nothing and give the request that has it.

        Places taken before `kept_since` are removed first, those of other API keys too.
        """
        ...

    async def finish_request(self, request: KnownRequest, answer: KeptAnswer | None) -> None:
        """Fill the place that a request took with its answer; without an answer, give it back.

        Changes nothing if another request has the place by now (its `made_at` differs), or has an answer.
        """
        ...
