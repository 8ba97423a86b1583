"""What becomes of vectors when an engine opens: filled, made anew by another embedder, or refused, beside the turns."""

import sys

import anyio
import apsw
import pytest

import everfold
from everfold import Everfold
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.recall.vectors import Space
from everfold.errors import InvalidInputError
from everfold.testing.kit.builders import user

ON = {"memory": {"system": "structured"}, "compaction": {"synchronous": False}}


async def count(engine_url: str, *, until: dict[Space, int] | None = None) -> dict[Space, int]:
    """The vectors of a user as another store finds them in the file; if `until` is set, once they are that many."""
    store = await SqliteStore.open(engine_url.removeprefix("sqlite:///"))
    try:
        user_id = next(one.id for one in await store.list_users(after=None, limit_count=9) if one.name == "ada")
        found = await store.count_vectors(user_id)
        with anyio.move_on_after(120):
            while until is not None and found != until:
                await anyio.sleep(0.02)
                found = await store.count_vectors(user_id)
        return found
    finally:
        await store.close()


async def speak(engine: Everfold) -> None:
    """Two messages of a user."""
    await (await engine.session(user="ada")).append([user("The berth is free."), user("The crane is not.")])


async def test_vectors_are_filled_and_made_anew_at_opening(file_url: str) -> None:
    """What was said without an embedder gets vectors when one is configured, and others when another one is."""
    async with everfold.open(file_url, settings=ON) as engine:
        await speak(engine)
    assert await count(file_url) == {}
    async with everfold.open(file_url, settings={**ON, "embed": {"model": "hash:384"}}):
        assert await count(file_url, until={Space("hash:384", 384): 2}) == {Space("hash:384", 384): 2}
    async with everfold.open(file_url, settings={**ON, "embed": {"model": "hash:64"}}) as engine:
        assert await count(file_url, until={Space("hash:64", 64): 2}) == {Space("hash:64", 64): 2}
        assert (await (await engine.session(user="ada")).window()).render("openai")
    async with everfold.open(file_url, settings=ON):
        pass
    assert await count(file_url) == {Space("hash:64", 64): 2}


async def test_without_memory_nothing_is_embedded(file_url: str) -> None:
    """An embedder is not asked where no agent has structured memory: nothing would look for vectors."""
    async with everfold.open(
        file_url, settings={"compaction": ON["compaction"], "embed": {"model": "hash:384"}}
    ) as engine:
        await speak(engine)
        await anyio.sleep(0.1)
    assert await count(file_url) == {}


@pytest.mark.parametrize("model", ["hash:384", "ollama:small"])
async def test_an_embedder_without_its_extension_is_refused(
    file_url: str, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """Where the extension is missing an engine with an embedder does not open and says what to install; others do."""
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    for url in (file_url, "memory://"):
        with pytest.raises(InvalidInputError, match=r"pip install 'everfold\[embed\]'"):
            async with everfold.open(url, settings={**ON, "embed": {"model": model}}):
                pass
    async with everfold.open(file_url, settings=ON) as engine:
        await speak(engine)


async def test_an_extension_that_cannot_be_loaded_is_refused(file_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package whose library is broken, or of another machine, is an error of ours at the opening."""

    class Broken:
        @staticmethod
        def loadable_path() -> str:
            return "/nowhere/vec0"

    monkeypatch.setitem(sys.modules, "sqlite_vec", Broken)
    with pytest.raises(InvalidInputError, match="cannot be loaded") as raised:
        async with everfold.open(file_url, settings={**ON, "embed": {"model": "hash:384"}}):
            pass
    assert isinstance(raised.value.__cause__, apsw.Error)
