"""The conformance run of every door, passed by an agent that is a plain loop over the common part."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import openai

import everfold
from everfold.integrations.door import Asked, Doors, Given
from everfold.testing.doors.conformance import AGENT, LIMIT, USER, explode, look_up, run_conformance

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": {"key": {"type": "string"}}}},
    }
    for name in ("look_up", "explode")
]


class PlainAgent:
    """A loop that asks the model and calls its tools until it answers; it keeps the messages of the running turn only."""

    def __init__(self, doors: Doors, url: str) -> None:
        self._doors = doors
        self._client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=4)
        self._first_piece = asyncio.Event()

    async def say(self, text: str, *, thread: str, is_streamed: bool) -> str:
        """One turn."""
        door = await self._doors.find(thread)
        kept = [_give(f"{text}/0", {"role": "user", "content": text})]
        for number in count(1):
            await door.take(kept)
            asked = await door.ask(form="openai", system="Say what you know.", tools=TOOLS)
            message, tokens = await (self._stream(thread, asked) if is_streamed else self._ask(asked))
            said = _give(f"{text}/{number}", message)
            await door.reply(asked, said, counted_tokens=tokens)
            if not message.get("tool_calls"):
                return str(message["content"])
            kept += [said, *(_give(call["id"], _answer(call)) for call in message["tool_calls"])]
        raise AssertionError

    async def stop(self, text: str, *, thread: str) -> None:
        """One turn, cancelled at its first piece."""
        self._first_piece.clear()
        turn = asyncio.create_task(self.say(text, thread=thread, is_streamed=True))
        await self._first_piece.wait()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)

    async def _ask(self, asked: Asked) -> tuple[dict[str, Any], int]:
        reply = await self._client.chat.completions.create(model="scripted", **_request(asked))
        return reply.choices[0].message.model_dump(exclude_none=True), reply.usage.prompt_tokens if reply.usage else 0

    async def _stream(self, thread: str, asked: Asked) -> tuple[dict[str, Any], int]:
        text, calls, tokens = "", [], 0
        options: Any = {"include_usage": True}
        request = _request(asked)
        chunks = await self._client.chat.completions.create(
            model="scripted", stream=True, stream_options=options, **request
        )
        try:
            async for chunk in chunks:
                tokens = chunk.usage.prompt_tokens if chunk.usage else tokens
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    calls += [call.model_dump(exclude={"index"}) for call in choice.delta.tool_calls or ()]
                if text:
                    self._first_piece.set()
        except asyncio.CancelledError:
            await (await self._doors.find(thread)).break_off(text, reason="the run was cancelled")
            raise
        return {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {}), tokens


def _request(asked: Asked) -> dict[str, Any]:
    return dict(asked.body)


def _give(id_: str, wire: dict[str, Any]) -> Given:
    return Given(id_, lambda: [wire])


def _answer(call: dict[str, Any]) -> dict[str, Any]:
    tool = {"look_up": look_up, "explode": explode}[call["function"]["name"]]
    text = tool(**json.loads(call["function"]["arguments"]))
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


@asynccontextmanager
async def open_plain_agent(store: str, url: str) -> AsyncIterator[PlainAgent]:
    """The agent over a store, with its provider."""
    async with everfold.open(store) as engine:
        yield PlainAgent(Doors(engine, user=USER, agent=AGENT, limit=LIMIT), url)


async def test_the_common_part_passes_the_conformance_run(tmp_path: Path) -> None:
    """A loop that wires nothing but the common part passes the run that every framework's door passes."""
    await run_conformance(open_plain_agent, everfold.open, tmp_path)
