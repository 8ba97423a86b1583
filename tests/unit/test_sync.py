"""The sync face: the async one, call by call, on a thread of its own that ends with it."""

import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from tests.support.sizes import STORES

import everfold
from everfold import Settings, sync_classes
from everfold.core.log.client_lists import ClientMessage
from everfold.core.log.transcripts import Conversation, Transcript, TranscriptMessage
from everfold.core.observation.events import SessionSwitched
from everfold.errors import (
    BudgetUnsatisfiableError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    StoreUnavailableError,
)
from everfold.testing.kit.builders import assistant, talk, user
from everfold.testing.kit.fakes import STARTED_AT, CountingIds, FakeClock
from everfold.testing.kit.hearing import Hearing

SCRIPT = """
import everfold

with everfold.open_sync("sqlite:///{path}") as engine:
    session = engine.session(user="ada", limit=4000)
    for number in range(30):
        session.append({{"role": "user", "content": f"Berth {{number}} costs {{number * 17}} euros."}})
        session.append({{"role": "assistant", "content": "Noted. " * 40}})
        window = session.window()
    print(len(window.render("openai")["messages"]), session.search("berth 3")[0].seq, session.verify().is_sound)
"""


LEFT_OPEN = """
import everfold
from everfold.core.log.transcripts import TranscriptMessage

engine = everfold.open_sync("sqlite:///{path}").open()
session = engine.session(user="ada")
assert session.append({{"role": "user", "content": "Berth 7 is free."}}) == [1]
spoken = TranscriptMessage(wire={{"role": "user", "content": "And berth 8?"}}, wire_format="openai", line=1)
turns = engine.session(user="ben").inspect.replay([spoken, spoken]).turns()
next(turns)
events = engine.events()
{end}
"""

FORK = """
import os
import warnings
import everfold
from everfold.errors import StoreUnavailableError

warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on of every fork of a program with threads
with everfold.open_sync("sqlite:///{path}") as engine:
    session = engine.session(user="ada")
    session.append({{"role": "user", "content": "Berth 7 is free."}})
    child = os.fork()
    if child == 0:
        try:
            session.append({{"role": "user", "content": "Berth 8 is free."}})
        except StoreUnavailableError:
            engine.open()
            engine.session(user="ada").append({{"role": "user", "content": "Berth 9 is free."}})
        raise SystemExit(7)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    session.append({{"role": "user", "content": "Berth 10 is free."}})
    print(code, [message.view.text for message in session.messages()])
"""


def threads() -> set[threading.Thread]:
    """The threads that are alive."""
    return set(threading.enumerate())


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, file_url: str) -> str:
    """The url of a new store of each kind."""
    return file_url if request.param == "sqlite" else "memory://"


@pytest.mark.anyio
async def test_it_does_the_same(tmp_path: Path) -> None:
    """What the sync face gives for the same calls is what the async one gives."""
    wires = talk(30)
    async with everfold.open(f"sqlite:///{tmp_path}/async.db", ids=CountingIds(), clock=FakeClock()) as engine:
        session = await engine.session(limit=4000, system="Be brief.")
        seqs = [await session.append(wire, said_at=STARTED_AT) for wire in wires]
        window = await session.window()
        hits = await session.search("berth 7")
        history = await session.messages(1, 60)
    with everfold.open_sync(f"sqlite:///{tmp_path}/sync.db", ids=CountingIds(), clock=FakeClock()) as blocking:
        same = blocking.session(limit=4000, system="Be brief.")
        assert [same.append(wire, said_at=STARTED_AT) for wire in wires] == seqs
        assert same.window() == window
        assert same.search("berth 7") == hits
        assert same.messages(1, 60) == history
        assert same.id == session.id
        assert same.settings == session.settings


def test_sessions_and_engine(url: str) -> None:
    """Every session that a session gives blocks too: branches, new ones, and those found by id."""
    with everfold.open_sync(url) as engine:
        session = engine.session(limit=4000)
        assert session.append(talk(10)) == list(range(1, 21))
        branch = session.branch(10)
        assert branch.append(user("on")) == [11]
        assert session.new().append(user("one")) == [1]
        session.integration.resume()
        assert engine.session(limit=4000).id == session.id
        assert engine.session(id=branch.id).inspect.state().last_seq == 11
        assert [fold.report.trigger for fold in session.compact(keep_recent=4)] == ["manual"]
        assert session.verify().is_sound
        assert len(engine.list_sessions()) == 3
        assert engine.search("berth")
        assert engine.admin.check_store() == []


def test_iterating(url: str) -> None:
    """What is iterated asynchronously there is iterated plainly here, item by item."""
    with everfold.open_sync(url) as engine:
        session = engine.session(limit=4000)
        wires = talk(8)
        messages = [
            TranscriptMessage(wire=dict(wire), wire_format="openai", line=line) for line, wire in enumerate(wires, 1)
        ]
        replay = session.inspect.replay(messages)
        turns = [turn.played_count for turn in replay.turns()]
        assert turns[-1] == 16
        assert replay.report().messages_count == 16
        assert [message.wire for message in session.messages(1, 16)] == wires


def test_memory(url: str) -> None:
    """What is known of a user blocks too, and so do the tools that an agent has for it."""
    agents = {"shop": {"memory_system": "structured"}}
    with everfold.open_sync(url, settings={"agents": agents}) as engine:
        session = engine.session(user="ann", agent="shop")
        session.append(user("My name is Ann and I live in Graz."))
        memory = engine.memory(user="ann")
        [item] = memory.items()
        assert [because.message.seq for because in memory.why(item.id)] == [1]
        assert memory.edit(item.id, "Ann lives in Vienna.", expected_revision=1).revision == 2
        tools = session.tools()
        assert tools.call("memory_add", {"statement": "The back door sticks.", "tier": "agent"}).is_terminal
        assert "The back door sticks." in tools.memory_list("agent").text
        tools.begin_turn()
        assert [it.statement for it in engine.memory(user="ann", agent="other").items()] == ["Ann lives in Vienna."]
        with pytest.raises(NotFoundError):
            memory.item("itm_0")


def test_an_iteration_that_is_left_early(url: str) -> None:
    """An iteration that is not run to its end leaves the engine as usable as before."""
    with everfold.open_sync(url) as engine:
        session = engine.session(limit=4000)
        messages = [
            TranscriptMessage(wire=dict(wire), wire_format="openai", line=line) for line, wire in enumerate(talk(8), 1)
        ]
        for turn in session.inspect.replay(messages).turns():
            assert turn.played_count == 1
            break
        assert session.append(assistant("on")) == [2]


def test_errors_pass_through(url: str) -> None:
    """An error arrives as it was raised, with its ids, and the engine goes on."""
    with everfold.open_sync(url) as engine:
        with pytest.raises(NotFoundError) as caught:
            engine.session(id="ses_nowhere")
        assert caught.value.ids == {"session": "ses_nowhere"}
        with pytest.raises(BudgetUnsatisfiableError) as unsatisfiable:
            engine.session(limit=10)
        assert unsatisfiable.value.smallest_limit_tokens > 10
        session = engine.session()
        with pytest.raises(InvalidInputError):
            session.append({"role": "waiter", "content": "hello"})
        with pytest.raises(TypeError):
            session.append()
        with pytest.raises(AttributeError):
            session.no_such_method()
        assert session.append(assistant("still here")) == [1]


def test_an_error_inside_the_block(url: str) -> None:
    """An error of the caller's own inside the block arrives unchanged."""
    with pytest.raises(KeyError, match="mine"), everfold.open_sync(url):
        raise KeyError("mine")


def test_a_path_is_a_store(tmp_path: Path) -> None:
    """A path names the SQLite file that a url with the same path names."""
    with everfold.open_sync(tmp_path / "talk.db") as engine:
        engine.session().append(user("hello"))
    with everfold.open_sync(f"sqlite:///{tmp_path}/talk.db") as engine:
        assert engine.session().messages(1, 1)[0].wire == user("hello")


def test_a_search_of_memory_names_what_it_found(url: str) -> None:
    """A hit of a search of memory has the item and its score by name."""
    with everfold.open_sync(url) as engine:
        session = engine.session(user="ann")
        item = engine.memory(user=session.record.user_id).add("The back door sticks.")
        [hit] = engine.memory(user=session.record.user_id).search("door")
        assert hit == everfold.ItemHit(item=item, score=hit.score)


def test_opened_and_closed_by_hand(url: str) -> None:
    """Between `open()` and `close()` the engine is there, before and after it is not, and no thread is left."""
    before = threads()
    engine = everfold.open_sync(url)
    with pytest.raises(ConflictError, match="is not open"):
        engine.session()
    assert engine.open() is engine.open()
    engine.session().append(user("hello"))
    engine.close()
    engine.close()
    assert threads() == before
    with pytest.raises(ConflictError, match="is not open"):
        engine.session()


def test_opened_again(tmp_path: Path) -> None:
    """An engine that was closed is opened again over the same store."""
    engine = everfold.open_sync(tmp_path / "talk.db")
    for number in (1, 2):
        with engine:
            assert engine.session().append(user("hello")) == [number]


def test_opening_fails(tmp_path: Path) -> None:
    """What cannot be opened raises what the async face raises, and leaves no thread behind."""
    before = threads()
    with pytest.raises(InvalidInputError, match="is a directory"), everfold.open_sync(f"sqlite:///{tmp_path}"):
        pass
    with pytest.raises(InvalidInputError, match="has an unknown form"), everfold.open_sync("ftp://here"):
        pass
    with pytest.raises(InvalidInputError, match="use memory://"), everfold.open_sync("sqlite:///:memory:"):
        pass
    assert threads() == before


def test_its_threads_end_with_it(url: str) -> None:
    """After the block no thread is left, and nothing more can be asked."""
    before = threads()
    with everfold.open_sync(url) as engine:
        session = engine.session()
        session.append(user("hello"))
        assert threads() > before
    assert threads() == before
    with pytest.raises(StoreUnavailableError, match="was closed; open it again"):
        session.append(user("too late"))


def test_several_threads(url: str) -> None:
    """Several threads may use sessions of one engine at once."""
    with everfold.open_sync(url) as engine:

        def talk_some(name: str) -> None:
            session = engine.session(user=name, limit=4000)
            for wire in talk(10, topic=name):
                session.append(wire)
            session.window()

        names = [f"user{number}" for number in range(4)]
        workers = [threading.Thread(target=talk_some, args=(name,)) for name in names]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for name in names:
            assert engine.session(user=name).inspect.state().last_seq == 20


def test_settings_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings and the file of settings hold as they do for the async face."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.toml").write_text("[model]\ncontext_limit = 9000\n", "utf-8")
    with everfold.open_sync("memory://", config=tmp_path / "shop.toml") as engine:
        assert engine.session().settings.limit_tokens == 9000
    with everfold.open_sync("memory://", settings=Settings()) as engine:
        assert engine.session().settings.limit_tokens == 128_000


def run_script(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of its own in a folder."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=folder,
    )


def test_a_plain_script(tmp_path: Path) -> None:
    """A script without an event loop runs to its end and leaves nothing running."""
    done = run_script(SCRIPT.format(path=tmp_path / "log.db"), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    count, seq, is_sound = done.stdout.split()
    assert int(count) < 60
    assert int(seq) == 7
    assert is_sound == "True"


def test_a_fork_opens_it_anew(tmp_path: Path) -> None:
    """In a fork of the process a call is refused and does not wait for ever, the engine opens again, and leaving it ends."""
    done = run_script(FORK.format(path=tmp_path / "log.db"), tmp_path)
    texts = ["Berth 7 is free.", "Berth 9 is free.", "Berth 10 is free."]
    assert (done.returncode, done.stdout, done.stderr) == (0, f"7 {texts}\n", "")


@pytest.mark.parametrize(
    ("end", "code", "told"),
    [pytest.param("", 0, "", marks=pytest.mark.slow), ('raise SystemExit("boom")', 1, "boom\n")],
)
def test_a_script_that_does_not_close_it(tmp_path: Path, end: str, code: int, told: str) -> None:
    """A program that ends with an open engine ends, without a word of it, and what was appended is stored."""
    done = run_script(LEFT_OPEN.format(path=tmp_path / "log.db", end=end), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", told)
    with everfold.open_sync(f"sqlite:///{tmp_path}/log.db") as engine:
        session = engine.session(user="ada")
        assert session.messages(1, 1)[0].wire == user("Berth 7 is free.")
        assert session.append(user("Berth 8 too.")) == [2]
        assert session.verify().is_sound
        assert engine.admin.check_store() == []


def test_opened_by_several_threads_at_once(tmp_path: Path) -> None:
    """Threads that open an engine at the same time get one and the same, and one close ends it."""
    before = threads()
    engine = everfold.open_sync(tmp_path / "talk.db")
    barrier = threading.Barrier(4)
    opened: list[int] = []

    def open_it() -> None:
        barrier.wait(10)
        opened.append(id(engine.open()._wrapped))

    openers = [threading.Thread(target=open_it) for _ in range(4)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    engine.close()
    assert len(opened) == 4
    assert len(set(opened)) == 1
    assert threads() == before


def test_what_it_gave_after_it_closed(url: str) -> None:
    """A session, a memory and an iteration that outlive their engine say that it was closed, as the async face does."""
    with everfold.open_sync(url) as engine:
        session = engine.session(user="ann")
        session.append(user("Hello."))
        memory = engine.memory(user="ann")
        spoken = TranscriptMessage(wire=user("And berth 8?"), wire_format="openai", line=1)
        turns = session.inspect.replay([spoken, spoken]).turns()
        next(turns)
    for ask in (lambda: session.append(user("Late.")), session.messages, session.window, memory.items, session.tools):
        with pytest.raises(StoreUnavailableError, match="was closed; open it again"):
            ask()
    with pytest.raises(StoreUnavailableError, match="was closed; open it again"):
        next(turns)


def test_an_iteration_of_the_engine_outlives_it(url: str) -> None:
    """An import that is left before its end is closed without an error after its engine was, and never goes on in another."""
    spoken = TranscriptMessage(wire=user("And berth 8?"), wire_format="openai", line=1)
    talks = tuple(Conversation(name=name, messages=(spoken,)) for name in ("a", "b"))
    engine = everfold.open_sync(url).open()
    left, going_on = (engine.import_transcript(Transcript(format="openai", conversations=talks)) for _ in range(2))
    next(left)
    next(going_on)
    engine.close()
    left.close()
    with engine.open(), pytest.raises(StoreUnavailableError, match="was closed; open it again"):
        next(going_on)


def test_events_are_iterated_until_the_engine_closes(url: str) -> None:
    """What the engine does is iterated with `for`, in a thread that waits for it, and ends with the engine."""
    told: list[str] = []
    listening = threading.Event()

    def listen() -> None:
        events = engine.events()
        listening.set()
        told.extend(event.kind for event in events)

    with everfold.open_sync(url) as engine:
        thread = threading.Thread(target=listen)
        thread.start()
        assert listening.wait(10)
        engine.session().new()
    thread.join(10)
    assert not thread.is_alive()
    assert told == ["session_switched", "session_switched"]


def test_events_are_read_after_the_engine_closed(url: str) -> None:
    """What happened before the engine closed can be read when its thread is gone."""
    with everfold.open_sync(url) as engine:
        events = engine.events()
        session = engine.session()
    assert [event.session_id for event in events] == [session.id]


def test_events_can_be_left(url: str) -> None:
    """A loop over events that is left early leaves nothing behind, and the engine goes on."""
    with everfold.open_sync(url) as engine:
        events = engine.events()
        session = engine.session()
        assert next(events).session_id == session.id
        events.close()
        session.append(user("Hello."))
        assert not engine._wrapped._stream.feed.hears(SessionSwitched)


def test_hooks_are_called(url: str) -> None:
    """Hooks are async also here, and run on the engine's thread before the call that they are about returns."""
    plugin = Hearing()
    before = threads()
    with everfold.open_sync(url, hooks=[plugin]) as engine:
        engine.session().append([user("Hello."), assistant("Hi.")])
        assert plugin.hooks == ["on_session_switch", "on_turn_start", "on_turn_end"]
    assert threads() == before


def test_an_old_name_is_refused(url: str) -> None:
    """The sync face refuses an argument by its old name as the async one does."""
    with everfold.open_sync(url) as engine, pytest.raises(InvalidInputError, match="`key` is now `session_key`"):
        engine.session(key="thread-42")  # type: ignore[call-arg]  # what older programs do


def test_keys_block_too(url: str) -> None:
    """A key that is made through the sync face is checked, listed and revoked through it."""
    with everfold.open_sync(url) as engine:
        made = engine.admin.api_keys.make("desk", "agent:guide")
        assert engine.admin.api_keys.check(made.secret).id == made.api_key.id
        assert [key.id for key in engine.admin.api_keys.list_api_keys()] == [made.api_key.id]
        assert engine.admin.api_keys.revoke("desk").revoked_at is not None


def list_types(hint: object) -> Iterator[type]:
    """The classes that a type is made of."""
    if isinstance(hint, type) and not get_args(hint):
        yield hint
    for argument in get_args(hint):
        yield from list_types(argument)


def test_nothing_that_it_gives_is_async() -> None:
    """No method or property of the sync face gives an object with async methods."""
    faces = [cls for name, cls in vars(sync_classes).items() if name.startswith("Sync")]
    assert len(faces) > 10
    waits: set[str] = set()
    for face in faces:
        for name, member in vars(face).items():
            method = member.fget if isinstance(member, property) else member
            if not inspect.isfunction(method):
                continue
            for given in list_types(get_type_hints(method).get("return")):
                if any(map(inspect.iscoroutinefunction, vars(given).values())):
                    waits.add(f"{face.__name__}.{name} gives {given.__name__}")
    assert not waits


def test_conversations_block_too(url: str) -> None:
    """What the clients of a gateway hold is read and kept through the sync face."""
    with everfold.open_sync(url) as engine:
        session = engine.session()
        session.integration.create()
        kept = ClientMessage(content=b"1" * 16, kind="said", seq=1, chain=b"2" * 16)
        conversations = engine.admin.conversations
        before = conversations.read(session.id).client_list
        after = conversations.keep(session.id, before, [kept], seed=b"3" * 16)
        assert conversations.read(session.id).client_list == after
