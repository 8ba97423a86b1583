"""What a database is asked for, statement by statement: nothing for what is not used."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from bench.material.logs import endless_log
from tests.support.sizes import some
from tests.support.waiting import until

import everfold
from everfold import Everfold, Session
from everfold.adapters.dispatch.in_process import InProcessDispatcher
from everfold.adapters.sql.queries import load_queries
from everfold.core.compaction.tasks import Task, Written
from everfold.errors import ModelUnavailableError
from everfold.testing.kit.fakes import FakeSource

pytestmark = pytest.mark.usefixtures("nothing_put_off")

APPEND = ["BEGIN IMMEDIATE", "write_state", "insert_message", "insert_search_row", "COMMIT"]
"""The one transaction of an append: state with its revision, the message, its search row. It reads nothing."""
STATE = ["read_state"]
"""All that a window asks when no other handle has written: the state, with its revision."""
NO_RECALL: Mapping[str, Mapping[str, object]] = {"recall": {"enabled": False}}
TALK = [{"role": role, "content": f"The boat {n} is painted."} for n in range(30) for role in ("user", "assistant")]


def _squeeze(sql: str) -> str:
    """A statement without its comments and line breaks."""
    return " ".join(" ".join(line for line in sql.splitlines() if not line.startswith("--")).split())


class Trace:
    """The statements of every connection since the last look, by the names of their queries, and the rows they gave.

    What a virtual table does for itself is not the caller's statement, and is left out.
    """

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.rows_count = 0
        self._names = {_squeeze(sql): name for name, sql in load_queries("sqlite").items()}
        self._asked: dict[int, object] = {}

    def watch(self, connection: apsw.Connection) -> None:
        """A connection hook."""
        connection.trace_v2(apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_ROW, self._keep, id=self)

    def _keep(self, event: dict[str, object]) -> None:
        connection = id(event["connection"])
        if event["code"] == apsw.SQLITE_TRACE_ROW:
            # Statements come and go at the same address: only the one that was asked last gives the caller's rows.
            self.rows_count += self._asked.get(connection) == event["id"]
            return
        # SQLite marks what runs inside a statement with a comment sign, which the driver takes away, also from ours.
        sql = _squeeze(f"-- {event['sql']}" if event["trigger"] else str(event["sql"]))
        if event["trigger"] and sql not in self._names:
            return
        self.statements.append(self._names.get(sql, sql))
        self._asked[connection] = event["id"] if sql.startswith("SELECT") else None

    def take(self) -> tuple[list[str], int]:
        """The statements and the number of rows, and begin anew."""
        taken = self.statements, self.rows_count
        self.statements, self.rows_count = [], 0
        return taken


@pytest.fixture
def trace() -> Iterator[Trace]:
    """A trace of every connection that the test opens."""
    trace = Trace()
    apsw.connection_hooks.append(trace.watch)
    yield trace
    apsw.connection_hooks.remove(trace.watch)


@pytest.fixture
async def engine(trace: Trace, file_url: str) -> AsyncIterator[Everfold]:  # noqa: ARG001 - traced from its opening
    """An engine over a traced file, without recall, which has a test of its own."""
    async with everfold.open(file_url, settings=NO_RECALL) as opened:
        yield opened


async def steady(engine: Everfold) -> Session:
    """A session that has compacted many times, whose last window is known to its handle, far from the next one."""
    session = await engine.session(limit=some(8_000, 2_500))
    for entry in endless_log(2, messages_count=some(120, 50)):
        await session.append(entry.wire)
        await session.window()
    await session.compact(keep_recent=2)
    await session.window()
    assert (await session.inspect.state()).compactions_count > 3
    return session


async def test_a_turn_asks_for_nothing_but_its_own(engine: Everfold, trace: Trace) -> None:
    """An append is one transaction of four known statements and a window one row, turn after turn."""
    session = await steady(engine)
    for wire in TALK[:8]:
        trace.take()
        await session.append(wire)
        assert trace.take() == (APPEND, 0)
        await session.window()
        assert trace.take() == (STATE, 1)


async def test_a_batch_is_one_transaction(engine: Everfold, trace: Trace) -> None:
    """A batch adds a message and a search row each, and nothing else."""
    session = await steady(engine)
    trace.take()
    await session.append(TALK[:5])
    each = ["insert_message"] * 5 + ["insert_search_row"] * 5
    assert trace.take() == ([*APPEND[:2], *each, "COMMIT"], 0)


async def test_a_step_asks_for_nothing_but_its_own(engine: Everfold, trace: Trace) -> None:
    """Calls and results are read from what the handle knows: an open step costs no query, a closed one only settles what is cut."""
    session = await steady(engine)
    call = {"id": "call_9", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    paste = " ".join(f"word{number}" for number in range(20_000))
    trace.take()
    await session.append({"role": "assistant", "content": None, "tool_calls": [call]})
    assert trace.take() == (APPEND, 0)
    await session.window()
    assert trace.take() == (STATE, 1)
    await session.append({"role": "tool", "tool_call_id": "call_9", "content": "fine"})
    assert trace.take() == (APPEND, 0)
    await session.append([{"role": "assistant", "content": None, "tool_calls": [call]}])
    trace.take()
    await session.append({"role": "tool", "tool_call_id": "call_9", "content": paste})
    statements, rows_count = trace.take()
    assert (set(statements) - set(APPEND), rows_count) == (set(), 0)
    await session.append([{"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "call_10"}]}])
    await session.append({"role": "tool", "tool_call_id": "call_9", "content": paste})
    trace.take()
    await session.append({"role": "tool", "tool_call_id": "call_10", "content": paste})
    statements, rows_count = trace.take()
    assert (set(statements) - set(APPEND), rows_count) == ({"settle_message"}, 0)
    await session.window()
    assert trace.take() == (STATE, 1)


async def test_recall_costs_one_search_a_turn(trace: Trace, tmp_path: Path) -> None:
    """Before anything is folded recall costs no statement, later one search at a turn's first step; off it never costs any."""
    wires = [{"role": "user", "content": "Where is the harbour?"}, {"role": "assistant", "content": "Over there."}]
    for name, settings in {"off": NO_RECALL, "on": {}}.items():
        async with everfold.open(f"sqlite:///{tmp_path}/{name}.db", settings=settings) as engine:
            session = await engine.session(limit=8_000)
            await session.window()
            for wire in wires * 3:
                await session.append(wire)
                trace.take()
                await session.window()
                assert trace.take() == (STATE, 1)
            for entry in endless_log(2, messages_count=120):
                await session.append(entry.wire)
            await session.compact(keep_recent=2)
            await session.window()
            await session.append(wires[0])
            trace.take()
            await session.window()
            statements, _ = trace.take()
            assert statements.count("search_messages") == (name == "on")
            assert (statements == STATE) == (name == "off")
            for wire in (wires[1], {"role": "user", "content": "ok"}):
                await session.window()
                assert trace.take() == (STATE, 1)
                await session.append(wire)
                trace.take()


async def test_off_is_free(engine: Everfold, trace: Trace) -> None:
    """A dynamic suffix costs no query, nor do search, events and previews once they were used and are not any more."""
    session = await steady(engine)
    trace.take()
    await session.window(suffix="It is noon.")
    assert trace.take() == (STATE, 1)
    await session.append(TALK[1])
    await session.search("boat painted")
    await session.inspect.compactions()
    await session.window(preview=True)
    await session.messages(1, 5)
    assert set(trace.take()[0]) > {"search_messages", "list_compactions"}
    await session.append(TALK[0])
    assert trace.take() == (APPEND, 0)
    await session.window()
    assert trace.take() == (STATE, 1)


@pytest.mark.parametrize(
    "compaction",
    [{}, {"gap_secs": 3600.0}, {"continuous_interval": 1_000}, {"gap_secs": 3600.0, "continuous_interval": 1_000}],
    ids=["sources that no occasion asks", "a gap that has not come", "a cadence that has not come", "both"],
)
async def test_sources_cost_nothing_until_they_are_asked(
    trace: Trace, file_url: str, compaction: Mapping[str, object]
) -> None:
    """A turn in which no source is asked has not one statement more than where there are none."""
    source = FakeSource()
    async with everfold.open(file_url, settings={**NO_RECALL, "compaction": compaction}, sources=[source]) as engine:
        session = await steady(engine)
        for wire in TALK[:8]:
            trace.take()
            await session.append(wire)
            assert trace.take() == (APPEND, 0)
            await session.window()
            assert trace.take() == (STATE, 1)
    assert source.asked == []


MEMORY_OF_ONE: Mapping[str, Mapping[str, Mapping[str, object]]] = {"agents": {"shop": {"memory_system": "structured"}}}


async def test_memory_costs_only_the_agent_that_opted_in(trace: Trace, tmp_path: Path) -> None:
    """Beside an agent that remembers, one that has not opted in costs not one query more than where none has."""

    async def play(settings: Mapping[str, Mapping[str, Mapping[str, object]]], agent: str) -> list[str]:
        path = tmp_path / f"{agent}{len(settings)}.db"
        async with everfold.open(f"sqlite:///{path}", settings=settings) as engine:
            trace.take()
            session = await engine.session(user="ada", agent=agent, limit=2_000)
            for wire in [{"role": "user", "content": "Remember: the kiln is fired on Wednesdays."}, *TALK]:
                await session.append(wire)
                await session.window()
            await session.new()
            return trace.take()[0]

    plain = await play({}, "desk")
    assert await play(MEMORY_OF_ONE, "desk") == plain
    assert not any("memory" in name or "item" in name or "topic" in name for name in plain)
    assert "insert_item" in await play(MEMORY_OF_ONE, "shop")


async def test_what_memory_costs_a_turn(trace: Trace, tmp_path: Path) -> None:
    """Where nothing is found a turn reads nothing more for an append and a row for a window; what is found is written then.

    Once a turn its next message brings what it showed, for other handles.
    """
    brings = [*APPEND[:-1], "hold_memory_epoch", "write_turn_recall", "COMMIT"]
    settings = {**NO_RECALL, **MEMORY_OF_ONE}
    async with everfold.open(f"sqlite:///{tmp_path}/log.db", settings=settings) as engine:
        session = await engine.session(user="ada", agent="shop", limit=32_000)
        for wire in TALK[:4]:
            await session.append(wire)
            await session.window()
        for wire in TALK[4:10]:
            trace.take()
            await session.append(wire)
            assert trace.take()[0] == (APPEND if wire["role"] == "user" else brings)
            await session.window()
            assert trace.take()[0] == [*STATE, "read_session_memory"]
        await session.append({"role": "user", "content": "Remember: the kiln is fired on Wednesdays."})
        statements, _ = trace.take()
        assert statements[: len(APPEND)] == APPEND  # the message first, whatever becomes of it
        assert [statements.count(name) for name in ("insert_item", "insert_evidence")] == [1, 1]
        assert {"find_same_items", "search_items", "insert_extraction", "insert_audit"} < set(statements)
        await session.window()
        assert "list_changed_items" in trace.take()[0]  # the delta, once for the turn
        await session.window()
        assert trace.take()[0] == [*STATE, "read_session_memory"]


async def test_a_client_id_costs_no_query(engine: Everfold, trace: Trace) -> None:
    """An append that names itself is not looked for: the write itself tells when it was there before."""
    session = await steady(engine)
    trace.take()
    await session.append(TALK[0], client_id="m1")
    assert trace.take() == (APPEND, 0)
    await session.append(TALK[1])
    assert trace.take() == (APPEND, 0)


@pytest.mark.parametrize("is_enabled", [False, True])
async def test_compaction_off_runs_no_query(trace: Trace, tmp_path: Path, *, is_enabled: bool) -> None:
    """Without compaction no note, event, digest or layout is read or written; with it the same log needs them."""
    compaction = {"row_window": 20, "row_headroom": 2, "enabled": is_enabled}
    async with everfold.open(f"sqlite:///{tmp_path}/log.db", settings={"compaction": compaction}) as engine:
        session = await engine.session(limit=32_000)
        await session.append(TALK[0])
        await session.window()
        trace.take()
        for wire in TALK[1:]:
            await session.append(wire)
            await session.window()
        statements, _ = trace.take()
    needed = {"read_notes", "insert_compaction", "commit_compaction", "insert_digest"}
    assert needed & set(statements) == (needed if is_enabled else set())
    if not is_enabled:
        assert statements == [*APPEND, *STATE] * (len(TALK) - 1)


async def test_nothing_is_probed_beside_the_turns(trace: Trace, tmp_path: Path) -> None:
    """With no model, cadence or gap a background of its own asks nothing of the store between two sweeps, nor a turn."""
    compaction = {"synchronous": False}
    async with everfold.open(f"sqlite:///{tmp_path}/log.db", settings={"compaction": compaction}) as engine:
        session = await engine.session(limit=32_000)
        await session.append(TALK[0])
        await session.window()
        await until(lambda: "list_waiting" in trace.statements)  # the sweep at the start
        await asyncio.sleep(0.05)
        assert trace.take()[0].count("list_waiting") == 1
        for wire in TALK[1:9]:
            await session.append(wire)
            await session.window()
            await asyncio.sleep(0)
        assert trace.take()[0] == [*APPEND, *STATE] * 8


async def test_an_occasion_asks_nothing_before_it_comes(trace: Trace, tmp_path: Path) -> None:
    """Cadence and gap are told from the state that a turn reads anyway."""
    compaction = {"synchronous": False, "continuous_interval": 100, "gap_secs": 3600}
    async with everfold.open(f"sqlite:///{tmp_path}/log.db", settings={"compaction": compaction}) as engine:
        session = await engine.session(limit=32_000)
        await session.append(TALK[0])
        await session.window()
        await until(lambda: "list_waiting" in trace.statements)
        await asyncio.sleep(0.05)
        trace.take()
        for wire in TALK[1:9]:
            await session.append(wire)
            await session.window()
        assert trace.take()[0] == [*APPEND, *STATE] * 8


@pytest.mark.parametrize("count", [600, 1800])
async def test_a_first_window_reads_each_message_a_few_times(trace: Trace, tmp_path: Path, *, count: int) -> None:
    """The first window of a session that nothing has folded reads as many rows for each message of a longer log."""
    async with everfold.open(
        f"sqlite:///{tmp_path / 'long.db'}", settings={"compaction": {"rows_per_digest": 200}, **NO_RECALL}
    ) as engine:
        session = await engine.session(limit=128_000)
        log = [
            {"role": role, "content": f"Boat {n} is painted."}
            for n in range(count // 2)
            for role in ("user", "assistant")
        ]
        await session.append(log)
        trace.take()
        await session.window(limit=2000, preview=True)
        statements, rows_count = trace.take()
    assert rows_count <= 3 * count
    assert len(statements) <= 12 * (count / 200 + 1)


async def rest(engine: Everfold) -> None:
    """Wait until nothing is at work beside the turns."""
    dispatcher = engine._background.dispatcher
    assert isinstance(dispatcher, InProcessDispatcher)
    while names := list(dispatcher._tasks):
        for name in names:
            await dispatcher.join(name)


@pytest.mark.parametrize("is_folding", [False, True])
async def test_what_is_done_beside_the_turns_costs_them_no_statement(
    trace: Trace, file_url: str, *, is_folding: bool
) -> None:
    """A turn after a refresh, or a fold, that its own process has stored plans once and reads none of it again."""
    compaction = {"synchronous": False, "continuous_interval": 2, "enabled": is_folding, "min_fold_tokens": 0}
    told: set[str] = set()
    settings = {**NO_RECALL, "compaction": compaction}
    async with everfold.open(file_url, settings=settings, sources=[FakeSource()]) as engine:
        session = await engine.session(limit=32_000)
        await session.append(TALK[:4])
        await session.window()
        for number in range(4, 28, 2):
            await rest(engine)
            trace.take()
            await session.append(TALK[number])
            assert trace.take() == (APPEND, 0)
            window = await session.window()
            assert trace.take() == (STATE, 1)
            told |= {one.reason for one in window.report.cache_breaks}
            await rest(engine)
            await session.append(TALK[number + 1])
    assert told == {"refresh", "compaction: cadence"} if is_folding else {"refresh"}


async def test_who_writes_after_the_background_is_not_overlooked(file_url: str) -> None:
    """What the background has left of a session is no more than what was so then: who wrote since then is seen."""
    compaction = {"synchronous": False, "continuous_interval": 2, "min_fold_tokens": 0}
    async with (
        everfold.open(file_url, settings={"compaction": compaction}, sources=[FakeSource()]) as engine,
        everfold.open(file_url, settings={"compaction": compaction}) as other,
    ):
        session = await engine.session(limit=32_000)
        beside = await other.session(id=session.id)
        for number in range(0, 40, 4):
            await session.append(TALK[number : number + 2])
            await session.window()
            await rest(engine)  # a refresh and a fold are left, where the occasion has come
            await beside.append(TALK[number + 2])
            if number % 8:
                await session.append(TALK[number + 3])
            await beside.window()
            for one in (engine, other):
                await rest(one)
            shown, read = await session.window(), await beside.window()
            assert shown.render("openai") == read.render("openai")
        said = [message for message in await session.messages(1, 60) if message.source == "said"]
    order = [n for number in range(0, 40, 4) for n in range(number, number + (4 if number % 8 else 3))]
    assert [message.view.text for message in said] == [TALK[n]["content"] for n in order]


async def test_work_that_is_put_off_is_not_claimed(trace: Trace, tmp_path: Path) -> None:
    """While a failed event waits for its time, a turn that works inline writes nothing for it."""

    async def fail(task: Task) -> Written:  # noqa: ARG001 - a model
        raise ModelUnavailableError("no route to the model; try again")

    async with everfold.open(f"sqlite:///{tmp_path}/log.db") as engine:
        background = engine._background
        background.worker = replace(background.worker, write_digest=fail)
        session = await engine.session(limit=8_000)
        for entry in endless_log(2, messages_count=200):
            await session.append(entry.wire)
            await session.window()
            if (await session.inspect.state()).has_work:
                break
        await session.window()
        trace.take()
        await session.append(TALK[0])
        await session.window()
        assert {"BEGIN IMMEDIATE", "find_compaction"} <= set(statements := trace.take()[0])
        assert statements.count("BEGIN IMMEDIATE") == 1
        assert "claim_compaction" not in statements


async def test_a_user_is_looked_for_once(engine: Everfold, trace: Trace) -> None:
    """A user who was named once costs no query when they are named again, and an id of the application's never does."""
    asked = {"find_default_user", "find_bound_user", "find_user_row", "add_user", "bind_user"}
    for text in ("default", "ada", "6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"):
        trace.take()
        await engine.session(user=text)
        assert bool(asked & set(trace.take()[0])) == (text in {"default", "ada"})
        await engine.session(user=text)
        await engine.search("boat", user=text)
        await engine.list_sessions(user=text)
        assert not asked & set(trace.take()[0])


async def test_no_users_in_the_settings_cost_nothing(trace: Trace, tmp_path: Path) -> None:
    """An opening asks for users only where the settings have some, and writes them only the first time."""

    async def open_with(users: list[Mapping[str, object]]) -> set[str]:
        trace.take()
        async with everfold.open(f"sqlite:///{tmp_path}/log.db", settings={"users": users}):
            return {name for name in trace.take()[0] if "user" in name and name.isidentifier()}

    assert await open_with([]) == set()
    assert {"add_user", "bind_user"} <= await open_with([{"name": "Ilse"}, {"name": "ben"}])
    assert await open_with([{"name": "Ilse"}, {"name": "ben"}]) == {"find_default_user", "find_bound_user"}


async def test_a_switch_asks_who_was_current_only_for_who_listens(engine: Everfold, trace: Trace) -> None:
    """Resuming asks for the session before only where a subscriber is told of it."""
    first = await engine.session()
    second = await first.new()

    async def resume() -> list[str]:
        await first.integration.resume()
        trace.take()
        await second.integration.resume()
        return trace.take()[0]

    await resume()  # the store knows both sessions from here on
    quiet = await resume()
    assert "find_current_session" not in quiet
    events = engine.events()
    assert sorted(await resume()) == sorted([*quiet, "find_current_session"])
    del events
    assert await resume() == quiet
