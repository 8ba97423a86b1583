"""Replicas: what the servers and workers of one store tell each other, and the settings that one of them changes for all.

Raises, everywhere: `StoreUnavailableError`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSettings:
    """Settings that every replica goes by: version 0 and nothing where none were changed."""

    version: int = 0
    content: bytes = b""


class Replicas(Protocol):
    """The others that have the same store open."""

    async def tell(self, contents: Sequence[bytes]) -> None:
        """Tell all others. What was told in one call arrives in its order."""
        ...

    async def hear(self, *, wait_secs: float) -> list[bytes]:
        """What others have told since the last call, and nothing twice; waits so long at most where there is nothing."""
        ...

    async def read_settings(self) -> SharedSettings:
        """The settings that all go by now."""
        ...

    async def write_settings(self, content: bytes, *, expected_version: int) -> None:
        """Put settings in the place of those of a version.

        Raises:
            ConflictError: another replica has changed them meanwhile.
        """
        ...

    async def close(self) -> None:
        """Let every connection go."""
        ...
