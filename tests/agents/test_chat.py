"""A chat keeps its log whole: every part is stored when it is complete, whatever ends an answer."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import pytest
from pydantic_ai import FunctionToolset
from pydantic_ai.exceptions import ModelHTTPError, ModelServerError
from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from tests.support.sizes import some

import everfold
from everfold.adapters.system.clock import SystemClock
from everfold.adapters.system.ids import RandomIds
from everfold.agents.chat import LOOK_SECS, Chat
from everfold.agents.chat_events import (
    ChatEvent,
    Compacted,
    Refreshed,
    Refreshing,
    Retried,
    Said,
    Stopped,
    TextDelta,
    ToolAnswered,
    ToolCalled,
)
from everfold.agents.models import AgentModel
from everfold.agents.open_chat import resume
from everfold.agents.opening import open_agents
from everfold.agents.speaking import Draft, finish_draft
from everfold.agents.spending import Spending
from everfold.agents.toolbox import Toolbox
from everfold.core.log.interruption import INTERRUPTED_MARK
from everfold.core.log.messages import Message
from everfold.engine import DEFAULT_AGENT, DEFAULT_USER
from everfold.errors import ConflictError, InvalidInputError, ModelReplyError, ModelUnavailableError, OverBudgetError
from everfold.session import Session
from everfold.testing import check_anthropic_request, check_openai_request
from everfold.testing.judges.requests import check_window_rules
from everfold.testing.kit.fakes import FakeSource

E = TypeVar("E")

HANG = float("inf")
Piece = str | float | Exception | DeltaToolCalls
"""A piece of text, a wait in seconds, what is raised, or a piece of calls."""


def call(name: str, arguments: str = "{}", *, index: int = 0, call_id: str | None = None) -> DeltaToolCalls:
    """A whole tool call."""
    return {index: DeltaToolCall(name=name, json_args=arguments, tool_call_id=call_id or f"c{index}")}


@dataclass
class Stage:
    """Plays answers, each a row of pieces; the last one again and again.

    Attributes:
        heard: What it was asked, in order.
    """

    answers: Sequence[Sequence[Piece]]
    heard: list[list[ModelMessage]] = field(default_factory=list)

    async def play(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:  # noqa: ARG002
        """Say the next answer."""
        self.heard.append(messages)
        for piece in self.answers[min(len(self.heard), len(self.answers)) - 1]:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, float):
                await (anyio.sleep_forever() if piece == HANG else anyio.sleep(piece))
            else:
                yield piece


@asynccontextmanager
async def chatting(
    stage: Stage,
    *,
    url: str = "memory://",
    toolset: FunctionToolset[object] | None = None,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    limit: int = 16_000,
    system: str = "You help.",
    has_memory: bool = False,
    spent_usd: float | None = None,
    sources: Sequence[FakeSource] = (),
) -> AsyncIterator[Chat]:
    """A chat with a stage for its model."""
    model = FunctionModel(stream_function=stage.play, model_name="stage")
    async with (
        open_agents(url, settings=settings or {}, sources=sources) as opened,
        Toolbox([toolset] if toolset else [], model=model, has_memory=has_memory) as toolbox,
    ):
        hold = partial(opened.engine.session, limit=limit, system=system, tools=toolbox.schemas)
        go_on = partial(resume, opened.engine, hold, user=DEFAULT_USER, agent=DEFAULT_AGENT)
        spending = Spending(
            usage=opened.engine.admin.usage, clock=SystemClock(), ids=RandomIds(), per_day_usd=spent_usd
        )
        named = AgentModel(name="script:stage", model=model)
        yield Chat(opened.engine, go_on, await hold(), model=named, toolbox=toolbox, spending=spending)


async def take(events: AsyncIterator[ChatEvent]) -> list[ChatEvent]:
    """All that happens."""
    return [event async for event in events]


def only(kind: type[E], events: Sequence[object]) -> list[E]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


async def read_log(session: Session) -> list[Message]:
    """All messages."""
    last_seq = (await session.inspect.state()).last_seq
    return await session.messages(1, last_seq) if last_seq else []


async def require_sound(session: Session) -> None:
    """The log verifies, and its next window is one that both providers take."""
    assert (await session.verify()).is_sound
    window = await session.window()
    for kind, check in (("openai", check_openai_request), ("anthropic", check_anthropic_request)):
        request = window.render(kind)  # type: ignore[arg-type]
        assert check(request) == []
        assert check_window_rules(request, kind=kind) == []  # type: ignore[arg-type]


TOO_LONG = ModelHTTPError(400, "stage", {"error": {"message": "maximum context length is 10 tokens"}})
DOWN = ModelServerError("stage", "overloaded")


def make_tools(*, hangs: anyio.Event | None = None) -> FunctionToolset[object]:
    """Tools that answer, wait for one another, raise and hang."""
    toolset = FunctionToolset[object]()
    both = anyio.Event()
    met: list[str] = []

    @toolset.tool_plain
    async def meet(name: str) -> str:
        """Answer once both are here."""
        met.append(name)
        if len(met) == 2:
            both.set()
        await both.wait()
        return f"{name} met {len(met)}"

    @toolset.tool_plain
    async def add(left: int, right: int) -> dict[str, int]:
        """Add."""
        return {"sum": left + right}

    @toolset.tool_plain
    async def fail() -> str:
        """Fail."""
        raise ValueError("the disk is on fire")

    @toolset.tool_plain
    async def hang() -> str:
        """Never answer."""
        if hangs is not None:
            hangs.set()
        await anyio.sleep_forever()
        return "never"

    return toolset


async def test_an_answer_streams_and_is_stored_once() -> None:
    """The pieces told are the text stored, and user and assistant messages have the numbers that were told."""
    stage = Stage([["Hel", "lo ", "there."]])
    async with chatting(stage) as chat:
        events = await take(chat.send("hi"))
        assert [event.text for event in only(TextDelta, events)] == ["Hel", "lo ", "there."]
        assert only(Said, events) == [Said(seq=1, role="user"), Said(seq=2, role="assistant")]
        assert [message.wire for message in await read_log(chat.session)] == [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "Hello there."},
        ]
        assert await chat.find_stopped() is None
        [made] = await chat.session.inspect.calls()
        assert (made.purpose, made.outcome, made.model) == ("chat", "complete", "script:stage")


async def test_instructions_and_tools_are_counted() -> None:
    """The system prompt and the schemas of all tools are the session's own, so that its fixed part holds them."""
    async with chatting(Stage([["x"]]), toolset=make_tools(), has_memory=True) as chat:
        prompt = chat.session.settings.prompt
        assert prompt.system == "You help."
        names = [tool["function"]["name"] for tool in prompt.tools]  # type: ignore[index,call-overload]
        assert {"meet", "add", "fail", "hang", "memory_add", "history_search"} <= set(names)
        assert (await chat.session.window()).report.fixed_tokens >= chat.session.settings.prompt_tokens


async def test_an_agent_without_memory_reads_back_what_its_window_left_out() -> None:
    """A chat whose agent has no memory offers the tools of history alone, and they read the page that a mark names."""
    stage = Stage([["Noted."], [call("history_read", '{"first": 1, "page": 2, "part": 2}')], ["It is 4711."]])
    paste = "00017 pump cycle ok\n" * 600 + "The vault has the code 4711.\n" + "00017 pump cycle ok\n" * 600
    async with chatting(stage) as chat:
        names = [tool["function"]["name"] for tool in chat.session.settings.prompt.tools]  # type: ignore[index,call-overload]
        assert names == ["history_search", "history_read"]
        await take(chat.send(paste))
        shown = str(stage.heard[0])
        assert "4711" not in shown
        assert "history: message 1, pages 1-" in shown
        [answered] = only(ToolAnswered, await take(chat.send("Which code has the vault?")))
        assert not answered.is_error
        assert "4711" in answered.text
        assert "4711" in str(stage.heard[2])


async def test_a_tool_with_the_name_of_a_tool_of_history_is_refused() -> None:
    """An agent's own tool cannot stand in for one that reads its past."""
    toolset = FunctionToolset[object]()

    @toolset.tool_plain
    def history_read(first: int) -> str:
        """Read."""
        return str(first)

    with pytest.raises(InvalidInputError, match="'history_read'"):
        async with chatting(Stage([["x"]]), toolset=toolset):
            pass


async def test_parallel_tools_run_side_by_side() -> None:
    """Two calls that wait for each other both answer, each result is stored for its call, and the model reads them."""
    stage = Stage([["On it.", call("meet", '{"name": "a"}'), call("meet", '{"name": "b"}', index=1)], ["Done."]])
    async with chatting(stage, toolset=make_tools()) as chat:
        events = await take(chat.send("go"))
        assert {event.call_id for event in only(ToolCalled, events)} == {"c0", "c1"}
        assert {event.text for event in only(ToolAnswered, events)} == {"a met 2", "b met 2"}
        log = await read_log(chat.session)
        assert [message.kind for message in log] == ["user", "assistant", "result", "result", "assistant"]
        assert log[1].view.text.startswith("On it.")
        returns = [part for part in stage.heard[1][-1].parts if isinstance(part, ToolReturnPart)]
        assert {(part.tool_call_id, part.content) for part in returns} == {("c0", "a met 2"), ("c1", "b met 2")}
        await require_sound(chat.session)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("fail", "{}", "the disk is on fire"),
        ("add", '{"left": "x", "right": 1}', "left"),
        ("add", '{"left": 1', "do not fit"),
        ("nothing", "{}", "There is no tool 'nothing'"),
        ("memory_add", "[]", "must be a JSON object"),
    ],
)
async def test_what_a_tool_raises_is_its_answer(name: str, arguments: str, told: str) -> None:
    """A failing tool, arguments that do not fit and an unknown name reach the model as a result, and the turn goes on."""
    stage = Stage([[call(name, arguments)], ["I see."]])
    async with chatting(stage, toolset=make_tools(), has_memory=True) as chat:
        events = await take(chat.send("go"))
        [answered] = only(ToolAnswered, events)
        assert answered.is_error
        assert told in answered.text
        log = await read_log(chat.session)
        assert told in log[2].view.text
        assert log[2].view.text.startswith("[error]")
        assert log[3].view.text == "I see."
        await require_sound(chat.session)


async def test_calls_with_the_same_id_are_told_apart() -> None:
    """A model that gives two calls one id gets both answered, under ids that differ."""
    twice = [
        call("add", '{"left": 1, "right": 2}', call_id="same"),
        call("add", '{"left": 3, "right": 4}', index=1, call_id="same"),
    ]
    async with chatting(Stage([twice, ["Done."]]), toolset=make_tools()) as chat:
        events = await take(chat.send("go"))
        assert {event.text for event in only(ToolAnswered, events)} == {'{"sum":3}', '{"sum":7}'}
        await require_sound(chat.session)


async def test_the_tools_of_memory_write_and_answer(tmp_path: Path) -> None:
    """A call of `memory_add` is in the user's memory afterwards."""
    stage = Stage([[call("memory_add", '{"statement": "The user lives in Graz.", "tier": "user"}')], ["Noted."]])
    settings = {"memory": {"system": "structured"}}
    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with chatting(stage, url=url, has_memory=True, settings=settings) as chat:
        await take(chat.send("I moved."))
    assert "The user lives in Graz." in await list_remembered(url)


async def list_remembered(url: str) -> list[str]:
    """What a database has of the default user."""
    async with everfold.open(url) as engine:
        return [item.statement for item in await (await engine.memory()).items()]


async def test_a_bare_answer_in_a_chat_is_remembered_with_its_question(tmp_path: Path) -> None:
    """What the user answers in a chat becomes one statement with the question that the model asked."""
    stage = Stage([["Hi! ", "What is your allergy?"], ["Noted."]])
    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with chatting(stage, url=url, settings={"memory": {"system": "structured"}}) as chat:
        for text in ("Hello.", "Peanuts."):
            await take(chat.send(text))
    assert await list_remembered(url) == ['Asked "What is your allergy?", the user answered "Peanuts."']


# --- what is cut


async def start(chat: Chat, text: str, until: type[object]) -> tuple[list[ChatEvent], AsyncIterator[ChatEvent]]:
    """Send, and take events until one of a kind came."""
    events: list[ChatEvent] = []
    stream = chat.send(text)
    async for event in stream:
        events.append(event)
        if isinstance(event, until):
            break
    return events, stream


async def test_a_stopped_answer_is_stored_as_far_as_it_came() -> None:
    """Stopped within its stream, an answer is one message marked interrupted, is told as cut, and the chat goes on."""
    stage = Stage([["So it ", "begins", HANG], ["Whole."]])
    async with chatting(stage) as chat:
        events, stream = await start(chat, "tell me", TextDelta)
        assert chat.stop()
        assert chat.stop()  # a second time changes nothing
        rest = await take(stream)
        [stopped] = only(Stopped, rest)
        said = "".join(event.text for event in only(TextDelta, [*events, *rest]))
        assert (stopped.seq, stopped.text, stopped.is_open) == (2, said, False)
        log = await read_log(chat.session)
        assert [message.kind for message in log] == ["user", "assistant"]
        assert log[1].view.text == f"{said}\n\n{INTERRUPTED_MARK}"
        assert await chat.find_stopped() == stopped
        [made] = await chat.session.inspect.calls()
        assert made.outcome == "cancelled"
        await take(chat.send("again"))
        assert (await read_log(chat.session))[-1].view.text == "Whole."
        assert not chat.stop()
        await require_sound(chat.session)


async def test_leaving_the_iteration_stops_the_answer() -> None:
    """An iteration that is closed, or whose task is cancelled, leaves the same log as a stopped answer."""
    stage = Stage([["begun ", HANG]])
    async with chatting(stage) as chat:
        _, stream = await start(chat, "one", TextDelta)
        await stream.aclose()  # type: ignore[attr-defined]
        with anyio.move_on_after(0.2):
            await take(chat.send("two"))
        log = await read_log(chat.session)
        assert [message.kind for message in log] == ["user", "assistant"] * 2
        assert all(INTERRUPTED_MARK in message.view.text for message in log if message.kind == "assistant")
        await require_sound(chat.session)


async def test_a_stopped_tool_leaves_a_step_that_the_next_message_closes() -> None:
    """Of two tools the one that answered is stored, the hanging one is told as cut, and the next window is valid."""
    hangs = anyio.Event()
    stage = Stage([[call("add", '{"left": 1, "right": 2}'), call("hang", index=1)], ["Never mind."]])
    async with chatting(stage, toolset=make_tools(hangs=hangs)) as chat:
        _, stream = await start(chat, "go", ToolAnswered)
        await hangs.wait()
        chat.stop()
        [stopped] = only(Stopped, await take(stream))
        assert (stopped.seq, stopped.calls, stopped.is_open) == (2, ("hang",), True)
        await require_sound(chat.session)
        await take(chat.send("what happened?"))
        heard = [part for message in stage.heard[1] for part in message.parts if isinstance(part, ToolReturnPart)]
        assert [part.tool_call_id for part in heard] == ["c0", "c1"]
        assert "interrupted" in str(heard[1].content)
        assert await chat.find_stopped() is None
        await require_sound(chat.session)


async def test_a_provider_that_breaks_off_leaves_what_it_said() -> None:
    """An error within a stream stores what was said, marked; one before it stores nothing. Either can be answered anew."""
    stage = Stage([["Half of ", "it", DOWN], [DOWN], ["Now."]])
    async with chatting(stage) as chat:
        with pytest.raises(ModelUnavailableError):
            await take(chat.send("one"))
        stopped = await chat.find_stopped()
        assert stopped is not None
        assert (stopped.seq, stopped.text) == (2, "Half of it")
        assert "overloaded" in stopped.reason
        with pytest.raises(ModelUnavailableError):
            await take(chat.answer())
        stopped = await chat.find_stopped()
        assert stopped is not None
        assert (stopped.seq, stopped.is_open) == (None, True)
        await take(chat.answer())
        assert [message.view.text for message in await chat.session.messages()] == ["one", "Now."]
        with pytest.raises(InvalidInputError):
            await take(chat.answer())
        assert [made.outcome for made in await chat.session.inspect.calls()] == ["model_unavailable"] * 2 + ["complete"]
        await require_sound(chat.session)


@pytest.mark.parametrize("source", ["tick", "refresh"])
async def test_what_follows_a_stopped_answer_is_not_taken_back(source: str) -> None:
    """A stopped answer that a tick or a refresh follows is not answered anew, and neither of them is retracted."""
    async with chatting(Stage([["Half", HANG], ["Whole."]]), sources=[FakeSource()]) as chat:
        _, stream = await start(chat, "go", TextDelta)
        chat.stop()
        await take(stream)
        if source == "tick":
            await chat.session.append({"role": "user", "content": "It is noon."}, source="tick")
        else:
            await chat.session.refresh()
        with pytest.raises(ConflictError, match="message 3"):
            await take(chat.answer())
        assert [message.source for message in await read_log(chat.session)] == ["said", "said", source]
        await chat.rewind(1)
        await take(chat.answer())
        assert [message.view.text for message in await read_log(chat.session)] == ["go", "Whole."]


def test_an_answer_that_reached_its_bound_is_marked() -> None:
    """What the model's own bound cut off is stored as interrupted, without the calls that it had begun."""
    draft = Draft(pieces=["Half "])
    parts: list[ModelResponsePart] = [TextPart("Half "), ToolCallPart("add", '{"left": 1')]
    finish_draft(draft, ModelResponse(parts=parts, finish_reason="length"), "stage")
    assert draft.to_wire() == {
        "role": "assistant",
        "content": f"Half \n\n{INTERRUPTED_MARK}",
        "interrupted": "the answer reached the most that the model may say at once",
    }


@pytest.mark.parametrize("finish", ["stop", "error"])
def test_an_answer_of_nothing_is_an_error(finish: FinishReason) -> None:
    """An answer without text or calls is refused, and so is one that the provider ended with an error."""
    with pytest.raises(ModelReplyError):
        finish_draft(Draft(), ModelResponse(parts=[TextPart(" ")], finish_reason=finish), "stage")


async def test_a_request_that_is_too_long_is_asked_once_more() -> None:
    """After a context-length error the session plans smaller and the model is asked once more, and no third time."""
    stage = Stage([[TOO_LONG], ["Fits."], [TOO_LONG], [TOO_LONG], ["no"]])
    async with chatting(stage) as chat:
        before = (await chat.session.inspect.state()).calibration
        events = await take(chat.send("hello"))
        assert len(only(Retried, events)) == 1
        assert (await chat.session.inspect.state()).calibration != before
        assert [made.call_number for made in await chat.session.inspect.calls()] == [1, 2]
        with pytest.raises(everfold.errors.ContextLengthError):
            await take(chat.send("again"))
        assert len(stage.heard) == 4
        await require_sound(chat.session)


async def test_one_answer_at_a_time() -> None:
    """While an answer is on its way nothing else is said, and no other session is gone to; blank text is refused."""
    async with chatting(Stage([["a", HANG]])) as chat:
        _, stream = await start(chat, "one", TextDelta)
        with pytest.raises(ConflictError):
            await take(chat.send("two"))
        with pytest.raises(ConflictError):
            await chat.new()
        chat.stop()
        await take(stream)
        with pytest.raises(InvalidInputError):
            chat.send("  ")
        assert (await chat.session.inspect.state()).last_seq == 2


async def test_nothing_is_asked_over_the_cap_of_a_day() -> None:
    """Where today's money is spent the model is not called; what the user said is stored."""
    stage = Stage([["x"]])
    async with chatting(stage, spent_usd=0.0) as chat:
        with pytest.raises(OverBudgetError):
            await take(chat.send("one"))
        assert stage.heard == []
        assert (await chat.session.inspect.state()).last_seq == 1


# --- going on


async def test_a_chat_goes_to_other_sessions_and_back() -> None:
    """New, branch and resume each go on where they say, with the same prompt and tools."""
    async with chatting(Stage([["ok"]]), toolset=make_tools()) as chat:
        first = chat.session.id
        await take(chat.send("one"))
        await chat.new()
        assert (await chat.session.inspect.state()).last_seq == 0
        await chat.resume(first)
        assert chat.session.id == first
        await chat.rewind(1)
        assert [message.view.text for message in await read_log(chat.session)] == ["one"]
        await take(chat.answer())
        assert chat.session.id != first
        assert chat.session.settings.prompt.tools
        await chat.reset()
        assert (await chat.session.inspect.state()).last_seq == 0


async def test_another_process_is_told_the_same_cut(tmp_path: Path) -> None:
    """What was stopped is told by the process that opens the database next, from the log alone."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    async with chatting(Stage([["abc", HANG]]), url=url) as chat:
        _, stream = await start(chat, "go", TextDelta)
        chat.stop()
        [stopped] = only(Stopped, await take(stream))
    async with chatting(Stage([["x"]]), url=url) as chat:
        assert await chat.find_stopped() == stopped


async def test_a_long_chat_folds_and_goes_on() -> None:
    """Many turns, some with tools, fold several times, are told, and stay sound; the log has every message."""
    turns_count = some(200, 120)
    words = "The delivery of the blue bowls is on the way and nothing else has changed since. " * 3
    answers: list[list[Piece]] = []
    for number in range(turns_count):
        if number % 10 == 0:
            answers.append([call("add", f'{{"left": {number}, "right": 1}}')])
        answers.append([f"Turn {number}. {words}"])
    stage = Stage(answers)
    async with chatting(stage, toolset=make_tools(), limit=6_000) as chat:
        events: list[ChatEvent] = []
        for number in range(turns_count):
            events += await take(chat.send(f"Question {number}: what about order {number * 7}? {words}"))
        assert len(only(Compacted, events)) >= some(3, 2)
        assert (await chat.session.inspect.state()).last_seq == turns_count * 2 + turns_count // 10 * 2
        assert not only(Stopped, events)
        last = stage.heard[-1]
        assert isinstance(last[0], ModelRequest)
        assert isinstance(last[-1], ModelRequest)
        assert any(isinstance(message, ModelResponse) for message in last)
        await require_sound(chat.session)


async def test_a_turn_says_what_it_waits_for() -> None:
    """After a gap the sources are named while they are asked, and what they said before the answer begins."""
    slow = FakeSource(secs=LOOK_SECS * 3)
    settings = {"compaction": {"gap_secs": 0.05, "enabled": False}}
    async with chatting(Stage([["Hello."]]), settings=settings, sources=[slow]) as chat:
        [_ async for _ in chat.send("Hi.")]
        await anyio.sleep(0.1)
        events = [event async for event in chat.send("Back.")]
        kinds = [type(event) for event in events]
        assert kinds.index(Refreshing) < kinds.index(Refreshed) < kinds.index(TextDelta)
        assert (await chat.session.verify()).is_sound
