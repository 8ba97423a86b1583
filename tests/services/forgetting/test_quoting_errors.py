"""What a provider says of an error may quote what it was sent: the store keeps none of it."""

from collections.abc import Mapping
from typing import Any

import pytest

import everfold
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.model_server import Answer, ModelServer, openai_error

NEEDLE = "zanzibar"
SAID = f"content blocked: the user says that the code is {NEEDLE}"
REFUSALS: Mapping[str, tuple[Answer, str]] = {
    "refused": (
        openai_error(400, SAID, code="content_filter", kind="invalid_request_error"),
        "refused the request (HTTP 400, invalid_request_error, content_filter)",
    ),
    "too long": (openai_error(400, f"{SAID}; its maximum context length is 9."), "too large for the model"),
    "busy": (openai_error(429, SAID, code="rate_limit_exceeded"), "too many requests (HTTP 429, rate_limit_exceeded)"),
    "down": (openai_error(503, SAID), "did not serve (HTTP 503)"),
    "unreadable": (Answer(body=f'"{SAID}'.encode()), "cannot be read ("),
}


@pytest.mark.parametrize("system", ["summarization", "structured"])
@pytest.mark.parametrize("name", REFUSALS)
async def test_no_problem_quotes_what_was_sent(
    url: str, monkeypatch: pytest.MonkeyPatch, name: str, system: str
) -> None:
    """The problem of a digest or an extraction names status and kind of a refusal, and no word of an erased message."""
    answer, told = REFUSALS[name]
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ModelServer(answer) as server:
        settings: dict[str, Any] = {
            "model": {"name": "openai:gpt-5-mini", "base_url": f"{server.url}/v1"},
            "compaction": {"retries": 0},
            "memory": {"system": system},
            "recovery": {"attempts": 1},
        }
        async with everfold.open(url, settings=settings) as engine:
            session = await engine.session(user="ada", limit=8_000)
            await session.append([user(f"The code is {NEEDLE}."), assistant("Noted.")])
            await session.append(
                [say(f"{number} is a berth. " * 20) for number in range(20) for say in (user, assistant)]
            )
            await session.compact(keep_recent=2)
            compactions = await session.inspect.compactions()
            assert any(told in compaction.problem for compaction in compactions)
            await session.erase(1)
            assert await engine.admin.verify_erased(user="ada", words=[NEEDLE]) == []
