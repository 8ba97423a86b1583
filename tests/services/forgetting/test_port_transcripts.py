"""Sessions in a user's document: what comes back is what was said, where and when, as the same sessions."""

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.sizes import STORES, examples, some

import everfold
from everfold import Everfold
from everfold.core.log.client_lists import ClientList, ClientMessage
from everfold.core.primitives.json_values import JsonObject
from everfold.errors import ConflictError, EverfoldError, InvalidInputError, NotFoundError
from everfold.session import Session
from everfold.testing import st_anthropic_log, st_openai_log
from everfold.testing.kit.builders import assistant, calls, result, talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock
from everfold.testing.kit.log_plans import GeneratedLog

ON = {"memory": {"system": "structured"}}
TOOL: JsonObject = {"name": "look_up", "input_schema": {"type": "object"}}

pytestmark = pytest.mark.moves_prefix  # logs come to another store, and lose messages


@pytest.fixture
async def engine(url: str, clock: FakeClock) -> AsyncIterator[Everfold]:
    """An engine with structured memory over each store."""
    async with everfold.open(url, clock=clock, ids=CountingIds(), settings=ON) as opened:
        yield opened


async def fill(engine: Everfold, clock: FakeClock) -> Session:
    """A user with a long session, a branch and a branch of it, erased messages, an open step, and another agent."""
    session = await engine.session(user="ada", limit=16_000, system="Be kind \ud83d.", tools=[TOOL])
    await session.append({"role": "system", "content": "Always."})
    seqs = await session.append(user("Remember: my boat is called Zugzwang \udc00."), client_id="first \ud83d")
    clock.advance(timedelta(minutes=3))
    await session.append([user("Look."), calls("a", "b"), result("b", "two"), result("a", "one"), assistant("Both.")])
    await session.append(user("It is five."), origin="system", source="tick")
    await session.append([calls("c", "d"), result("c", "three"), user("Never mind."), result("d", "late")])
    await session.append(talk(some(300, 60)))
    await session.compact()
    branch = await session.branch(8)
    await branch.append([user("Another way."), calls("e"), result("e", "x"), assistant("Fine.")], client_id="branch")
    twig = await branch.branch(7)
    await twig.append(user("A third way."))
    for seq in (seqs[0] + 2, 5, 9, 20):  # a call, a result, the head of a step with a late result, and talk
        await session.erase(seq)
    await session.append([user("Again."), calls("f", "g"), result("f", "half")])
    await (await engine.session(user="ada", agent="clerk")).append([user("Hi."), assistant("Hello.")])
    await (await engine.session(beside=True, user="ben")).append(user("Not Ada's."))
    return session


@pytest.fixture(scope="module", params=STORES)
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The document of that user as each store gives it, written once for all tests that only read it."""
    folder = tmp_path_factory.mktemp("exported")
    url = f"sqlite:///{folder}/everfold.db" if request.param == "sqlite" else "memory://"

    async def write() -> str:
        clock = FakeClock()
        async with everfold.open(url, clock=clock, ids=CountingIds(), settings=ON) as engine:
            await fill(engine, clock)
            return json.dumps(await engine.export_user("ada", transcripts=True))

    return anyio.run(write)


def without_audit(document: JsonObject) -> JsonObject:
    """What an export may say again: its own entry is in the next one's audit."""
    return {**document, "audit": None}


async def test_session_keys_come_back(engine: Everfold) -> None:
    """An imported session has its key and is current under it; a document of an older release has sessions without."""
    for key in (None, "thread-42", "thread-43"):
        await (await engine.session(user="ada", session_key=key)).append(user(f"In {key}."))
    document = await engine.export_user("ada", transcripts=True)
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user="ada")
        listed = await other.list_sessions(user="ada")
        assert [(one.session_key, one.is_current) for one in listed] == [
            ("", True),
            ("thread-42", True),
            ("thread-43", True),
        ]
        found = await other.session(user="ada", session_key="thread-43")
        assert [message.view.text for message in await found.messages()] == ["In thread-43."]
    old = json.loads(json.dumps(document))
    old["transcripts"] = old["transcripts"][:1]
    del old["transcripts"][0]["session_key"]
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(old, user="ada")
        assert [one.session_key for one in await other.list_sessions()] == [""]


async def test_titles_come_back(engine: Everfold) -> None:
    """An imported session has its title, cleaned again, and a document of an older release has sessions without."""
    session = await engine.session(user="ada")
    await session.append(user("Hi."))
    await session.integration.set_title("Berths in October")
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    kept = document["transcripts"][0]
    for title in ("Berths in October", "Berths\u202e in\nOctober"):
        kept["title"] = title
        async with everfold.open("memory://", settings=ON) as other:
            await other.import_user(document, user="ada")
            assert [one.title for one in await other.list_sessions()] == ["Berths in October"]
    del kept["title"]
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user="ada")
        assert [one.title for one in await other.list_sessions()] == [""]
    kept["title"] = 7
    async with everfold.open("memory://", settings=ON) as other:
        with pytest.raises(InvalidInputError, match="title"):
            await other.import_user(document, user="ada")


@pytest.mark.parametrize(("key", "said"), [(7, "expected"), ("\ud83d", "session key"), ("thread-42", "second current")])
async def test_a_wrong_session_key_is_refused(engine: Everfold, key: object, said: str) -> None:
    """A key that is none, or a second current session under one, is refused with its place in the document."""
    for known in ("thread-42", "thread-43"):
        await (await engine.session(user="ada", session_key=known)).append(user("Hi."))
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    document["transcripts"][1]["session_key"] = key
    async with everfold.open("memory://", settings=ON) as other:
        with pytest.raises(InvalidInputError, match=said):
            await other.import_user(document, user="ada")


async def test_transcripts_come_back_equal(engine: Everfold, clock: FakeClock, url: str) -> None:
    """An export of the user whom a document was imported as, in an empty store, is that document."""
    session = await fill(engine, clock)
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    user_id = document["user_id"]
    other_url = url.replace("everfold.db", "other.db")
    async with everfold.open(other_url, clock=clock, ids=CountingIds(), settings=ON) as other:
        await other.import_user(document, user=user_id)
        again = await other.export_user(user_id, transcripts=True)
        assert without_audit(again) == without_audit(document)
        assert await other.admin.check_store() == []
        for record in await engine.list_sessions(user="ada"):
            then, now = await engine.session(id=record.id), await other.session(id=record.id)
            last_seq = (await then.inspect.state()).last_seq
            assert await now.messages(1, last_seq) == await then.messages(1, last_seq)
            assert (await now.verify()).is_sound
            assert (await now.inspect.state()).open_step == (await then.inspect.state()).open_step
        assert (await other.session(user=user_id)).id == session.id
        assert [hit.seq for hit in await other.search("third way", user=user_id, limit=1)] == [8]
        assert (await (await other.session(user=user_id)).window()).render("anthropic")


async def test_transcripts_are_only_there_on_request(engine: Everfold, clock: FakeClock) -> None:
    """An export holds no messages unless they are asked for; one that holds them is imported without them on request."""
    await fill(engine, clock)
    assert "transcripts" not in await engine.export_user("ada")
    document = await engine.export_user("ada", transcripts=True)
    assert "Not Ada's" not in json.dumps(document)
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user="zoe", transcripts=False)
        assert await other.list_sessions(user="zoe") == []
        assert await (await other.memory(user="zoe")).items()


async def test_a_wiped_user_comes_back(engine: Everfold, clock: FakeClock) -> None:
    """After a wipe with transcripts the same store takes the document again, under new ids that memory names too."""
    await fill(engine, clock)
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    with pytest.raises(ConflictError, match="no-transcripts"):
        await engine.import_user(document, user="ada")
    await engine.wipe("ada", transcripts=True)
    await engine.import_user(document, user="ada")
    again = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    old, new = ([one["id"] for one in each["transcripts"]] for each in (document, again))
    assert not {*old} & {*new}
    text = json.dumps(without_audit(again))
    for then, now in zip(old, new, strict=True):
        text = text.replace(f'"{now}"', f'"{then}"')
    assert json.loads(text) == without_audit(document)
    memory = await engine.memory(user="ada")
    await engine.wipe("ada")
    with pytest.raises(ConflictError, match="has sessions already"):
        await engine.import_user(document, user="ada")
    await engine.wipe("ada", transcripts=True)
    await engine.import_user(document, user="ada")
    (item,) = [one for one in await memory.items() if "Zugzwang" in one.statement]
    (because,) = await memory.why(item.id)
    assert because.message is not None
    assert "Zugzwang" in because.message.view.text


async def test_what_was_looked_at_is_not_looked_at_again(engine: Everfold, clock: FakeClock) -> None:
    """An item that was forgotten before the export does not come back with the session's next message."""
    session = await fill(engine, clock)
    memory = await engine.memory(user="ada")
    (item,) = [one for one in await memory.items() if "Zugzwang" in one.statement]
    await memory.forget(item.id)
    document = await engine.export_user("ada", transcripts=True)
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user="ada")
        await (await other.session(id=session.id)).append(user("Never mind that."))
        assert not [one for one in await (await other.memory(user="ada")).items() if "Zugzwang" in one.statement]


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("transcripts",), {}, "transcripts"),
        (("transcripts", 0, "id"), "", r"transcripts\[0\]: id"),
        (("transcripts", 0, "id"), "\ud83d", r"transcripts\[0\]: id"),
        (("transcripts", 0, "limit_tokens"), 0, r"transcripts\[0\]"),
        (("transcripts", 0, "created_at"), "2026-01-01", r"transcripts\[0\].created_at"),
        (("transcripts", 0, "extra"), 1, "extra"),
        (("transcripts", 0, "extracted_seq"), 9_999, "looked past"),
        (("transcripts", 0, "messages", 0, "seq"), 2, r"messages\[0\]"),
        (("transcripts", 0, "messages", 0, "wire"), None, r"messages\[0\]"),
        (("transcripts", 0, "messages", 0, "wire"), {"role": "king"}, r"messages\[0\]"),
        (("transcripts", 0, "messages", 0, "kind"), "odd", r"messages\[0\]: kind"),
        (("transcripts", 0, "messages", 1, "origin"), "god", r"messages\[1\]: origin"),
        (("transcripts", 0, "messages", 6, "origin"), "system", r"messages\[6\]"),
        (("transcripts", 0, "messages", 0, "source"), "refresh", "external origin"),
        (("transcripts", 0, "messages", 2, "client_id"), "first \ud83d", "stands twice"),
        (("transcripts", 0, "messages", 0, "is_boundary"), 1, r"messages\[0\]: is_boundary"),
        (("transcripts", 0, "pending_calls"), None, "pending_calls"),
        (("transcripts", 0, "closed_calls"), [1], "closed_calls"),
        (("transcripts", 1, "id"), "ses_000001", "stands twice"),
        (("transcripts", 1, "parent_id"), "ses_000009", "does not stand before"),
        (("transcripts", 1, "parent_id"), None, "does not stand before"),
        (("transcripts", 1, "agent_id"), "clerk", "another agent"),
        (("transcripts", 3, "agent_id"), "default", "second current"),
    ],
)
async def test_broken_transcripts_store_nothing(
    exported: str, path: tuple[str | int, ...], value: object, where: str
) -> None:
    """A document whose sessions are not as they must be is refused with where it is broken, and makes no user."""
    document = json.loads(exported)
    assert document["transcripts"][0]["id"] == "ses_000001"
    at = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    async with everfold.open("memory://", settings=ON) as other:
        with pytest.raises(InvalidInputError, match=where):
            await other.import_user(document, user="zoe")
        with pytest.raises(NotFoundError):
            await other.get_user("zoe")
        assert await other.list_sessions() == []


def meet(engine: Everfold, monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], Awaitable[object]]) -> None:
    """Have something happen right after the first call of a method of the store."""
    read = getattr(engine._store, name)

    async def read_and_act(*arguments: object, **options: object) -> object:
        found = await read(*arguments, **options)
        monkeypatch.setattr(engine._store, name, read)
        await act()
        return found

    monkeypatch.setattr(engine._store, name, read_and_act)


READS = ["list_followed", "list_sessions", "read_client_list", "read_session_memory", "read_state", "list_stored"]


@pytest.mark.parametrize("name", READS)
async def test_an_export_of_an_active_user_can_be_imported(
    engine: Everfold, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whatever a user does between two reads of an export, its document is imported, and names no message that it lacks."""
    session = await engine.session(user="ada")
    await session.append([*talk(2), user("Look."), calls("a")])

    async def go_on() -> None:
        await session.append(
            [result("a", "one"), assistant("Seen."), user("And now?"), calls("b", "c"), result("b", "x")]
        )
        sent = [ClientMessage(content=bytes([seq]), kind="said", seq=seq, chain=bytes([seq])) for seq in range(1, 12)]
        known = await engine.admin.conversations.read(session.id)
        await engine.admin.conversations.keep(session.id, known.client_list, sent, seed=b"seed")
        branch = await session.branch(8)
        await branch.append(user("Another way."))
        await session.new()

    meet(engine, monkeypatch, name, go_on)
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user=document["user_id"])
        for one in document["transcripts"]:
            kept = (await other.admin.conversations.read(one["id"])).client_list.messages
            assert [message.seq for message in kept] == [*range(1, len(kept) + 1)]
            assert len(kept) <= len(one["messages"])
        again = await other.export_user(document["user_id"], transcripts=True)
        assert without_audit(again) == without_audit(document)


async def test_a_session_that_is_erased_during_an_export_is_not_in_it(
    engine: Everfold, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export during which a session is erased succeeds, and lacks that session."""
    kept = await engine.session(user="ada")
    erased = await engine.session(user="ada", beside=True)
    for session in (kept, erased):
        await session.append(talk(2))
    meet(engine, monkeypatch, "list_sessions", lambda: engine.erase_session(erased.id))
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    assert [one["id"] for one in document["transcripts"]] == [kept.id]


async def test_sessions_that_are_there_make_no_user(engine: Everfold) -> None:
    """An import that is refused because its sessions are in the store leaves no user of the name that it was for."""
    await (await engine.session(user="ada")).append(talk(2))
    document = await engine.export_user("ada", transcripts=True)
    with pytest.raises(ConflictError, match="are in this store"):
        await engine.import_user(document, user="zoe")
    with pytest.raises(NotFoundError):
        await engine.get_user("zoe")


async def test_a_client_list_past_the_log_is_refused(engine: Everfold) -> None:
    """A document whose client list names a message that its session lacks is refused: the message could never be stored."""
    session = await engine.session(user="ada")
    await session.append(talk(2))
    sent = [ClientMessage(content=b"1", kind="said", seq=seq) for seq in (1, 2)]
    await engine.admin.conversations.keep(session.id, ClientList(), sent, seed=b"seed")
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    document["transcripts"][0]["client_list"]["messages"][1]["seq"] = 5
    async with everfold.open("memory://", settings=ON) as other:
        with pytest.raises(InvalidInputError, match=r"transcripts\[0\].client_list: it names message 5"):
            await other.import_user(document, user="ada")


@pytest.mark.parametrize("begins", ["branch", "rewind"])
async def test_a_step_that_ended_early_comes_back(engine: Everfold, begins: str) -> None:
    """A step stays closed whose end was retracted or whose calls were erased, and its result comes late, in a branch too."""
    session = await engine.session(user="ada")
    await session.append([user("Look."), calls("a"), user("Never mind.")])
    if begins == "branch":
        await session.retract()
        branch = await session.branch(2)
        await session.append(result("a", "one"))
    else:
        branch = await session.rewind(2)
    await branch.append(result("a", "one"))
    await session.erase(2)
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    assert "late" in {message["kind"] for message in document["transcripts"][1]["messages"]}
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user=document["user_id"])
        again = await other.export_user(document["user_id"], transcripts=True)
        assert again["transcripts"] == document["transcripts"]


async def test_what_an_older_document_lacks_is_found_again(exported: str) -> None:
    """A document that says neither where logs can be cut nor which calls are known gives the same boundaries and messages."""
    document = json.loads(exported)
    for session in document["transcripts"]:
        for name in ("pending_calls", "answered_calls", "closed_calls"):
            del session[name]
        for message in session["messages"]:
            del message["is_boundary"]
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user=str(document["user_id"]))
        again = await other.export_user(document["user_id"], transcripts=True)
        for then, now in zip(json.loads(exported)["transcripts"], again["transcripts"], strict=True):
            assert now["messages"] == then["messages"]


async def test_a_branch_inside_a_step_is_refused(exported: str) -> None:
    """A document that cuts a parent's log between a call and its result is refused."""
    document = json.loads(exported)
    branch = document["transcripts"][1]
    branch |= {"branch_seq": 4, "messages": [], "extracted_seq": 0, "model_seq": 0}
    document["transcripts"] = document["transcripts"][:2]
    async with everfold.open("memory://", settings=ON) as other:
        with pytest.raises(InvalidInputError, match="cannot be cut"):
            await other.import_user(document, user="zoe")


@settings(max_examples=examples(60), deadline=None)
@given(st_openai_log() | st_anthropic_log(), st.sets(st.integers(1, 30), max_size=6), st.integers(1, 30))
def test_any_log_comes_back_with_any_messages_erased(log: GeneratedLog, gone: set[int], branch_seq: int) -> None:
    """Whatever is said and whatever of it is erased: the document of what came of it is that document again."""

    async def run() -> None:
        async with everfold.open("memory://", ids=CountingIds()) as engine, everfold.open("memory://") as other:
            session = await engine.session(user="ada")
            for message in log.messages:
                await session.append(message)
            with contextlib.suppress(EverfoldError):
                await (await session.branch(branch_seq)).append(user("Another way."))
            for seq in sorted(gone):
                if seq <= len(log.messages):
                    await session.erase(seq)
            document = await engine.export_user("ada", transcripts=True)
            await other.import_user(document, user=str(document["user_id"]))
            again = await other.export_user(str(document["user_id"]), transcripts=True)
            assert without_audit(again) == without_audit(document)
            restored = await other.session(id=session.id)
            assert (await restored.verify()).is_sound
            assert (await restored.window()).render("openai")

    anyio.run(run)
