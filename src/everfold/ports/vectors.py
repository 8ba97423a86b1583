"""Vector stores: the vectors of a user's messages, items and topics.

A vector is kept beside what it stands for and goes in the transaction in which that is erased, changes its words,
leaves the active items or topics, or moves to another tier. It is added later by an embedder: until then
`list_missing` lists its source, and only full text finds it. No method waits for a model.

Raises, everywhere: `StoreUnavailableError`, `CorruptStoreError`.
"""

from collections.abc import Sequence
from typing import Protocol

from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.recall.vectors import Embeddable, Near, OpenWrites, Space, Vector, VectorKind, VectorRef, VectorRow


class VectorStore(Protocol):
    """Vectors by what they stand for, one for each space."""

    async def put_vectors(self, user_id: UserId, space: Space, rows: Sequence[VectorRow]) -> int:
        """Keep vectors, in place of the ones before, and give how many were kept.

        A row whose source is gone, is another user's, or has other words by now is left out: what was erased while an
        embedder worked does not come back. So is a vector without a direction (all zeros).

        Raises:
            InvalidInputError: a vector is of another size than the space.
        """
        ...

    async def find_near(
        self,
        vector: Vector,
        *,
        user_id: UserId,
        agent_id: AgentId | None,
        kinds: Sequence[VectorKind],
        space: Space,
        limit_count: int,
    ) -> list[Near]:
        """The vectors of one user with the most similar direction, best first; none for a vector without one.

        With an agent: that agent's messages, items and topics, and those of the user tier; None gives all, for their
        owner. A store may look at quantised vectors first: then a few of the best may be others, the similarities that
        it gives are exact, and its cost grows with the vectors of this user alone.

        Raises:
            InvalidInputError: the vector is of another size than the space, or what the search needs is not installed.
        """
        ...

    async def require_search(self) -> None:
        """Make sure that what `find_near` needs is there.

        Raises:
            InvalidInputError: it is not; says what to install.
        """
        ...

    async def list_missing(
        self, user_id: UserId, kind: VectorKind, space: Space, *, after: VectorRef | None = None, limit_count: int
    ) -> list[Embeddable]:
        """What has words and no vector in this space, in the order in which the store first had it, after the given one.

        Fewer than asked for are the last, but for what is not committed yet. `after` may have been erased since; one that never was counts as none.
        """
        ...

    async def read_open_writes(self) -> OpenWrites:
        """Which writes have not ended: `list_missing` gives their messages later, before some that it has given already."""
        ...

    async def tend_vectors(self, user_id: UserId) -> None:
        """Prepare what makes a search among very many vectors of a user quick, and drop it where they are gone.

        For work beside the turns: it may take minutes. What cannot be prepared is left, and searches read everything.
        """
        ...

    async def count_vectors(self, user_id: UserId) -> dict[Space, int]:
        """How many vectors of a user there are in each space; a space without any is left out."""
        ...

    async def drop_vectors(self, user_id: UserId, *, keep: Space | None = None, limit_count: int | None = None) -> int:
        """Remove the vectors of a user, but those of one space, so many at most, and give how many went."""
        ...
