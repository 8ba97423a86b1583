"""Copying a whole store, in both directions and between files."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from bench.material.logs import chat_log, coding_log
from tests.support.sizes import every, some

import everfold
from everfold.adapters.sql.copy_store import copy_store
from everfold.bootstrap import open_store
from everfold.errors import ConflictError, InvalidInputError
from everfold.testing.contract.usage import call
from everfold.testing.contract.work import open_and_begin

SETTINGS: dict[str, Any] = {
    "memory": {"system": "structured"},
    "compaction": {"synchronous": True},
    "recall": {"enabled": False},  # the databases find the same, in an order that differs a little
}
QUESTIONS = ("what did we decide about the build?", "failing test", "which drink do I like?", "never on Fridays")
DIRECTIONS = [("file", "server"), ("server", "file"), ("file", "file")]


async def fill(url: str) -> None:
    """Two users with folded, branched, erased and retracted conversations, memory, keys and what was asked before."""
    async with everfold.open(url, settings=SETTINGS) as engine:
        for user, log in (
            ("ada", chat_log(3, messages_count=some(160, 60))),
            ("bob", coding_log(5, turns_count=some(6, 2))),
        ):
            session = await engine.session(user=user, agent="helper", limit=4000)
            for entry in log:
                await session.append(entry.wire)
                if entry.wire["role"] == "user":
                    await session.window()
        ada = await engine.session(user="ada", agent="helper")
        await ada.append(
            {"role": "user", "content": "Remember: never deploy on Fridays. I like green tea, Zoë's \ud83d\ude00."}
        )
        await ada.append({"role": "assistant", "content": "Noted. Which drink do you like best?"}, client_id="a-1")
        await ada.append({"role": "user", "content": "Coffee from Kenya."})
        await ada.window()
        branch = await ada.branch((await ada.inspect.state()).last_seq)
        await branch.append({"role": "assistant", "content": "Kenya, then."})
        await branch.append({"role": "user", "content": "That was wrong."})
        await branch.retract(1)
        await ada.erase(5)
        memory = await engine.memory(user="ada")
        await memory.add("Ada's locker 7 has the code 4711.")
        await engine.admin.api_keys.make("desk", "user:ada")
        newest = await engine.session(user="bob", agent="gone")
        await newest.append({"role": "user", "content": "Forget that I was here."})
        await engine.erase_session(newest.id)


async def read_all(url: str) -> list[object]:
    """What a user of a store sees: windows, digests, certificates, items, hits, keys; and that every session is sound."""
    seen: list[object] = []
    async with everfold.open(url, settings=SETTINGS) as engine:
        for record in await engine.list_sessions(user=None):
            session = await engine.session(id=record.id)
            window = await session.window()
            compactions = await session.inspect.compactions()
            messages = await session.messages(1, (await session.inspect.state()).last_seq)
            verified = await session.verify()
            seen += [record, window.render("openai"), compactions, messages, verified.is_sound, verified.problems]
        for user in ("ada", "bob"):
            memory = await engine.memory(user=user)
            seen += [await memory.items(), await memory.topics(), await memory.audit()]
            for text in QUESTIONS:
                hits = [(hit.session, hit.seq) for hit in await engine.search(text, user=user, limit=200)]
                items = [found.item.id for found in await memory.search(text, limit=100)]
                seen += [set(hits), set(items)]
        seen.append(await engine.admin.api_keys.list_api_keys())
    return seen


@pytest.fixture
def urls(tmp_path: Path, database_url: str) -> dict[str, list[str]]:
    """Urls of empty stores, by kind."""
    return {"file": [f"sqlite:///{tmp_path / name}.db" for name in ("one", "two")], "server": [database_url]}


def name_pair(urls: dict[str, list[str]], pair: tuple[str, str]) -> tuple[str, str]:
    """The urls of a source and a target."""
    kinds = {kind: list(found) for kind, found in urls.items()}
    source, target = (kinds[kind].pop(0) for kind in pair)
    return source, target


@asynccontextmanager
async def both(source: str, target: str) -> AsyncIterator[tuple[Any, Any]]:
    """Both stores, open."""
    opened = [await open_store(url) for url in (source, target)]
    try:
        yield opened[0], opened[1]
    finally:
        for store in opened:
            await store.close()


@pytest.mark.parametrize("pair", every(2, DIRECTIONS), ids="-".join)
async def test_a_copy_is_the_same_store(urls: dict[str, list[str]], pair: tuple[str, str]) -> None:
    """Windows, digests, certificates, memory, search and keys of a copy are those of its source, and it can be written."""
    source, target = name_pair(urls, pair)
    await fill(source)
    seen = await read_all(source)
    async with both(source, target) as (old, new):
        counts = await copy_store(old, new, lambda _what, _count: None)
        assert (counts["users"], counts["sessions"]) == (2, 3)
        assert await new.check_integrity() == []
    assert await read_all(target) == seen
    async with everfold.open(target, settings=SETTINGS) as engine:
        session = await engine.session(user="ada", agent="helper")
        await session.append({"role": "user", "content": "Still there?"})
        fresh = await engine.session(user="carl")
        await fresh.append({"role": "user", "content": "Hello."})
        await engine.erase_session(fresh.id)  # its key is none that the source has erased
        assert (await session.verify()).is_sound


async def test_a_file_with_nul_in_what_was_told_is_copied(urls: dict[str, list[str]]) -> None:
    """A problem and a model's name that a provider told arrive on a server with NUL replaced, as they are written today."""
    source, target = name_pair(urls, ("file", "server"))
    async with both(source, target) as (old, new):
        _, begun = await open_and_begin(old)
        await old.record_call(call("call_1"))
        with closing(apsw.Connection(source.removeprefix("sqlite:///"))) as connection:
            connection.execute("UPDATE compactions SET problem = ?", ("HTTP 400: a\0b",))
            connection.execute("UPDATE model_calls SET answered_by = ?", ("gpt\0",))
        await copy_store(old, new, lambda _what, _count: None)
        assert (await new.get_compaction(begun.compaction.id)).problem == "HTTP 400: a\ufffdb"
        assert [one.answered_by for one in await new.list_calls(limit_count=9)] == ["gpt\ufffd"]


async def test_a_value_that_a_server_cannot_hold_is_named(urls: dict[str, list[str]]) -> None:
    """Of a file with NUL in a name from before it was refused, the table, the column and the value are told."""
    source, target = name_pair(urls, ("file", "server"))
    async with everfold.open(source) as engine:
        await engine.admin.api_keys.make("desk", "agent:guide")
    async with both(source, target) as (old, new):
        with closing(apsw.Connection(source.removeprefix("sqlite:///"))) as connection:
            connection.execute("UPDATE api_keys SET scope_name = ?", ("a\0b",))
        assert [key.scope.name for key in await old.list_api_keys(after=None, limit_count=9)] == ["a\0b"]
        with pytest.raises(InvalidInputError, match=r"api_keys: scope_name is 'a\\x00b'"):
            await copy_store(old, new, lambda _what, _count: None)


class StoppedError(Exception):
    """What stops a copy."""


def stop_at_sessions(what: str, _count: int) -> None:
    """Stop a copy when it comes to the sessions."""
    if what == "sessions":
        raise StoppedError


async def test_a_copy_that_was_stopped_goes_on(urls: dict[str, list[str]]) -> None:
    """A copy that is stopped at any page, and begun again, ends as one that was not; what had arrived is not copied again."""
    source, target = name_pair(urls, ("file", "server"))
    await fill(source)
    seen = await read_all(source)
    arrived: list[tuple[str, int]] = []
    for stop_at in range(1, 1000):
        told: list[tuple[str, int]] = []

        def tell(what: str, count: int, told: list[tuple[str, int]] = told, stop_at: int = stop_at) -> None:
            told.append((what, count))
            if len(told) == min(stop_at, 2):
                raise StoppedError

        async with both(source, target) as (old, new):
            try:
                await copy_store(old, new, tell)
            except StoppedError:
                arrived += told
            else:
                break
    names = [what for what, _ in arrived if what != "sessions searchable"]
    assert len(names) == len(set(names)) > 10
    assert await read_all(target) == seen


@pytest.mark.parametrize("written", ["append", "revoke"])
async def test_what_is_in_the_way_is_refused(urls: dict[str, list[str]], written: str) -> None:
    """A target that holds something, and a source that was written since or meanwhile, are refused, and say what to do."""
    source, target = name_pair(urls, ("file", "file"))
    await fill(source)
    async with both(source, source) as (old, other):
        with pytest.raises(ConflictError, match="the target is not empty: its table users has rows"):
            await copy_store(old, other, lambda _what, _count: None)

    async def append() -> None:
        async with everfold.open(source) as engine:
            await (await engine.session(user="ada", agent="helper")).append({"role": "user", "content": "One more."})

    async def revoke() -> None:
        async with everfold.open(source) as engine:
            [key] = await engine.admin.api_keys.list_api_keys()
            await engine.admin.api_keys.revoke(key.id)

    change = {"append": append, "revoke": revoke}[written]

    async with both(source, target) as (old, new):
        with pytest.raises(StoppedError):
            await copy_store(old, new, stop_at_sessions)
        with pytest.raises(ConflictError, match="is an unfinished copy"):
            async with everfold.open(target):
                pass
        await change()
        with pytest.raises(ConflictError, match="the source was written since this copy began"):
            await copy_store(old, new, lambda _what, _count: None)


async def test_an_unfinished_copy_is_no_source(urls: dict[str, list[str]], tmp_path: Path) -> None:
    """What a stopped copy has of a store is not copied on as if it were the store; nothing is written into the target."""
    source, target = name_pair(urls, ("file", "file"))
    onward = f"sqlite:///{tmp_path / 'three.db'}"
    async with everfold.open(source) as engine:
        await (await engine.session(user="ada")).append({"role": "user", "content": "Berth 7."})

    async with both(source, target) as (old, new):
        with pytest.raises(StoppedError):
            await copy_store(old, new, stop_at_sessions)
    async with both(target, onward) as (old, new):
        with pytest.raises(ConflictError, match="the source is an unfinished copy"):
            await copy_store(old, new, lambda _what, _count: None)
        assert not await new.is_copy_begun()
