"""What every door holds to, whatever framework is behind it: one run of a scripted conversation, and what is true after it.

The provider is a real HTTP server that plays a script, the store a real file; the framework and its client are the real
ones. A door's test gives how its agent is opened, spoken to and stopped.
"""

# ruff: noqa: S101  # assertions are what a conformance run is made of

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from everfold.core.log.messages import Message, ResultPart
from everfold.engine import Everfold
from everfold.session import Session, iterate_log
from everfold.testing.judges.requests import (
    check_anthropic_request,
    check_openai_request,
    check_responses_request,
)
from everfold.testing.kit.scripted_provider import (
    MARK,
    ProviderRequest,
    ScriptedProvider,
    count_request_tokens,
    write_answer,
)

USER: Final = "ada"
AGENT: Final = "helper"
LIMIT: Final = 6000
"""The context limit of every conversation: the long one is several times as large."""
TURNS_COUNT: Final = 60
STEPS_COUNT: Final = 40
_LOOK_UP_WORDS: Final = 60


class ToolBrokeError(Exception):
    """What the tool that fails raises."""


def look_up(key: str) -> str:
    """Look up what is known of a key."""
    return f"Result of {key}: " + " ".join(f"row {number} of {key}" for number in range(_LOOK_UP_WORDS // 4))


def explode(key: str) -> str:
    """Fail."""
    raise ToolBrokeError(f"the tool broke at {key}")


class DoorAgent(Protocol):
    """An agent of a framework with the tools `look_up` and `explode`, behind its door.

    Its sessions are those of `USER` and `AGENT`, with the thread's name as session key and a context limit of `LIMIT`.
    """

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """Run one turn, and give the answer. A failing tool may raise, or be told to the model."""
        ...

    async def stop(self, text: str, *, thread: str) -> None:
        """Begin a streamed turn, and cancel it once its first piece has come."""
        ...


OpenEngine = Callable[[str], AbstractAsyncContextManager[Everfold]]
"""`everfold.open`."""
OpenAgent = Callable[[str, str], AbstractAsyncContextManager[DoorAgent]]
"""Opens an agent over a store, given by its place, with a provider, given by its address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of the run.

    Attributes:
        does: What the provider is told to do, as `ScriptedProvider` reads it.
        requests_count: How many requests it takes.
        results_count: How many results its tools give.
    """

    mark: str
    does: str = ""
    is_streamed: bool = False
    requests_count: int = 1
    results_count: int = 0

    @property
    def text(self) -> str:
        """What the user says."""
        return f"{self.mark} {self.does} Please say what is known of this one."


def plan_turns(count: int = TURNS_COUNT) -> list[Turn]:
    """The turns of the long conversation: plain and streamed by turns, a few of them eventful."""
    return [_plan_turn(number) for number in range(1, count + 1)]


def plan_side(name: str) -> list[Turn]:
    """The turns of a short conversation beside another one."""
    return [Turn(mark=f"MARK-{name}{number}", is_streamed=number % 2 == 0) for number in range(1, 5)]


def _plan_turn(number: int) -> Turn:
    mark, is_streamed = f"MARK-{number}", number % 2 == 0
    match number:
        case 12:
            return Turn(mark=mark, does="[busy 3]", is_streamed=True, requests_count=4)
        case 20:
            return Turn(mark=mark, does="[held]", is_streamed=True)
        case 25:
            return Turn(mark=mark, does="[broken]")
        case 40:
            steps = f"[steps {STEPS_COUNT}]"
            return Turn(mark=mark, does=steps, requests_count=STEPS_COUNT + 1, results_count=STEPS_COUNT)
        case _ if number % 7 == 0:
            return Turn(mark=mark, does="[tools 3]", is_streamed=is_streamed, requests_count=2, results_count=3)
        case _:
            return Turn(mark=mark, is_streamed=is_streamed)


async def run_conformance(open_agent: OpenAgent, open_engine: OpenEngine, folder: Path) -> None:
    """Hold a door to everything at once. Takes some tens of seconds.

    Sixty turns, plain and streamed, one of them of forty steps; parallel tools, three refusals, an answer that is stopped,
    a tool that raises, a restart half way; then two conversations at once.
    """
    store, turns = f"sqlite:///{folder / 'doors.db'}", plan_turns()
    sides = {side: plan_side(side) for side in ("left", "right")}
    with ScriptedProvider() as provider:
        async with open_agent(store, provider.url) as agent:
            await _run(agent, provider, turns[: len(turns) // 2], thread="long")
        async with open_agent(store, provider.url) as agent:
            await _run(agent, provider, turns[len(turns) // 2 :], thread="long")
            await asyncio.gather(*(_run(agent, provider, side, thread=name) for name, side in sides.items()))
    async with open_engine(store) as engine:
        for thread, planned in {"long": turns, **sides}.items():
            session = await engine.session(user=USER, agent=AGENT, session_key=thread, limit=LIMIT)
            await _check_log(session, planned)
        window = await session.window(preview=True)
    _check_requests(provider.asked, [*turns, *sides["left"], *sides["right"]], most_tokens=window.report.budget_tokens)


async def _run(agent: DoorAgent, provider: ScriptedProvider, turns: Sequence[Turn], *, thread: str) -> None:
    for turn in turns:
        if "[held]" in turn.does:
            await agent.stop(turn.text, thread=thread)
            provider.release()
        elif "[broken]" in turn.does:
            with suppress(Exception):  # each framework has its own way to tell it
                await agent.say(turn.text, thread=thread, is_streamed=turn.is_streamed)
        else:
            answer = await agent.say(turn.text, thread=thread, is_streamed=turn.is_streamed)
            assert answer == write_answer(turn.mark), turn


def _check_requests(asked: Sequence[ProviderRequest], turns: Sequence[Turn], *, most_tokens: int) -> None:
    """Each turn's requests have its marker as newest text of the user, are valid, keep to the budget, and are streamed or not.

    So also the next request after an answer that was stopped, and after a tool that raised.
    """
    streamed = {turn.mark for turn in turns if turn.is_streamed}
    for request in asked:
        assert _find_check(request.path)(request.body) == [], request.mark
        assert count_request_tokens(request.body) <= most_tokens, request.mark
        assert request.mark not in streamed or request.body.get("stream") is True, request.mark
        assert request.body.get("tools"), request.mark
    counts = Counter(request.mark for request in asked)
    for turn in turns:
        if "[broken]" in turn.does:
            assert counts[turn.mark] in {1, 2}, turn  # a framework may tell the model what a tool raised
        else:
            assert counts[turn.mark] == turn.requests_count, turn
    assert counts.keys() == {turn.mark for turn in turns}


def _find_check(path: str) -> Callable[[Mapping[str, object]], list[str]]:
    """What a request of a route must hold to."""
    if path.endswith("/chat/completions"):
        return check_openai_request
    return _check_combined if path.partition("?")[0].endswith("/messages") else check_responses_request


def _check_combined(request: Mapping[str, Any]) -> list[str]:
    """What is wrong with a request of Anthropic's, which combines neighbours of one role: clients send them."""
    combined: list[dict[str, Any]] = []
    for message in request["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if combined and combined[-1]["role"] == message["role"]:
            combined[-1]["content"] += blocks
        else:
            combined.append({"role": message["role"], "content": list(blocks)})
    return check_anthropic_request({**request, "messages": combined})


async def _check_log(session: Session, turns: Sequence[Turn]) -> None:
    """Every message is in the log once, in its own turn, and the log was compacted soundly."""
    log = [message async for message in iterate_log(session)]
    starts = [at for at, message in enumerate(log) if message.kind == "user"]
    ends = [*starts[1:], len(log)]
    assert starts[0] == 0
    for turn, start, end in zip(turns, starts, ends, strict=True):
        _check_turn(turn, log[start:end])
    verification = await session.verify()
    assert verification.problems == ()
    assert (verification.compactions_count > 0) == (len(turns) == TURNS_COUNT)


def _check_turn(turn: Turn, messages: Sequence[Message]) -> None:
    """The words of the user, each call once and then its result once, and the answer at the end."""
    assert messages[0].view.text == turn.text
    assert {mark for message in messages for mark in MARK.findall(message.view.text)} <= {turn.mark}
    answers = [message for message in messages if message.kind == "assistant" and not message.view.calls]
    results = [result for message in messages for result in message.view.results]
    calls = [call.id for message in messages for call in message.view.calls]
    assert len(set(calls)) == len(calls), turn
    if "[held]" in turn.does:
        assert len(messages) == len(answers) + 1 == 2, turn  # noqa: PLR2004 - what was said, and as much as was answered
        assert answers[0].view.text.startswith(f"Answer to {turn.mark}"), turn
        assert write_answer(turn.mark) not in answers[0].view.text, turn
    elif "[broken]" in turn.does:
        assert calls == [f"call_{turn.mark}_1"], turn
        assert len(answers) <= 1, turn
        assert len(results) <= 1, turn
    else:
        assert [answer.view.text for answer in answers] == [write_answer(turn.mark)], turn
        assert messages[-1] is answers[0], turn
        assert sorted(result.call_id for result in results) == sorted(calls), turn
        assert len(results) == turn.results_count, turn
        _check_results(results)
    _check_order(messages)


def _check_order(messages: Sequence[Message]) -> None:
    """Each result comes after its call."""
    called: set[str] = set()
    for message in messages:
        assert {result.call_id for result in message.view.results} <= called
        called |= {call.id for call in message.view.calls}


def _check_results(results: Sequence[ResultPart]) -> None:
    """Each result says what the tool gave for its call."""
    for result in results:
        mark, number = result.call_id.removeprefix("call_").rsplit("_", 1)
        assert result.text == look_up(f"{mark}/{number}")
