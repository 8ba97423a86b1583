"""Real conversations, and playing one message by message with a proof of every window."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import cast

import pytest
from bench.transcripts.reading import read_transcript
from tests.support.proofs import Prover

import everfold
from everfold.core.log.messages import WireFormat
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.rendering import render
from everfold.errors import BudgetUnsatisfiableError

ALL_LIMITS = (2_500, 4_000, 8_000, 16_000, 32_000, 64_000)
AIRLINE, CODING, TALKS = REAL = ("tau-airline-dev.jsonl", "coding-dev.json", "locomo-dev.json")


async def play(
    messages: Sequence[TranscriptMessage],
    *,
    url: str,
    limit: int,
    every: int = 1,
    thorough_every: int = 1,
    system: str | None = None,
) -> tuple[int, int]:
    """Play messages with a window after every few; how many windows there were, and how many limits were refused.

    Every `thorough_every`-th window is proven wholly, the others in what costs no more in a longer log.
    """
    shown = refused = 0
    async with everfold.open(url) as engine:
        try:
            prover = Prover(await engine.session(limit=limit, system=system))
        except BudgetUnsatisfiableError as error:
            await engine.session(limit=error.smallest_limit_tokens, system=system)
            with pytest.raises(BudgetUnsatisfiableError):
                await engine.session(limit=error.smallest_limit_tokens - 1, system=system)
            return 0, 1
        for first in range(0, len(messages), every):
            batch = messages[first : first + every]
            prover.wire_format = batch[0].wire_format
            await prover.append(*(message.wire for message in batch))
            try:
                await prover.window(is_thorough=shown % thorough_every == 0)
                shown += 1
            except BudgetUnsatisfiableError as error:
                refused += 1
                bigger = await engine.session(limit=error.smallest_limit_tokens, system=system)
                await bigger.window()
                with pytest.raises(BudgetUnsatisfiableError):
                    await (await engine.session(limit=error.smallest_limit_tokens - 1, system=system)).window()
                return shown, refused
        await prover.window()
        await prover.reopen(engine)
        await prover.check_all()
    return shown, refused


def conversations(folder: Path, name: str) -> list[Conversation]:
    """The conversations of a file of the real data."""
    if not (folder / name).is_file():
        pytest.skip(f"{name} is not in the folder of real conversations")
    return list(read_transcript(folder / name).conversations)


def chain(folder: Path) -> list[TranscriptMessage]:
    """All conversations behind each other, without their system prompts."""
    found = [conversation for name in REAL for conversation in conversations(folder, name)]
    return [message for it in found for message in it.messages if message.wire["role"] != "system"]


def agents(folder: Path) -> list[TranscriptMessage]:
    """The real logs of coding agents and companions behind each other, without their system prompts."""
    paths = sorted((folder / "agents").glob("*.json"))
    if not paths:
        pytest.skip("the folder of real conversations has no logs of agents")
    found = [conversation for path in paths for conversation in read_transcript(path).conversations]
    return [message for it in found for message in it.messages if message.wire["role"] != "system"]


async def as_form(
    form: WireFormat, messages: Sequence[TranscriptMessage]
) -> tuple[str | None, Sequence[TranscriptMessage]]:
    """System prompt and messages as a client of that provider would hold them.

    In Anthropic's form they are what a window that everything fits renders to; an open step at the end is left out.
    """
    if form == "openai":
        return None, messages
    async with everfold.open("memory://", settings={"compaction": {"enabled": False}}) as engine:
        session = await engine.session(limit=100_000_000)
        await session.append([message.wire for message in messages])
        request = render(await session.window(), "anthropic")
    system = "\n\n".join(
        str(cast("JsonObject", block)["text"]) for block in cast("list[object]", request.get("system", []))
    )
    wires = cast("list[JsonObject]", request["messages"])
    lines = count(1)
    found = [TranscriptMessage(wire=wire, wire_format="anthropic", line=next(lines)) for wire in wires]
    return system or None, found


async def play_every(folder: Path, name: str, form: WireFormat, limit: int) -> None:
    """Each conversation of a file holds after every message, in a provider's form, or the smallest limit that works is named."""
    for conversation in conversations(folder, name):
        system, messages = await as_form(form, conversation.messages)
        shown, refused = await play(messages, url="memory://", limit=limit, system=system)
        assert shown == len(messages) or refused == 1
        assert not refused or (name, limit) == (AIRLINE, ALL_LIMITS[0]), (
            "only their system prompt is too long, and here"
        )


async def play_chain(folder: Path, url: str, form: WireFormat, limit: int) -> None:
    """All conversations behind each other, as one session, hold at every message, in a provider's form."""
    _, messages = await as_form(form, chain(folder))
    assert await play(messages, url=url, limit=limit, thorough_every=100) == (len(messages), 0)
