"""A model whose library is loaded when it is first asked: loading takes seconds, and most openings never ask."""

import asyncio
from collections.abc import Callable

from everfold.ports.models import Model, ModelReply, ModelRequest


class LazyModel:
    """A model that is made on a thread of its own at its first request.

    Args:
        name: Its setting.
        make: Makes it; what it raises is raised to the caller, and it is tried again at the next request.
    """

    def __init__(self, name: str, make: Callable[[], Model]) -> None:
        self.name = name
        self._make = make
        self._made: Model | None = None
        self._making = asyncio.Lock()

    async def reply(self, request: ModelRequest) -> ModelReply:
        """See the port."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
        return await self._made.reply(request)

    async def close(self) -> None:
        """See the port."""
        if self._made is not None:
            await self._made.close()
