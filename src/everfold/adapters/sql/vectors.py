"""Vectors in SQL: kept in plain tables, compared by the functions of an extension of the database.

A search reads a short form of all vectors of one user, and ranks the best of them again by their floats. In SQLite the short
form is a code of one bit for each number, in PostgreSQL it is halved floats.

Source: docs/adr/0022-vectors.md; the documentation of sqlite-vec, binary quantization with re-scoring, and of pgvector.
"""

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from sys import byteorder
from typing import NamedTuple, cast

from everfold.adapters.sql.codec import read_message
from everfold.adapters.sql.database import Database, SqlValue
from everfold.adapters.sql.memory_items import find_place
from everfold.adapters.sql.owners import find_user_key
from everfold.adapters.sql.packing import unpack_row
from everfold.core.memory.rows import item_from_bytes, topic_from_bytes
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.recall.vectors import (
    Embeddable,
    Near,
    Space,
    Vector,
    VectorKind,
    VectorRef,
    VectorRow,
    check_dimensions,
    normalise,
    quantise,
    read_item_words,
    read_message_words,
    read_topic_words,
)

OVERSAMPLING = 20
"""How many candidates by code are ranked again by their floats, for each answer that is asked for."""
LEAST_CANDIDATES = 1_000
"""Source for both: our measurement, docs/adr/0022: 200 candidates are enough for clusters, the hashed words of real talk
want 1,000; a candidate costs some 6 microseconds beside the 0.2 of each code that is read."""


class Source(NamedTuple):
    """What a vector stands for, as the database knows it."""

    key: int
    user_key: int
    place: int
    content_hash: str


def put_vectors(database: Database, user_id: UserId, space: Space, rows: Sequence[VectorRow]) -> int:
    """See `VectorStore.put_vectors`."""
    for row in rows:
        check_dimensions(row.vector, space)
    user_key = find_user_key(database, user_id)
    if user_key is not None:
        database.lock_user(user_key)  # what is erased meanwhile gets no vector
    kept_count = 0
    for row in rows if user_key is not None else ():
        source, vector = _find_source(database, row.ref), normalise(row.vector)
        if source is None or vector is None or (source.user_key, source.content_hash) != (user_key, row.content_hash):
            continue
        at = {"kind": row.ref.kind, "owner_key": source.key, "space_key": _make_space(database, space)}
        database.run("delete_vector", **at, user_key=user_key)
        database.run("insert_vector", **at, user_key=user_key, place=source.place, **_write_forms(vector))
        kept_count += 1
    return kept_count


def _find_source(database: Database, ref: VectorRef) -> Source | None:
    match ref.kind:
        case "message":
            row = database.row("find_message_source", owner_id=ref.owner_id, seq=ref.seq)
        case "item":
            row = database.row("find_item_source", owner_id=ref.owner_id)
        case "topic":
            row = database.row("find_topic_source", owner_id=ref.owner_id)
            if row is not None:
                words = read_topic_words(topic_from_bytes(cast("bytes", row[3])))
                row = (*row[:3], "" if words is None else words.content_hash)
    return None if row is None else Source(*cast("tuple[int, int, int, str]", row))


def _make_space(database: Database, space: Space) -> int:
    found = _find_space(database, space)
    if found is None:
        found = database.insert("insert_space", model=space.model, dimensions=space.dimensions)
    return found


def _find_space(database: Database, space: Space) -> int | None:
    row = database.row("find_space", model=space.model, dimensions=space.dimensions)
    return None if row is None else cast("int", row[0])


def _write_forms(vector: Vector) -> dict[str, SqlValue]:
    """A vector of length 1 in the forms that the databases take: floats and their code as bytes, and floats as text."""
    return {"code": quantise(vector), "vector": pack(vector), "written": str(list(vector))}


def pack(vector: Vector) -> bytes:
    """A vector as the extension reads it: 32-bit floats, little-endian."""
    floats = array("f", vector)
    if byteorder == "big":
        floats.byteswap()
    return floats.tobytes()


def find_near(
    database: Database,
    vector: Vector,
    user_id: UserId,
    agent_id: AgentId | None,
    kinds: Sequence[VectorKind],
    space: Space,
    limit_count: int,
) -> list[Near]:
    """See `VectorStore.find_near`. The vector is of the space's size, and the database has the extension."""
    user_key, space_key = find_user_key(database, user_id), _find_space(database, space)
    asked = normalise(vector)
    if user_key is None or space_key is None or asked is None or limit_count < 1:
        return []
    rows = database.rows(
        "find_near_vectors",
        user_key=user_key,
        space_key=space_key,
        place=find_place(database, agent_id),
        kinds=json.dumps(kinds),
        **_write_forms(asked),
        candidate_count=max(LEAST_CANDIDATES, OVERSAMPLING * limit_count),
        limit_count=limit_count,
    )
    return [
        Near(_name_source(database, cast("VectorKind", kind), owner_key, user_key), cast("float", similarity))
        for kind, owner_key, similarity in rows
    ]


def _name_source(database: Database, kind: VectorKind, owner_key: SqlValue, user_key: int) -> VectorRef:
    owner_id, seq = database.rows(f"name_{kind}_source", owner_key=owner_key, user_key=user_key)[0]
    return VectorRef(kind, cast("str", owner_id), cast("int", seq))


def list_missing(
    database: Database, user_id: UserId, kind: VectorKind, space: Space, after: VectorRef | None, limit_count: int
) -> list[Embeddable]:
    """See `VectorStore.list_missing`."""
    user_key = find_user_key(database, user_id)
    if user_key is None or limit_count < 1:
        return []
    after_key = 0 if after is None else _find_key(database, after)
    space_key = _find_space(database, space) or 0
    found: list[Embeddable] = []
    for words in _walk_missing(database, kind, user_key, space_key, after_key, limit_count):
        found.append(words)
        if len(found) == limit_count:
            break
    return found


def _find_key(database: Database, ref: VectorRef) -> int:
    at: dict[str, str | int] = {"owner_id": ref.owner_id}
    if ref.kind == "message":
        at["seq"] = ref.seq
    row = database.row(f"find_{ref.kind}_key", **at)
    return 0 if row is None else cast("int", row[0])


def _walk_missing(
    database: Database, kind: VectorKind, user_key: int, space_key: int, after_key: int, page_count: int
) -> Iterator[Embeddable]:
    """All of them, a page at a time; what has no words is passed over."""
    read = _READERS[kind]
    while True:
        rows = database.rows(
            f"list_bare_{kind}s", user_key=user_key, space_key=space_key, after=after_key, limit_count=page_count
        )
        for row in rows:
            words = read(row)
            if words is not None:
                yield words
        if len(rows) < page_count:
            return
        after_key = cast("int", rows[-1][-1])


def _read_message_row(row: Sequence[object]) -> Embeddable | None:
    return read_message_words(read_message(tuple(row[1:-1])), session_id=cast("str", row[0]))


def _read_item_row(row: Sequence[object]) -> Embeddable | None:
    return read_item_words(item_from_bytes(unpack_row(cast("bytes", row[0]))))


def _read_topic_row(row: Sequence[object]) -> Embeddable | None:
    return read_topic_words(topic_from_bytes(cast("bytes", row[0])))


_READERS: dict[VectorKind, Callable[[Sequence[object]], Embeddable | None]] = {
    "message": _read_message_row,
    "item": _read_item_row,
    "topic": _read_topic_row,
}


def count_vectors(database: Database, user_id: UserId) -> dict[Space, int]:
    """See `VectorStore.count_vectors`."""
    user_key = find_user_key(database, user_id)
    rows = [] if user_key is None else database.rows("count_vectors", user_key=user_key)
    return {Space(cast("str", model), cast("int", size)): cast("int", count) for model, size, count in rows}


def drop_vectors(database: Database, user_id: UserId, keep: Space | None, limit_count: int | None) -> int:
    """See `VectorStore.drop_vectors`."""
    user_key = find_user_key(database, user_id)
    if user_key is None:
        return 0
    kept_key = None if keep is None else _find_space(database, keep)
    return database.run(
        "drop_vectors", user_key=user_key, kept_key=kept_key, limit_count=-1 if limit_count is None else limit_count
    )
