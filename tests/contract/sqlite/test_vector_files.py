"""What was erased has no vector in the file, byte for byte, with the extension or without it."""

import sys
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path

import pytest

from everfold.adapters.sql.vectors import pack
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.primitives.ids import SessionId
from everfold.core.recall.vectors import Space, Vector, normalise, quantise
from everfold.errors import InvalidInputError
from everfold.testing.contract.clusters import Clusters
from everfold.testing.contract.vectors import embed, near
from everfold.testing.kit.builders import ADA, append_wires, minute, open_session, plan_bare_erasure, user
from everfold.testing.kit.memory_builders import audit, erased, item, put, topic

SPACE = Space("clusters", 384)
SESSION = SessionId("ses_1")


@cache
def draw(name: str) -> Vector:  # noqa: ARG001 - it is what the vector is remembered by
    """A vector that has a name; drawn when a test wants it, as preparing to draw takes seconds."""
    return clusters().draw()


@cache
def clusters() -> Clusters:
    """What vectors are drawn from."""
    return Clusters(3, theme_count=2)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """A store of two messages, of which the first has the secret vector."""
    opened = await SqliteStore.open(str(tmp_path / "everfold.db"))
    session = await open_session(opened, None, user("Secret."))
    await embed(opened, draw("secret"), space=SPACE)
    await append_wires(opened, session.id, user("Plain."))
    await embed(opened, draw("plain"), space=SPACE)
    yield opened
    await opened.close()


def holds(store: SqliteStore, vector: Vector) -> tuple[bool, bool]:
    """Whether any file of the database holds the floats of a vector, and its code."""
    unit = normalise(vector)
    assert unit is not None
    path = Path(store.path)
    written = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    return pack(unit) in written, quantise(unit) in written


async def test_an_erased_messages_vector_is_overwritten(store: SqliteStore) -> None:
    """After an erase no file holds the floats or the code; those of the other message are there."""
    assert holds(store, draw("secret")) == (True, True)
    await store.erase_message(await plan_bare_erasure(store, SESSION, 1), erased_at=minute(9))
    assert holds(store, draw("secret")) == (False, False)
    assert holds(store, draw("plain")) == (True, True)


async def test_erased_memory_has_no_vector(store: SqliteStore) -> None:
    """The vectors of an erased item and of a wiped memory are overwritten too."""
    one, two = draw("one"), draw("two")
    first = item("itm_1")
    await put(store, first)
    await embed(store, one, space=SPACE)
    await put(store, topic("top_1"))
    await embed(store, two, space=SPACE)
    assert [holds(store, vector) for vector in (one, two)] == [(True, True), (True, True)]
    await put(store, erased(first), has_erased=True)
    assert [holds(store, vector) for vector in (one, two)] == [(False, False), (True, True)]
    await store.wipe_memory(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))
    assert [holds(store, vector) for vector in (one, two)] == [(False, False), (False, False)]


async def test_without_the_extension_all_but_a_search_works(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation without the package stores, counts and erases; a search says what to install."""
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    with pytest.raises(InvalidInputError, match=r"everfold\[embed\]"):
        await near(store, draw("secret"), space=SPACE)
    assert await store.count_vectors(ADA) == {SPACE: 2}
    await store.erase_message(await plan_bare_erasure(store, SESSION, 1), erased_at=minute(9))
    assert holds(store, draw("secret")) == (False, False)
    assert await store.count_vectors(ADA) == {SPACE: 1}
