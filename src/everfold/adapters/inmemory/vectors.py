"""Vectors in memory, compared one by one: what other stores' searches are measured against.

What a vector stands for is looked up whenever vectors are asked about, and a vector whose source has gone or changed
goes then. Between two calls this cannot be observed.
"""

from collections.abc import Iterator, Sequence
from heapq import nsmallest
from typing import NamedTuple

from everfold.adapters.inmemory.memory_tables import is_for
from everfold.adapters.inmemory.tables import StoredMessage, StoredVector, Tables, TablesHolder
from everfold.core.memory.items import ItemId, Tier
from everfold.core.memory.topics import TopicId
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.recall.vectors import (
    Embeddable,
    Near,
    Space,
    Vector,
    VectorKind,
    VectorRef,
    VectorRow,
    check_dimensions,
    compare,
    normalise,
    read_item_words,
    read_message_words,
    read_topic_words,
)


class Source(NamedTuple):
    """What a vector stands for; a message is its agent's, as what is of the agent tier is."""

    user_id: UserId
    agent_id: AgentId
    tier: Tier
    words: Embeddable


class InMemoryVectors(TablesHolder):
    """The vector store's methods; see `everfold.ports.vectors.VectorStore`."""

    async def put_vectors(self, user_id: UserId, space: Space, rows: Sequence[VectorRow]) -> int:
        """Keep vectors whose source is as it was, and give how many were kept."""
        for row in rows:
            check_dimensions(row.vector, space)
        kept: dict[tuple[Space, VectorRef], StoredVector] = {}
        for row in rows:
            source, vector = _find_source(self._tables, row.ref), normalise(row.vector)
            if source is None or vector is None:
                continue
            if (source.user_id, source.words.content_hash) == (user_id, row.content_hash):
                kept[space, row.ref] = StoredVector(user_id=user_id, content_hash=row.content_hash, vector=vector)
        self._tables.vectors.update(kept)
        return len(kept)

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
        """The vectors of one user with the most similar direction, best first. O(all vectors)."""
        check_dimensions(vector, space)
        tables = self._prune()
        asked = normalise(vector)
        if asked is None:
            return []
        found = (
            Near(ref, compare(asked, row.vector))
            for (at, ref), row in tables.vectors.items()
            if at == space and row.user_id == user_id and ref.kind in kinds and _is_for(tables, ref, agent_id)
        )
        return nsmallest(max(limit_count, 0), found, key=lambda near: -near.similarity)

    async def require_search(self) -> None:
        """Nothing is needed."""
        self._tables  # noqa: B018  # a closed store says so

    async def list_missing(
        self, user_id: UserId, kind: VectorKind, space: Space, *, after: VectorRef | None = None, limit_count: int
    ) -> list[Embeddable]:
        """What has words and no vector in this space, after the given one."""
        tables = self._prune()
        refs = list(_list_refs(tables, user_id, kind))
        first = refs.index(after) + 1 if after in refs else 0
        missing: list[Embeddable] = []
        for ref in refs[first:]:
            source = _find_source(tables, ref)
            if source is not None and (space, ref) not in tables.vectors:
                missing.append(source.words)
        return missing[: max(limit_count, 0)]

    async def count_vectors(self, user_id: UserId) -> dict[Space, int]:
        """How many vectors of a user there are in each space."""
        counts: dict[Space, int] = {}
        for (space, _), row in self._prune().vectors.items():
            if row.user_id == user_id:
                counts[space] = counts.get(space, 0) + 1
        return counts

    async def drop_vectors(self, user_id: UserId, *, keep: Space | None = None, limit_count: int | None = None) -> int:
        """Remove the vectors of a user, but those of one space, and give how many went."""
        vectors = self._prune().vectors
        going = [at for at, row in vectors.items() if row.user_id == user_id and at[0] != keep][:limit_count]
        for at in going:
            del vectors[at]
        return len(going)

    def _prune(self) -> Tables:
        return _prune(self._tables)


def count_vectors(tables: Tables, user_id: UserId, kinds: Sequence[VectorKind]) -> int:
    """How many vectors of these kinds a user has, in every space."""
    vectors = _prune(tables).vectors
    return sum(row.user_id == user_id and ref.kind in kinds for (_, ref), row in vectors.items())


def _prune(tables: Tables) -> Tables:
    """The tables, without the vectors whose source has gone or changed."""
    for at, row in list(tables.vectors.items()):
        source = _find_source(tables, at[1])
        if source is None or source.words.content_hash != row.content_hash:
            del tables.vectors[at]
    return tables


def _find_source(tables: Tables, ref: VectorRef) -> Source | None:
    match ref.kind:
        case "message":
            row = tables.messages.get(SessionId(ref.owner_id), {}).get(ref.seq)
            is_gone = row is None or row.is_erased or row.note.kind == "retracted"
            words = None if row is None or is_gone else read_message_words(row.read(), session_id=ref.owner_id)
            record = tables.sessions.get(SessionId(ref.owner_id))
            return None if words is None or record is None else Source(record.user_id, record.agent_id, "agent", words)
        case "item":
            items = tables.memory.items.get(ItemId(ref.owner_id))
            words = read_item_words(items[-1]) if items else None
            return Source(items[-1].user_id, items[-1].agent_id, items[-1].tier, words) if items and words else None
        case "topic":
            topics = tables.memory.topics.get(TopicId(ref.owner_id))
            words = read_topic_words(topics[-1]) if topics else None
            return Source(topics[-1].user_id, topics[-1].agent_id, topics[-1].tier, words) if topics and words else None


def _is_for(tables: Tables, ref: VectorRef, agent_id: AgentId | None) -> bool:
    source = _find_source(tables, ref)
    return source is not None and is_for(agent_id, tier=source.tier, owner_id=source.agent_id)


def _list_refs(tables: Tables, user_id: UserId, kind: VectorKind) -> Iterator[VectorRef]:
    """Everything of a kind that a user has, in the order in which it came."""
    match kind:
        case "message":
            rows: list[StoredMessage] = [
                row
                for record in tables.sessions.values()
                if record.user_id == user_id
                for row in tables.messages[record.id].values()
            ]
            yield from (
                VectorRef("message", row.session_id, row.note.seq) for row in sorted(rows, key=lambda it: it.key)
            )
        case "item":
            items = tables.memory.items.items()
            yield from (VectorRef("item", id_) for id_, revisions in items if revisions[-1].user_id == user_id)
        case "topic":
            topics = tables.memory.topics.items()
            yield from (VectorRef("topic", id_) for id_, revisions in topics if revisions[-1].user_id == user_id)
