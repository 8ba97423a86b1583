"""A document that was changed after its export is refused, shows no other user's words, and leaves nothing behind."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

import everfold
from everfold import Everfold
from everfold.errors import ConflictError, EverfoldError, InvalidInputError
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio

ON = {"memory": {"system": "structured"}}
SECRET = "the vault opens with 4711"
Change = Callable[[dict[str, Any]], object]


async def fill(engine: Everfold, name: str, text: str) -> None:
    """A user with a session, items of it, topics and dreams."""
    session = await engine.session(user=name)
    await session.append([user(f"Remember: {text}."), assistant("Noted.")])
    await session.append([user("Remember: my boat is called Kestrel."), assistant("Noted.")])
    await (await engine.memory(user=name)).dream()


@pytest.fixture(scope="module")
def exported() -> str:
    """The document of a user of another store."""

    async def write() -> str:
        async with everfold.open("memory://", clock=FakeClock(), ids=CountingIds(), settings=ON) as engine:
            await fill(engine, "ada", "my berth is number 17")
            text = json.dumps(await engine.export_user("ada", transcripts=True))
            return text.replace("_0000", "_9000")  # its ids are others than those of the stores below

    return anyio.run(write)


async def dump(engine: Everfold) -> list[object]:
    """All that a store holds of its users, without what exports say of themselves."""
    users = await engine.list_users()
    documents = [await engine.export_user(one.id, transcripts=True) for one in users]
    return [{**document, "audit": None} for document in documents]


def nest(depth: int) -> object:
    """A list in a list in a list."""
    value: object = []
    for _ in range(depth):
        value = [value]
    return value


CHANGES: dict[str, Change] = {
    "another user's item": lambda it: it["items"][0][0].update(user_id="usr_ben"),
    "another user's topic": lambda it: it["topics"][0][0].update(user_id="usr_ben"),
    "another user's dream": lambda it: it["dreams"][0].update(user_id="usr_ben"),
    "another user's extraction": lambda it: it["extractions"][0].update(user_id="usr_ben"),
    "another user's audit": lambda it: it["audit"][0].update(user_id="usr_ben"),
    "another user's all": lambda it: it.update(user_id="usr_ben"),
    "a message that an item quotes": lambda it: it["transcripts"][0]["messages"][0]["wire"].update(content="Other."),
    "a hash of a quote": lambda it: it["items"][0][-1]["evidence"][0].__setitem__(4, "0" * 64),
    "an item twice": lambda it: it["items"].append(it["items"][0]),
    "a topic twice": lambda it: it["topics"].append(it["topics"][0]),
    "a dream twice": lambda it: it["dreams"].append(it["dreams"][0]),
    "an extraction twice": lambda it: it["extractions"].append(it["extractions"][0]),
    "a session twice": lambda it: it["transcripts"].append(it["transcripts"][0]),
    "a path as an item": lambda it: it["items"][0][0].update(id="../../etc/passwd"),
    "a path as a topic": lambda it: it["topics"][0][0].update(id="/etc/passwd"),
    "a path as a session": lambda it: it["transcripts"][0].update(id="..\\..\\x"),
    "dots as a session": lambda it: it["transcripts"][0].update(id=".."),
    "a null as a dream": lambda it: it["dreams"][0].update(id="drm\0"),
    "a line break as an extraction": lambda it: it["extractions"][0].update(id="ext\n1"),
    "a huge id": lambda it: it["items"][0][0].update(id="x" * 1_000_000),
    "a deep document": lambda it: it.update(items=nest(400)),
    "a deep item": lambda it: it["items"][0][0].update(statement=nest(5_000)),
    "a deep message": lambda it: it["transcripts"][0]["messages"][0].update(
        wire={"role": "user", "content": nest(900)}
    ),
    "a huge number": lambda it: it["items"][0][0].update(revision=10**400),
    "a moment behind the last": lambda it: it["items"][0][0].update(valid_to="9999-12-31T23:59:59-05:00"),
    "a number too large": lambda it: it["extractions"][0].update(ordinal=2**70),
    "no number": lambda it: it["items"][0][0].update(confidence=float("nan")),
    "a share above 1": lambda it: it["items"][0][0].update(confidence=1e30),
    "a message below 1": lambda it: it["extractions"][0].update(first_seq=-1),
    "an epoch below 0": lambda it: it["dreams"][0].update(epoch=-1),
    "a path as an agent": lambda it: it["items"][0][0].update(agent_id="../../x"),
    "a line break as a session's agent": lambda it: it["transcripts"][0].update(agent_id="a\nb"),
    "a path as a topic's name": lambda it: it["topics"][0][0].update(name="../../x"),
    "an item that is not there": lambda it: it["items"][0][0].update(superseded_by="x"),
    "a path as the session of a quote": lambda it: it["items"][0][0]["evidence"][0].__setitem__(0, "../../x"),
    "a count below 0": lambda it: it["audit"][0].update(counts=[["items", -5]]),
    "revisions backwards": lambda it: it["items"][0].append(it["items"][0][0]),
    "a newer version": lambda it: it.update(version=2),
    "another format": lambda it: it.update(format="other"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.moves_prefix
async def test_a_changed_document_stores_nothing(url: str, exported: str, change: Change) -> None:
    """Whatever was changed in a document, it is refused with an error of ours, and the store is as it was before."""
    document = json.loads(exported)
    change(document)
    async with everfold.open(url, ids=CountingIds(), settings=ON) as engine:
        await fill(engine, "ben", SECRET)
        before = await dump(engine)
        with pytest.raises((InvalidInputError, ConflictError)) as refusal:
            await engine.import_user(document, user="zoe")
        assert len(str(refusal.value)) < 1_000
        assert await dump(engine) == before


@pytest.mark.moves_prefix
async def test_a_changed_hash_is_refused_without_transcripts(exported: str) -> None:
    """A path in the place of a quote's hash is refused also where no message is there that could be compared."""
    document = json.loads(exported)
    del document["transcripts"]
    document["items"][0][0]["evidence"][0][4] = "../../etc/passwd"
    async with everfold.open("memory://", settings=ON) as engine:
        with pytest.raises(InvalidInputError, match="content_hash"):
            await engine.import_user(document, user="zoe")


@pytest.mark.moves_prefix
async def test_an_item_of_another_user_is_not_taken_over(url: str, exported: str) -> None:
    """A document with the ids of rows that are another user's in this store changes none of them."""
    async with everfold.open(url, ids=CountingIds(), settings=ON) as engine:
        await fill(engine, "ben", SECRET)
        theirs = await engine.export_user("ben", transcripts=True)
        await engine.add_user("zoe")
        before = await dump(engine)
        for kind in ("items", "topics", "dreams", "extractions", "transcripts"):
            document = json.loads(exported)
            one, other = document[kind][0], json.loads(json.dumps(theirs))[kind][0]
            for row, named in zip(*((it if isinstance(it, list) else [it]) for it in (one, other)), strict=False):
                row["id"] = named["id"]
            if isinstance(one, list):
                document[kind][0] = one[:1]
            with pytest.raises(EverfoldError):
                await engine.import_user(document, user="zoe", transcripts=kind == "transcripts")
            assert await dump(engine) == before, kind


@pytest.mark.moves_prefix
async def test_a_document_shows_no_message_of_another_user(url: str, exported: str) -> None:
    """An imported item that names another user's session as its source shows none of that user's messages."""
    async with everfold.open(url, ids=CountingIds(), settings=ON) as engine:
        await fill(engine, "ben", SECRET)
        (session,) = await engine.list_sessions(user="ben")
        document = json.loads(exported)
        del document["transcripts"]
        for revisions in document["items"]:
            for row in revisions:
                for evidence in row["evidence"]:
                    evidence[0], evidence[1] = session.id, 1
        await engine.import_user(document, user="zoe")
        memory = await engine.memory(user="zoe")
        behind = [one for item in await memory.items() for one in await memory.why(item.id)]
        assert behind
        assert [one.message for one in behind] == [None] * len(behind)
        assert SECRET not in str(behind)


@pytest.mark.parametrize("expires_at", [None, "2031-01-01T00:00:00+00:00"])
@pytest.mark.moves_prefix
async def test_a_document_shows_no_item_of_another_user(url: str, exported: str, expires_at: str | None) -> None:
    """An imported topic that names another user's item as its source never comes to say it, whatever dreams follow."""
    async with everfold.open(url, ids=CountingIds(), settings=ON) as engine:
        await fill(engine, "ben", SECRET)
        theirs = {source for topic in await (await engine.memory(user="ben")).topics() for source in topic.sources}
        document = json.loads(exported)
        for row in (row for revisions in document["topics"] for row in revisions):
            row["sources"], row["expires_at"] = sorted(theirs), expires_at
            if expires_at:
                row["summary"], row["content"] = "Boats and vaults.", "What there is of boats and vaults."
        await engine.import_user({**document, "items": [], "dreams": [], "extractions": [], "cursors": {}}, user="zoe")
        session, memory = await engine.session(user="zoe"), await engine.memory(user="zoe")
        for name in ("Kestrel", "Merlin"):
            await session.append([user(f"Remember: my boat is called {name}."), assistant("Noted.")])
            assert (await memory.dream()) is not None
        assert SECRET not in str([await memory.topics(include_expired=True), await engine.export_user("zoe")])
