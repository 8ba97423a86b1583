"""The methods of vectors over PostgreSQL, which keeps none yet: an engine with an embedder is refused at its opening."""

from collections.abc import Sequence

from everfold.adapters.postgres.connections import PostgresConnections
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.recall.vectors import Embeddable, Near, Space, Vector, VectorKind, VectorRef, VectorRow
from everfold.errors import InvalidInputError


class PostgresVectors(PostgresConnections):
    """The vector store's methods; see `everfold.ports.vectors.VectorStore`."""

    async def put_vectors(self, user_id: UserId, space: Space, rows: Sequence[VectorRow]) -> int:  # noqa: ARG002 - the port's
        """Refused."""
        raise self._refuse()

    async def find_near(
        self,
        vector: Vector,  # noqa: ARG002 - the port's, as all of them
        *,
        user_id: UserId,  # noqa: ARG002
        agent_id: AgentId | None,  # noqa: ARG002
        kinds: Sequence[VectorKind],  # noqa: ARG002
        space: Space,  # noqa: ARG002
        limit_count: int,  # noqa: ARG002
    ) -> list[Near]:
        """Refused."""
        raise self._refuse()

    async def require_search(self) -> None:
        """Refused."""
        raise self._refuse()

    async def list_missing(
        self,
        user_id: UserId,  # noqa: ARG002
        kind: VectorKind,  # noqa: ARG002
        space: Space,  # noqa: ARG002
        *,
        after: VectorRef | None = None,  # noqa: ARG002
        limit_count: int,  # noqa: ARG002
    ) -> list[Embeddable]:
        """Refused."""
        raise self._refuse()

    async def count_vectors(self, user_id: UserId) -> dict[Space, int]:  # noqa: ARG002
        """None: none can be written."""
        return {}

    async def drop_vectors(self, user_id: UserId, *, keep: Space | None = None, limit_count: int | None = None) -> int:  # noqa: ARG002
        """None: none can be written."""
        return 0

    def _refuse(self) -> InvalidInputError:
        return InvalidInputError(
            "PostgreSQL keeps no vectors yet; leave embed.model out, or use sqlite:///... as the store", path=self.path
        )
