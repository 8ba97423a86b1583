"""The memory tool, driven by Anthropic's own SDK against a scripted provider."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2
import pytest

import everfold
from everfold.engine import Everfold
from everfold.integrations.anthropic_memory import AsyncEverfoldMemoryTool, EverfoldMemoryTool
from everfold.sync_classes import SyncEverfold

COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/ada.md", "file_text": "Two cats"},
    {"command": "str_replace", "path": "/memories/ada.md", "old_str": "dog", "new_str": "cat"},
    {"command": "view", "path": "/memories/ada.md"},
]


@dataclass
class Provider:
    """Answers each request with the next command, and the last one with words; keeps what it was asked."""

    asked: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        """One answer of the messages API."""
        self.asked.append(json.loads(request.content))
        at = len(self.asked) - 1
        block: dict[str, Any] = {"type": "text", "text": "Done."}
        if at < len(COMMANDS):
            block = {"type": "tool_use", "id": f"toolu_{at}", "name": "memory", "input": COMMANDS[at]}
        body = {"id": f"msg_{at}", "type": "message", "role": "assistant", "model": "m", "content": [block]}
        ending = {"stop_reason": "tool_use" if at < len(COMMANDS) else "end_turn", "stop_sequence": None}
        return httpx2.Response(200, json={**body, **ending, "usage": {"input_tokens": 1, "output_tokens": 1}})

    def list_results(self) -> list[dict[str, Any]]:
        """What the model was told of each command."""
        return [part for body in self.asked for part in _list_parts(body["messages"][-1])]


def _list_parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [part for part in content if part["type"] == "tool_result"] if isinstance(content, list) else []


def check(provider: Provider) -> None:
    """The tool is named as the provider knows it, and each command was answered, the failed one as an error."""
    assert provider.asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    told = [(part.get("is_error", False), json.dumps(part["content"])) for part in provider.list_results()]
    assert [is_error for is_error, _ in told] == [False, False, True, False]
    assert "did not appear verbatim" in told[2][1]
    assert "Two cats" in told[3][1]


def options(tool: Any) -> dict[str, Any]:
    """What a run takes."""
    return {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "I have two cats."}],
        "tools": [tool],
        "betas": ["context-management-2025-06-27"],
    }


@pytest.fixture
async def engine() -> AsyncIterator[Everfold]:
    """An engine of the test's own."""
    async with everfold.open("memory://") as opened:
        yield opened


@pytest.fixture
def sync_engine() -> Iterator[SyncEverfold]:
    """The same without an event loop."""
    with everfold.open_sync("memory://") as opened:
        yield opened


async def test_the_async_client_runs_it(engine: Everfold) -> None:
    """The SDK's runner does the commands of a scripted model, and they are in the store afterwards."""
    provider = Provider()
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(provider.answer))
    async with anthropic.AsyncAnthropic(api_key="k", http_client=http) as client:
        tool = AsyncEverfoldMemoryTool(engine, user="ada", agent="helper")
        await client.beta.messages.tool_runner(**options(tool)).until_done()
    check(provider)
    kept = await (await engine.memory_files(user="ada", agent="helper")).view("/memories/ada.md")
    assert kept.endswith("Two cats")


def test_the_sync_client_runs_it(sync_engine: SyncEverfold) -> None:
    """The same with the blocking client and engine."""
    provider = Provider()
    http = httpx2.Client(transport=httpx2.MockTransport(provider.answer))
    with anthropic.Anthropic(api_key="k", http_client=http) as client:
        client.beta.messages.tool_runner(**options(EverfoldMemoryTool(sync_engine, user="ada"))).until_done()
    check(provider)
    assert sync_engine.memory_files(user="ada").view("/memories/ada.md").endswith("Two cats")
