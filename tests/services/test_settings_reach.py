"""Every setting reaches the engine: a case a key, in which nothing but that key differs and something else happens."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import pytest
from tests.support.proofs import list_all_compactions
from tests.support.sizes import some

import everfold
from everfold import Everfold, Hooks, PendingFold, Session, TurnStart
from everfold.bootstrap import open_caller, open_store
from everfold.config import Settings, list_settings, load_settings
from everfold.core.compaction.record import Compaction
from everfold.core.compaction.tasks import Task, Written
from everfold.core.observation.events import HookFailed, Recovered
from everfold.core.primitives.ids import CompactionId
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.entries import MessageEntry, RangeEntry
from everfold.errors import EverfoldError, HookError, ModelUnavailableError
from everfold.ports.models import ModelRequest
from everfold.testing.kit.builders import ADA, assistant, calls, result, talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock, FakeSource
from everfold.testing.kit.model_server import ModelServer

pytestmark = pytest.mark.anyio
LIMIT = 4000
MODEL_REQUEST = ModelRequest(purpose="digest", instructions="Write.", prompt="12 Berth.", max_output_tokens=99)
Look = Callable[[Session], Awaitable[object]]


def words(count: int, word: str = "crate") -> str:
    """A text of so many different words."""
    return " ".join(f"{word}{number}" for number in range(count))


async def events(session: Session) -> object:
    """Which compactions there were, and over which messages."""
    found = await list_all_compactions(session)
    return [(event.plan.trigger, event.plan.first_seq, event.plan.last_seq) for event in found]


async def forms(session: Session) -> object:
    """The size of every message's visible form."""
    return [message.tokens for message in await session.messages(1, 400)]


async def held(session: Session) -> object:
    """Which messages of the past a window shows."""
    window = await session.window()
    kept = [message.seq for entry in window.entries if isinstance(entry, RangeEntry) for message in entry.kept]
    heads = [entry.message.seq for entry in window.entries if isinstance(entry, MessageEntry) and entry.slice == "head"]
    return heads, kept


async def digests(session: Session) -> object:
    """What the digests of a window say."""
    window = await session.window()
    return [entry.digest_text for entry in window.entries if isinstance(entry, RangeEntry)]


async def standing(session: Session) -> object:
    """How many tokens the standing block has."""
    return (await session.window()).report.by_slice["standing"]


async def suffix(session: Session) -> object:
    """How much of a long suffix a window shows."""
    return (await session.window(suffix=words(2000, "delta"))).report.by_slice["suffix"]


async def budget(session: Session) -> object:
    """The budget of a window."""
    return (await session.window()).report.budget_tokens


async def folded_by_hand(session: Session) -> object:
    """How far a compaction goes that is asked for without a number."""
    await session.compact()
    return (await session.window()).report.compacted_through


async def remembered(session: Session) -> object:
    """What a window shows of memory, as it is rendered, and why."""
    window = await session.window()
    return window.render("openai")["messages"], window.report.memory


async def noted(session: Session) -> object:
    """What becomes of an agent's note of some hundred characters."""
    return await session.tools().memory_add("The back door sticks in the rain. " * 3)


TALK = talk(some(60, 44))
PINS = [wire for n in range(30) for wire in (user(f"[[keep]] Gate {n} has code {n * 37}."), assistant("Noted. " * 30))]
MIDDLING = [
    wire for n in range(30) for wire in (user(f"Gate {n}: {words(30, f'g{n}x')}"), assistant(words(60, f"r{n}x")))
]
DECIDED = [
    wire
    for n in range(40)
    for wire in (
        user(f"I prefer the blue label for crate {n}, with its number in white."),
        assistant(words(60, f"d{n}x")),
    )
]
SHORT = [wire for n in range(60) for wire in (user(f"And {n}?"), assistant(f"It is {n}."))]
PASTE = [user("go"), assistant(words(2000)), user("on")]
STEP = [user("go"), calls("a", "b"), result("a", words(400, "a")), result("b", words(900, "b")), assistant("done")]


FACTS = [
    wire
    for said in ("My name is Ilse.", "Remember: the kiln is fired on Wednesdays.", "Remember: the back door sticks.")
    for wire in (user(said), assistant("Noted."))
]
STRUCTURED = {"memory.system": "structured"}


async def origin_of(session: Session) -> object:
    """What the session that the handle is at was started by."""
    return session.record.started_by


@dataclass(frozen=True, kw_only=True)
class Case:
    """One key, a value that differs from what `given` leaves it at, messages turn by turn, and where to look."""

    value: object
    look: Look
    wires: list[JsonObject]
    given: Mapping[str, object] | None = None
    limit: int | None = LIMIT


CASES: dict[str, Case] = {
    "model.context_limit": Case(value=3000, look=events, wires=TALK, limit=None, given={"model.context_limit": LIMIT}),
    "model.answer_tokens": Case(value=1000, look=budget, wires=TALK[:4]),
    "compaction.enabled": Case(value=False, look=events, wires=TALK),
    "compaction.trigger_ratio": Case(value=0.90, look=events, wires=TALK),
    "compaction.target_ratio": Case(value=0.50, look=events, wires=TALK),
    "compaction.hard_limit_ratio": Case(value=0.85, look=events, wires=TALK, given={"compaction.enabled": False}),
    "compaction.suffix_ratio": Case(value=0.25, look=suffix, wires=TALK[:4]),
    "compaction.message_cap": Case(value=50, look=held, wires=MIDDLING),
    "compaction.message_cap_ratio": Case(value=0.01, look=held, wires=MIDDLING),
    "compaction.kept_ratio": Case(value=0.10, look=held, wires=TALK),
    "compaction.tail_ratio": Case(value=0.05, look=events, wires=TALK),
    "compaction.digest_ratio": Case(value=0.05, look=digests, wires=TALK),
    "compaction.standing_ratio": Case(value=0.01, look=held, wires=[*PINS[:10], *TALK]),
    "compaction.weak_standing_ratio": Case(value=0.0, look=standing, wires=DECIDED),
    "compaction.visible_ratio": Case(value=0.05, look=forms, wires=PASTE),
    "compaction.step_visible_ratio": Case(value=0.12, look=forms, wires=STEP),
    "compaction.min_fold_tokens": Case(
        value=90, look=events, wires=SHORT, given={"compaction.row_window": 5, "compaction.row_headroom": 0}
    ),
    "compaction.min_fold_ratio": Case(
        value=0.01, look=events, wires=SHORT, given={"compaction.row_window": 5, "compaction.row_headroom": 0}
    ),
    "compaction.turn_backstop": Case(value=10, look=events, wires=SHORT, limit=16_000),
    "compaction.turn_slack": Case(
        value=3,
        look=events,
        wires=SHORT,
        limit=16_000,
        given={"compaction.turn_backstop": 20, "compaction.min_fold_tokens": 0},
    ),
    "compaction.row_window": Case(value=20, look=events, wires=SHORT, limit=16_000),
    "compaction.row_headroom": Case(
        value=3,
        look=events,
        wires=SHORT,
        limit=16_000,
        given={"compaction.row_window": 40, "compaction.min_fold_tokens": 0},
    ),
    "compaction.rows_per_digest": Case(value=6, look=events, wires=TALK),
    "sessions.rotate_on_compaction": Case(value=True, look=origin_of, wires=TALK),
    "compaction.keep_recent": Case(value=2, look=folded_by_hand, wires=TALK[:20]),
    "compaction.continuous_interval": Case(
        value=7, look=events, wires=SHORT, limit=16_000, given={"compaction.min_fold_tokens": 0}
    ),
    "compaction.synchronous": Case(value=False, look=events, wires=TALK),
    "memory.system": Case(value="structured", look=remembered, wires=FACTS),
    "memory.user_char_limit": Case(value=40, look=remembered, wires=[*FACTS, user("And?")], given=STRUCTURED),
    "memory.agent_char_limit": Case(value=80, look=noted, wires=FACTS[:2], given=STRUCTURED),
    "memory.delta_max_chars": Case(value=150, look=remembered, wires=[*FACTS, user("And?")], given=STRUCTURED),
}


@dataclass(frozen=True, kw_only=True)
class ModelCase:
    """One key that says how a model is called, with what is set besides; `SCRIPTS` and servers are named by place."""

    value: object
    given: Mapping[str, object]


SCRIPTS = {
    "one": '{"text": "one", "cost_usd": 1.0}',
    "two": '{"text": "two"}',
    "slow": '{"text": "slow", "secs": 0.1}',
    "busy": '{"fault": "unavailable"}',
}
MODEL_CASES: dict[str, ModelCase] = {
    "model.name": ModelCase(value="script:{one}", given={}),
    "model.base_url": ModelCase(
        value="{second_url}/v1", given={"model.name": "openai:any", "model.base_url": "{first_url}/v1"}
    ),
    "model.api_key_env": ModelCase(
        value="HARBOUR_KEY", given={"model.name": "openai:any", "model.base_url": "{first_url}/v1"}
    ),
    "compaction.model": ModelCase(value="script:{two}", given={"model.name": "script:{one}"}),
    "compaction.summary_timeout_secs": ModelCase(value=0.01, given={"model.name": "script:{slow}"}),
    "compaction.retries": ModelCase(value=0, given={"model.name": "script:{busy}"}),
    "spend.per_compaction_usd": ModelCase(value=1.5, given={"model.name": "script:{one}"}),
    "spend.per_day_usd": ModelCase(value=1.5, given={"model.name": "script:{one}"}),
}


IN_MEMORY_SETTINGS = (
    "recall.enabled recall.entries memory.extract_ratio memory.extract_tool_calls memory.review agents.recall_enabled "
    "agents.memory_review sessions.gap_secs sessions.poll_secs"
)
"""Keys whose cases are in `test_memory_settings`, with those of `embed`."""


IN_AGENTS = "agents.model agents.instructions agents.tools agents.mcp"
"""Keys whose cases are in the tests of agents, with those of `hands`."""


@pytest.mark.parametrize("changed", [{"context_limit": 9000}, {"compaction": {"trigger_ratio": 0.85}}])
async def test_it_changes_what_the_sessions_of_an_agent_hold(changed: Mapping[str, object]) -> None:
    """Changing this key of an agent alone changes what its new sessions hold, and those of no other agent."""
    async with everfold.open("memory://", settings={"agents": {"shop": changed}}) as engine:
        own, other = await engine.session(agent="shop"), await engine.session(agent="desk")
    assert own.settings != other.settings
    async with everfold.open("memory://") as engine:
        assert (await engine.session(agent="desk")).settings == other.settings


def test_every_key_has_a_case() -> None:
    """A key without a case here is one that may change nothing."""
    elsewhere = {"store.url", "hooks.timeout_secs", "hooks.strict", "users.name", "users.bindings", "users.is_default"}
    elsewhere |= {"agents.memory_system", "agents.context_limit", "agents.compaction", "sources.kind"}
    elsewhere |= {key for key in list_settings() if key.startswith("hands.")} | set(IN_AGENTS.split())
    elsewhere |= {key for key in list_settings() if key.startswith("embed.")} | set(IN_MEMORY_SETTINGS.split())
    elsewhere |= {
        key for key in list_settings() if key.startswith(("server.", "gateway.", "workers.", "prices."))
    }  # in the tests of the server
    cases = set(CASES) | set(MODEL_CASES) | set(WORK_CASES) | elsewhere
    assert cases == set(list_settings())


def by_section(values: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Settings by section and key."""
    settings: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        section, name = key.split(".")
        settings.setdefault(section, {})[name] = value
    return settings


async def play(case: Case, changed: Mapping[str, object]) -> object:
    """What is seen after a conversation under some settings; without recall, which no case here is about."""
    settings = by_section({"recall.enabled": False, **(case.given or {}), **changed})
    async with everfold.open("memory://", settings=settings, clock=FakeClock(), ids=CountingIds()) as engine:
        session = await engine.session(limit=case.limit)
        for wire in case.wires:
            await session.append(wire)
            if wire["role"] == "assistant" and not wire.get("tool_calls"):
                await session.window()
        return await case.look(session)


SEEN: dict[str, object] = {}
"""What was seen of each conversation without a change; cases with the same conversation share it."""


async def play_plain(case: Case) -> object:
    """What is seen without a change: the same both times that it is played."""
    conversation = f"{case.look.__name__} {case.wires} {case.given} {case.limit}"
    if conversation not in SEEN:
        SEEN[conversation] = await play(case, {})
        assert await play(case, {}) == SEEN[conversation]
    return SEEN[conversation]


@pytest.mark.parametrize("key", CASES)
async def test_it_changes_what_the_engine_does(key: str) -> None:
    """Changing this key alone changes what can be seen of a conversation, and leaving it alone changes nothing."""
    case = CASES[key]
    assert await play(case, {key: case.value}) != await play_plain(case)


async def ask(values: Mapping[str, object], folder: Path) -> object:
    """What comes of three calls of the model for one event, which attempts are recorded, and what two servers got."""
    places = {name: str(folder / name) for name in SCRIPTS}
    for name, text in SCRIPTS.items():
        (folder / name).write_text(text, "utf-8")
    with ModelServer() as first, ModelServer() as second:
        places |= {"first_url": first.url, "second_url": second.url}
        filled = {key: value.format(**places) if isinstance(value, str) else value for key, value in values.items()}
        said, attempts = await call_thrice(load_settings(overrides=by_section(filled)))
        return said, attempts, [[it.headers["authorization"] for it in server.asked] for server in (first, second)]


async def no_wait(_: float) -> None:
    """A wait between attempts that takes no time."""


async def call_thrice(settings: Settings) -> tuple[list[str], list[tuple[int, str]]]:
    """What three calls say, and which attempts they took."""
    store = await open_store("memory://")
    caller = open_caller(settings, store, clock=FakeClock(), ids=CountingIds())
    if caller is None:
        return [], []
    said = []
    for _ in range(3):
        try:
            reply = await replace(caller, sleep=no_wait).call(
                MODEL_REQUEST, user_id=ADA, compaction_id=CompactionId("evt_1")
            )
            said.append(reply.text)
        except EverfoldError as error:
            said.append(error.code)
    await caller.model.close()
    return said, [(it.call_number, it.outcome) for it in await store.list_calls(limit_count=99)]


@pytest.mark.parametrize("key", MODEL_CASES)
async def test_it_changes_how_a_model_is_called(key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changing this key alone changes what is asked, answered or spent, and leaving it alone changes nothing."""
    monkeypatch.setenv("HARBOUR_KEY", "sk-harbour")
    case = MODEL_CASES[key]
    plain = await ask(case.given, tmp_path)
    assert await ask(case.given, tmp_path) == plain
    assert await ask({**case.given, key: case.value}, tmp_path) != plain


@dataclass(kw_only=True)
class Bench:
    """An engine whose model cannot be reached and whose context sources take a moment, with what both saw."""

    engine: Everfold
    session: Session
    clock: FakeClock
    leases: list[datetime | None] = field(default_factory=list)
    source: FakeSource

    async def write_digest(self, task: Task) -> Written:
        """See for how long the event is claimed, and fail."""
        self.leases.append((await self.engine.admin.get_compaction(task.compaction.id)).lease_until)
        raise ModelUnavailableError("no route to the model; try again")

    def arm(self) -> None:
        """Put it into the engine's worker."""
        background = self.engine._background
        background.worker = replace(background.worker, write_digest=self.write_digest)

    async def fail(self) -> Compaction:
        """The event of a compaction whose digest could not be written."""
        await self.session.append(TALK)
        await self.session.window()
        return (await self.session.inspect.compactions())[0]


async def come_back(bench: Bench) -> object:
    """What a source was asked, and what it said in time, when the user returns after two days."""
    await bench.session.append(user("Hello."))
    await bench.session.window()
    bench.clock.advance(timedelta(days=2))
    await bench.session.append(user("Here again."))
    window = await bench.session.window()
    return bench.source.asked, bench.source.budgets, window.render("openai")


async def lease(bench: Bench) -> object:
    """Until when an event was claimed."""
    await bench.fail()
    return bench.leases


async def put_off(bench: Bench) -> object:
    """Until when an event waits that failed."""
    return (await bench.fail()).lease_until


async def state_after_failing(bench: Bench) -> object:
    """What an event is after one attempt that failed."""
    return (await bench.fail()).state


async def recover_late(bench: Bench) -> object:
    """How many sessions a sweep finds two days after an event failed."""
    await bench.fail()
    bench.clock.advance(timedelta(days=2))
    return len(await bench.engine._background.recovery.recover())


async def recover_again(bench: Bench) -> object:
    """Whether what went wrong since the first sweep is found within a moment."""
    events = bench.engine.events()
    await bench.fail()
    bench.clock.advance(timedelta(hours=1))
    with anyio.move_on_after(0.3):
        async for event in events:
            if isinstance(event, Recovered):
                return True
    return False


@dataclass(frozen=True, kw_only=True)
class WorkCase:
    """One key that says how work is done beside the turns, with what is set besides, and where to look."""

    value: object
    look: Callable[[Bench], Awaitable[object]]
    given: Mapping[str, object] = field(default_factory=dict)


GAP = {"compaction.gap_secs": 600}


async def say_hello(prompt: str, **asked: object) -> str:
    """What the settings may name as a source."""
    return f"Hello. {prompt} {sorted(asked)}"


OWN = {"sources.own": {"kind": "callable", "function": f"{__name__}:say_hello"}}
WORK_CASES: dict[str, WorkCase] = {
    "compaction.gap_secs": WorkCase(value=600, look=come_back),
    "compaction.gap_deadline_secs": WorkCase(value=0.001, look=come_back, given=GAP),
    "compaction.gap_max_lookback_secs": WorkCase(value=60, look=come_back, given=GAP),
    "compaction.context_sources": WorkCase(value=({"source": "own"},), look=come_back, given={**GAP, **OWN}),
    "compaction.context_token_cap": WorkCase(
        value=100, look=come_back, given={**GAP, "compaction.source_floor_tokens": 70}
    ),
    "compaction.source_floor_tokens": WorkCase(
        value=100,
        look=come_back,
        given={**GAP, "compaction.context_token_cap": 300, "compaction.context_sources": ({"source": "own"},), **OWN},
    ),
    "compaction.source_timeout_secs": WorkCase(value=0.001, look=come_back, given=GAP),
    "compaction.lease_secs": WorkCase(value=60, look=lease),
    "recovery.grace_secs": WorkCase(value=60, look=put_off),
    "recovery.attempts": WorkCase(value=1, look=state_after_failing),
    "recovery.lookback_secs": WorkCase(value=3600, look=recover_late),
    "recovery.every_secs": WorkCase(value=0.01, look=recover_again),
}


async def work(case: WorkCase, changed: Mapping[str, object]) -> object:
    """What is seen of the work of a session under some settings, after a recovery where one is needed."""
    clock = FakeClock()
    settings = by_section({**case.given, **changed})
    source = FakeSource(secs=0.02, text="A parcel came. " * 400)
    async with everfold.open(
        "memory://", settings=settings, clock=clock, ids=CountingIds(), sources=[source]
    ) as engine:
        bench = Bench(engine=engine, session=await engine.session(limit=LIMIT), clock=clock, source=source)
        bench.arm()
        if case.look is not recover_again:
            return await case.look(bench)
        async with anyio.create_task_group() as group:
            group.start_soon(engine._background.recovery.recover_forever)
            seen = await case.look(bench)
            group.cancel_scope.cancel()
        return seen


@pytest.mark.parametrize("key", WORK_CASES)
async def test_it_changes_how_work_is_done(key: str) -> None:
    """Changing this key alone changes what becomes of work or what is asked, and leaving it alone changes nothing."""
    case = WORK_CASES[key]
    plain = await work(case, {})
    assert await work(case, {}) == plain
    assert await work(case, {key: case.value}) != plain


async def test_the_store_is_where_the_setting_says(tmp_path: Path) -> None:
    """Changing `store.url` changes the file that everything is kept in."""
    for name in ("one.db", "two.db"):
        async with everfold.open(settings={"store": {"url": f"sqlite:///{tmp_path}/{name}"}}) as engine:
            assert await engine.list_sessions() == []
            await engine.session()
        assert (tmp_path / name).exists()


@pytest.mark.parametrize("changed", [{"name": "Ben"}, {"bindings": ["telegram:12"]}, {"is_default": True}], ids=repr)
async def test_a_user_is_as_the_settings_say(changed: dict[str, object]) -> None:
    """Changing a key of `users` changes the users of the store, and leaving all alone changes nothing."""

    async def look(entry: Mapping[str, object]) -> object:
        users: list[Mapping[str, object]] = [{"name": "Ilse"}, {"name": "Eve", **entry}]
        async with everfold.open(
            "memory://", settings={"users": users}, clock=FakeClock(), ids=CountingIds()
        ) as engine:
            return await engine.list_users()

    plain = await look({})
    assert await look({}) == plain
    assert await look(changed) != plain


async def test_it_changes_which_agents_remember() -> None:
    """Changing this key of an agent alone changes whether it remembers, and leaving it alone changes nothing."""
    changed = {"memory_system": "summarization"}

    async def look(entry: Mapping[str, object]) -> object:
        agents: Mapping[str, Mapping[str, object]] = {"shop": {"memory_system": "structured", **entry}}
        async with everfold.open(
            "memory://", settings={"agents": agents}, clock=FakeClock(), ids=CountingIds()
        ) as engine:
            session = await engine.session(agent="shop")
            await session.append(FACTS)
            return await remembered(session)

    plain = await look({})
    assert await look({}) == plain
    assert await look(changed) != plain


class Slow(Hooks):
    """Takes a moment for every turn."""

    async def on_turn_start(self, turn: TurnStart) -> None:  # noqa: ARG002 - a hook
        """Take a moment."""
        await anyio.sleep(0.05)


@pytest.mark.parametrize(("timeout_secs", "failures"), [(0.001, 1), (10, 0)])
async def test_a_hook_has_the_time_that_the_setting_gives(timeout_secs: float, failures: int) -> None:
    """Changing `hooks.timeout_secs` changes whether a slow plug-in is cut off."""
    async with everfold.open("memory://", settings={"hooks": {"timeout_secs": timeout_secs}}, hooks=[Slow()]) as engine:
        events = engine.events()
        await (await engine.session()).append(user("Hello."))
    assert len([it async for it in events if isinstance(it, HookFailed)]) == failures


async def test_strict_waits_for_a_plugin() -> None:
    """Changing `hooks.strict` changes whether a fold goes on that no plug-in prepared."""
    for is_strict in (True, False):
        async with everfold.open("memory://", settings={"hooks": {"strict": is_strict}}) as engine:
            session = await engine.session()
            fold = PendingFold(
                session=session.record, compaction_id=CompactionId("evt_1"), trigger="tokens", messages=()
            )
            plugins = session._stream.plugins
            if is_strict:
                with pytest.raises(HookError):
                    await plugins.ask(fold)
            else:
                assert (await plugins.ask(fold)).text == ""
