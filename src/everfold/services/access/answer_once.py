"""Writes that clients may repeat: each is carried out once and answered the same way every time."""

from dataclasses import dataclass

from everfold.core.access.api_keys import ApiKeyId
from everfold.core.access.repeats import (
    IdempotencyKey,
    KeptAnswer,
    KnownRequest,
    answer_again,
    kept_since,
    require_idempotency_key,
)
from everfold.ports.access import AccessStore
from everfold.ports.system import Clock
from everfold.ports.writing import Written
from everfold.services.check_arguments import checked


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """The writes that carried a key, of one store. See `everfold.core.access.repeats`.

    A server begins a write, carries it out, and finishes it with its answer; or gives it up when it failed and nothing
    was written, so that the repeat is carried out.
    """

    store: AccessStore
    clock: Clock

    async def begin(self, key_id: ApiKeyId, idempotency_key: str, request_hash: str) -> KnownRequest | KeptAnswer:
        """Take the place of a write, to be finished or given up; or the answer that it had before.

        Raises:
            InvalidInputError: the key has another form, or was sent with another request.
            ConflictError: the same write is being carried out.
            OutcomeUnknownError: the same write never ended.
        """
        now = self.clock.now()
        request = KnownRequest(
            key=IdempotencyKey(key_id, require_idempotency_key(idempotency_key)), request_hash=request_hash, made_at=now
        )
        known = await self.store.begin_request(request, kept_since=kept_since(now))
        return request if known is None else answer_again(known, request_hash, now)

    async def finish(self, request: KnownRequest, answer: KeptAnswer) -> None:
        """Keep what the write was answered with."""
        await self.store.finish_request(request, answer)

    async def give_up(self, request: KnownRequest) -> None:
        """Free the place of a write that was not carried out."""
        await self.store.finish_request(request, None)

    def is_untouched(self, written: Written) -> bool:
        """Whether it is certain that a piece of work wrote nothing."""
        return self.store.tells_writes and not written.commits_count
