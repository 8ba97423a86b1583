"""Every bad input is an error of ours, and the session is as it was before."""

# ruff: noqa: ASYNC240 - a test may look at its own small files where it stands
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import apsw
import pytest
from tests.support.sizes import STORES

import everfold
from everfold.adapters.transcripts import read_transcript
from everfold.core.access.users import Binding
from everfold.engine import Everfold
from everfold.errors import (
    BudgetUnsatisfiableError,
    ConflictError,
    CorruptStoreError,
    EverfoldError,
    InvalidInputError,
    NotFoundError,
    SchemaError,
)
from everfold.session import Session

HELLO: dict[str, object] = {"role": "user", "content": "Hello!"}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
STEP: dict[str, object] = {"role": "assistant", "content": None, "tool_calls": [CALL]}
USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
DEEP: dict[str, object] = {}
for _ in range(2_000):
    DEEP = {"a": DEEP}

BAD_MESSAGES: dict[str, object] = {
    "a wrong role": {"role": "bot", "content": "Hi"},
    "no role": {"content": "Hi"},
    "a role that is no string": {"role": 3, "content": "Hi"},
    "an orphan result": {"role": "tool", "tool_call_id": "nobody", "content": "done"},
    "an orphan result block": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "no", "content": ""}],
    },
    "a result without an id": {"role": "tool", "content": "done"},
    "a call id twice": {"role": "assistant", "content": None, "tool_calls": [CALL, CALL]},
    "a tool_use id twice": {"role": "assistant", "content": [USE, USE]},
    "a call of a user": {"role": "user", "content": "x", "tool_calls": [CALL]},
    "a tool_use of a user": {"role": "user", "content": [USE]},
    "a call without a name": {"role": "assistant", "tool_calls": [{"id": "c2", "type": "function", "function": {}}]},
    "an empty call id": {"role": "assistant", "tool_calls": [{**CALL, "id": ""}]},
    "an empty tool_use id": {"role": "assistant", "content": [{**USE, "id": ""}]},
    "NaN": {"role": "user", "content": "Hi", "score": float("nan")},
    "infinity in a call": {"role": "assistant", "content": [{**USE, "input": {"x": float("inf")}}]},
    "bytes": {"role": "user", "content": b"\xff\xfe"},
    "a key that is no string": {"role": "user", "content": "Hi", 7: "seven"},
    "a tuple": {"role": "user", "content": ({"type": "text", "text": "Hi"},)},
    "a set": {"role": "user", "content": {"Hi"}},
    "content that is a number": {"role": "user", "content": 3},
    "content that is an object": {"role": "user", "content": {"type": "text", "text": "Hi"}},
    "a part that is a number": {"role": "user", "content": [3]},
    "a part without a type": {"role": "user", "content": [{"text": "Hi"}]},
    "a text that is a number": {"role": "user", "content": [{"type": "text", "text": 3}]},
    "an image without a url": {"role": "user", "content": [{"type": "image_url", "image_url": {}}]},
    "tool calls that are an object": {"role": "assistant", "tool_calls": CALL},
    "a legacy call": {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
    "a name that is a number": {"role": "user", "name": 3, "content": "Hi"},
    "too deep": {"role": "user", "content": "Hi", "x": DEEP},
    "an integer beyond what Python reads": {"role": "user", "content": "Hi", "x": 10**5_000},
    "a string": "Hello!",
    "a number": 3,
    "nothing": None,
    "a list in a list": [HELLO],
}


async def snapshot(session: Session) -> object:
    """All that a session is: its state, its log, its events."""
    state = await session.inspect.state()
    log = await session.messages(1, max(state.last_seq, 1)) if state.last_seq else []
    return state, log, await session.inspect.compactions()


@pytest.fixture(params=STORES)
async def engine(request: pytest.FixtureRequest, file_url: str) -> AsyncIterator[Everfold]:
    """An engine over each store."""
    async with everfold.open(file_url if request.param == "sqlite" else "memory://") as opened:
        yield opened


@pytest.fixture
async def session(engine: Everfold) -> Session:
    """A session with a step that waits for its result."""
    session = await engine.session(limit=4_000)
    await session.append([HELLO, STEP])
    return session


@pytest.mark.parametrize("name", BAD_MESSAGES)
async def test_a_bad_message_is_refused(session: Session, name: str) -> None:
    """It is refused alone and within a batch, as invalid input, and nothing of the batch is stored."""
    before = await snapshot(session)
    with pytest.raises(InvalidInputError) as alone:
        await session.append([BAD_MESSAGES[name]])  # type: ignore[list-item]  # bad on purpose
    assert len(str(alone.value)) > 20
    with pytest.raises(InvalidInputError):
        await session.append([HELLO, BAD_MESSAGES[name], HELLO])  # type: ignore[list-item]  # bad on purpose
    assert await snapshot(session) == before
    await session.append({"role": "tool", "tool_call_id": "c1", "content": "done"})
    assert (await session.verify()).is_sound


@pytest.mark.parametrize("name", ["a string", "a number", "nothing"])
async def test_what_is_no_message_at_all_is_refused(session: Session, name: str) -> None:
    """Given in place of the messages, it is invalid input too, not a failure of Python's."""
    before = await snapshot(session)
    with pytest.raises(InvalidInputError):
        await session.append(BAD_MESSAGES[name])  # type: ignore[arg-type]  # bad on purpose
    assert await snapshot(session) == before


async def observe_less_than_nothing(session: Session) -> None:
    """Tell that a provider counted less than nothing."""
    await session.observe_usage(await session.window(preview=True), counted_tokens=-1)


BAD_CALLS: dict[str, tuple[type[EverfoldError], Callable[[Session], Awaitable[object]]]] = {
    "negative limit": (InvalidInputError, lambda s: s.window(limit=-1)),
    "limit of zero": (InvalidInputError, lambda s: s.window(limit=0)),
    "limit that is no number": (InvalidInputError, lambda s: s.window(limit="many")),  # type: ignore[arg-type]
    "limit that is no whole number": (InvalidInputError, lambda s: s.window(limit=2000.5)),  # type: ignore[arg-type]
    "limit above the session's": (InvalidInputError, lambda s: s.window(limit=4_001)),
    "limit that cannot work": (BudgetUnsatisfiableError, lambda s: s.window(limit=400)),
    "preview of a limit that cannot work": (BudgetUnsatisfiableError, lambda s: s.window(limit=400, preview=True)),
    "keep none": (InvalidInputError, lambda s: s.compact(keep_recent=0)),
    "keep a negative count": (InvalidInputError, lambda s: s.compact(keep_recent=-3, dry_run=True)),
    "unknown origin": (InvalidInputError, lambda s: s.append(HELLO, origin="ghost")),  # type: ignore[arg-type]
    "origin above the role": (
        InvalidInputError,
        lambda s: s.append({"role": "assistant", "content": "x"}, origin="user"),
    ),
    "unknown source": (InvalidInputError, lambda s: s.append(HELLO, source="dream")),
    "unknown form": (InvalidInputError, lambda s: s.append(HELLO, wire_format="morse")),  # type: ignore[arg-type]
    "time without a zone": (InvalidInputError, lambda s: s.append(HELLO, said_at=datetime(2031, 1, 1))),  # noqa: DTZ001
    "range from zero": (InvalidInputError, lambda s: s.messages(0, 1)),
    "range that falls": (InvalidInputError, lambda s: s.messages(2, 1)),
    "range too long": (InvalidInputError, lambda s: s.messages(1, 10**6)),
    "page of what is not there": (NotFoundError, lambda s: s.read(99)),
    "page that is not there": (NotFoundError, lambda s: s.read(1, page=2)),
    "page zero": (NotFoundError, lambda s: s.read(1, page=0)),
    "branch at nothing": (InvalidInputError, lambda s: s.branch(99)),
    "branch at zero": (InvalidInputError, lambda s: s.branch(0)),
    "rewind inside a step": (InvalidInputError, lambda s: s.rewind(2)),
    "erase what is not there": (NotFoundError, lambda s: s.erase(99)),
    "search for too many": (InvalidInputError, lambda s: s.search("hello", limit=0)),
    "usage below nothing": (InvalidInputError, observe_less_than_nothing),
}


@pytest.mark.parametrize("name", BAD_CALLS)
async def test_a_bad_call_is_refused(session: Session, name: str) -> None:
    """It raises the error that fits, with a message that says more than its class, and changes nothing."""
    kind, call = BAD_CALLS[name]
    before = await snapshot(session)
    with pytest.raises(kind) as refusal:
        await call(session)
    assert len(str(refusal.value)) > 20
    assert await snapshot(session) == before


async def test_a_client_id_names_one_message(session: Session) -> None:
    """The same id with another message is a conflict; with the same message it changes nothing."""
    await session.append({"role": "tool", "tool_call_id": "c1", "content": "done"})
    assert await session.append(HELLO, client_id="m1") == [4]
    before = await snapshot(session)
    with pytest.raises(ConflictError):
        await session.append({"role": "user", "content": "Other"}, client_id="m1")
    assert await session.append(HELLO, client_id="m1") == [4]
    assert await snapshot(session) == before


@pytest.mark.parametrize("limit", [-5, 0, 1, 899, True, 2.5, "9"])
async def test_a_bad_limit_opens_nothing(engine: Everfold, limit: object) -> None:
    """A session is not opened with a limit that is none or that cannot work, and none is left behind."""
    with pytest.raises((InvalidInputError, BudgetUnsatisfiableError)):
        await engine.session(limit=limit)  # type: ignore[arg-type]  # bad on purpose
    assert await engine.list_sessions() == []


@pytest.mark.parametrize("limit", [-5, 0, 500, "9"])
async def test_a_bad_limit_changes_nothing(engine: Everfold, session: Session, limit: object) -> None:
    """A session that is there keeps its settings when it is asked for with a limit that cannot work."""
    before = (await engine.session(id=session.id)).record
    with pytest.raises((InvalidInputError, BudgetUnsatisfiableError)):
        await engine.session(limit=limit)  # type: ignore[arg-type]  # bad on purpose
    assert (await engine.session(id=session.id)).record == before


@pytest.mark.parametrize("limit", [-1, 0, 1_001, 2.5, "9", None])
async def test_a_page_that_has_no_size_is_refused(engine: Everfold, session: Session, limit: Any) -> None:
    """Every list refuses a page of fewer than one entry, of too many, and of what is no number, in any store."""
    memory = await engine.memory()
    for ask in (
        partial(engine.list_sessions, limit=limit),
        partial(engine.admin.browse_sessions, limit=limit),
        partial(engine.list_users, limit=limit),
        partial(engine.admin.unfinished, limit=limit),
        partial(engine.admin.degraded, limit=limit),
        partial(engine.admin.api_keys.list_api_keys, limit=limit),
        partial(session.inspect.compactions, limit=limit),
        partial(session.inspect.calls, limit=limit),
        partial(memory.items, limit=limit),
        partial(memory.dreams, limit=limit),
        partial(memory.extractions, limit=limit),
        partial(memory.audit, limit=limit),
    ):
        with pytest.raises(InvalidInputError, match=r"a page has 1 to 1,000 entries|limit must be a whole number"):
            await ask()


@pytest.mark.parametrize(
    "settings",
    [
        {"system": 3},
        {"system": b"Be kind."},
        {"tools": "search"},
        {"tools": [float("nan")]},
        {"tools": [{"name": {1, 2}}]},
        {"tools": [{1: 2}]},
        {"user": ""},
        {"agent": " "},
        {"user": None},
    ],
)
async def test_bad_settings_open_nothing(engine: Everfold, settings: dict[str, object]) -> None:
    """A prompt, a tool or a name that is none is invalid input, and no session is left behind."""
    with pytest.raises(InvalidInputError):
        await engine.session(limit=8_000, **settings)  # type: ignore[arg-type]  # bad on purpose
    assert await engine.list_sessions() == []


async def test_an_unknown_session_is_not_found(engine: Everfold, session: Session) -> None:
    """An id that nothing has is not found, whatever it looks like."""
    for unknown in ("ses_unknown", "", session.id + "x", "'; DROP TABLE messages"):
        with pytest.raises(NotFoundError):
            await engine.session(id=unknown)


async def test_odd_but_real_logs_are_accepted(engine: Everfold) -> None:
    """Reused call ids, calls without results, lone surrogates and a log that the assistant opens are stored."""
    session = await engine.session(limit=4_000, agent="odd")
    result: dict[str, object] = {"role": "tool", "tool_call_id": "c1", "content": "done \ud83d"}
    wires: list[dict[str, object]] = [
        STEP,
        result,
        HELLO,
        STEP,
        result,
        STEP,
        HELLO,
        result,
        {"role": "assistant", "content": "\udc00"},
        STEP,
    ]
    await session.append(wires)
    log = await session.messages(1, 100)
    assert [message.wire for message in log] == wires
    assert (await session.verify()).is_sound
    assert (await session.window()).report.withheld_seqs == (len(wires),)


# --- files


async def open_file(path: Path) -> None:
    """Open a database file and let it go."""
    async with everfold.open(f"sqlite:///{path}") as engine:
        await engine.session()


async def test_a_directory_is_no_database(tmp_path: Path) -> None:
    """A directory in place of the file is invalid input, and stays empty."""
    with pytest.raises(InvalidInputError, match="directory"):
        await open_file(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"once upon a time\n" * 300, b"\x00" * 4_096, bytes(range(256)) * 64, b"x"])
async def test_a_file_that_is_no_database_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    """A text or any other file is refused, names what was expected, and no byte of it changes."""
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(CorruptStoreError, match="expected"):
        await open_file(path)
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


async def test_a_database_of_another_program_stays_as_it_is(tmp_path: Path) -> None:
    """A database with tables of another program is refused and not written."""
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE wine (name)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(CorruptStoreError, match="another program"):
        await open_file(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("INSERT INTO migrations (name, checksum) VALUES ('9999_later', 'x')", "newer"),
        ("UPDATE migrations SET checksum = 'x' WHERE name LIKE '0001%'", "is not the one"),
    ],
)
async def test_a_schema_that_is_not_ours_is_refused(tmp_path: Path, statement: str, words: str) -> None:
    """A newer schema and a changed migration are refused with what to do, and the file is left alone."""
    path = tmp_path / "log.db"
    await open_file(path)
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.pragma("wal_checkpoint(truncate)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(SchemaError, match=words):
        await open_file(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("url", ["", "log.db", "sqlite://", "sqlite:///", "postgres://x/y", "memory:///", "file:///x"])
async def test_an_unknown_url_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store url of no known form is invalid input, and nothing is made in the working folder."""
    monkeypatch.chdir(tmp_path)
    if url:
        with pytest.raises(InvalidInputError, match="expected"):
            async with everfold.open(url):
                pass
    assert list(tmp_path.iterdir()) == []


UNFIT: dict[str, Callable[[Everfold, Session], Awaitable[object]]] = {
    "a client id that is no text": lambda _, session: session.append(HELLO, client_id=cast("str", UUID(int=7))),
    "a time that is no time": lambda _, session: session.append(HELLO, said_at=cast("datetime", "2026-03-01")),
    "a session id that is no text": lambda engine, _: engine.session(id=cast("str", UUID(int=7))),
    "half of a character": lambda engine, _: engine.session(id="\udcff"),
    "half of a character in a page": lambda engine, _: engine.list_sessions(after="\udcff"),
    "an event that is no text": lambda engine, _: engine.admin.get_compaction(cast("str", UUID(int=7))),
}


@pytest.mark.parametrize("asked", UNFIT.values(), ids=UNFIT.keys())
async def test_a_value_that_is_no_id_is_not_called_damage(
    engine: Everfold, session: Session, asked: Callable[[Everfold, Session], Awaitable[object]]
) -> None:
    """A caller that asks with a value that no store can hold is told so, and is not sent to a backup for it."""
    before = await snapshot(session)
    with pytest.raises((InvalidInputError, NotFoundError)):
        await asked(engine, session)
    assert await snapshot(session) == before


LONG, WITH_NUL = "é" * 513, "a\0b"
NAMED: dict[str, Callable[[Everfold, Session, str], Awaitable[object]]] = {
    "a user": lambda engine, _, name: engine.session(user=name),
    "an agent": lambda engine, _, name: engine.session(agent=name),
    "an agent of a list": lambda engine, _, name: engine.list_sessions(agent=name),
    "an agent of a page": lambda engine, _, name: engine.admin.browse_sessions(agent=name),
    "a binding": lambda engine, _, name: engine.add_user("Ada", bindings=[f"mail:{name}"]),
    "a binding that is made": lambda engine, _, name: engine.admin.users.add(
        "Ada", [Binding(channel="mail", own_id=name)]
    ),
    "a channel": lambda engine, _, name: engine.admin.users.add("Ada", [Binding(channel=name, own_id="ada")]),
    "an agent of an API key": lambda engine, _, name: engine.admin.api_keys.make("desk", f"agent:{name}"),
    "a user of an API key": lambda engine, _, name: engine.admin.api_keys.make("desk", f"user:{name}"),
    "a session id": lambda engine, _, name: engine.session(id=name),
    "a client id": lambda _, session, name: session.append(HELLO, client_id=name),
    "a client id of a message": lambda _, session, name: session.append([HELLO, HELLO], client_ids=["m1", name]),
}


@pytest.mark.parametrize("name", [LONG, WITH_NUL], ids=["too long", "with a NUL"])
@pytest.mark.parametrize("asked", NAMED.values(), ids=NAMED.keys())
async def test_an_id_that_not_every_store_holds_is_refused(
    engine: Everfold, session: Session, asked: Callable[[Everfold, Session, str], Awaitable[object]], name: str
) -> None:
    """A name of more than 512 characters, or with a NUL, is refused by its kind in every store, and changes nothing."""
    before = await snapshot(session), await engine.list_users()
    with pytest.raises(InvalidInputError, match="at most 512 characters and no NUL"):
        await asked(engine, session, name)
    assert (await snapshot(session), await engine.list_users()) == before


async def test_the_longest_ids_are_taken(engine: Everfold) -> None:
    """A user, an agent and a client id of 512 characters are held."""
    name = LONG[:512]
    session = await engine.session(user=name, agent=name)
    assert await session.append([HELLO, HELLO], client_id=name) == [1, 2]
    assert await session.append([HELLO, HELLO], client_id=name) == [1, 2]


async def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    """A database in a folder that does not exist cannot be opened, and the folder is not made."""
    path = tmp_path / "nowhere" / "log.db"
    with pytest.raises(EverfoldError, match="nowhere"):
        await open_file(path)
    assert not path.parent.exists()


async def test_a_broken_transcript_stores_nothing(session: Session, tmp_path: Path) -> None:
    """Bytes that are no UTF-8, NaN and a cut-off line are refused with path and line before anything is appended."""
    lines = [json.dumps(HELLO).encode(), b'{"role": "user", "content": "\xff"}', json.dumps(HELLO).encode()]
    before = await snapshot(session)
    for number, bad in enumerate(
        [b'{"role": "user", "content": "\xff"}', b'{"role": "user", "x": NaN}', b'{"role": "us']
    ):
        path = tmp_path / f"bad{number}.jsonl"
        path.write_bytes(b"\n".join([lines[0], bad, lines[2]]))
        with pytest.raises(InvalidInputError) as refusal:
            read_transcript(path)
        assert refusal.value.ids["line"] == 2
        assert str(path) in str(refusal.value)
    assert await snapshot(session) == before
