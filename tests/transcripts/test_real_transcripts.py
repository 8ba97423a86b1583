"""Real conversations, and our own for what they lack, hold every guarantee at limits from 2,500 to 64,000 tokens."""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import cast

import pytest
from bench.material.logs import coding_log, one_turn_of_steps
from bench.transcripts.reading import read_transcript
from tests.support.proofs import Prover

import everfold
from everfold.core.log.messages import WireFormat
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.rendering import render
from everfold.errors import BudgetUnsatisfiableError

LIMITS = (2_500, 4_000, 8_000, 16_000, 64_000)
ALL_LIMITS = (2_500, 4_000, 8_000, 16_000, 32_000, 64_000)
AIRLINE, CODING, TALKS = REAL = ("tau-airline-dev.jsonl", "coding-dev.json", "locomo-dev.json")
OWN = sorted(path for path in (Path(__file__).parent.parent / "data" / "transcripts").iterdir() if path.is_file())


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


@pytest.mark.parametrize("limit", LIMITS)
async def test_airline_conversations(real_data: Path, limit: int) -> None:
    """Each of a sample is shown within its limit, or the error names the smallest limit that works."""
    found = conversations(real_data, AIRLINE)
    offset = LIMITS.index(limit)
    results = [
        await play(conversation.messages, url="memory://", limit=limit)
        for conversation in found[offset :: len(found) // 4]
    ]
    if limit == LIMITS[0]:
        assert all(refused for _, refused in results), "their system prompt leaves too little room here"
    else:
        assert not any(refused for _, refused in results)


@pytest.mark.parametrize("limit", LIMITS)
async def test_a_coding_session(real_data: Path, tmp_path: Path, limit: int) -> None:
    """A coding agent's run, cut off in a call, holds in a file."""
    for conversation in conversations(real_data, CODING):
        shown, refused = await play(conversation.messages, url=f"sqlite:///{tmp_path}/log.db", limit=limit)
        assert (shown, refused) == (len(conversation.messages), 0)


@pytest.mark.parametrize("limit", LIMITS)
async def test_long_talks(real_data: Path, limit: int) -> None:
    """A talk over many sessions holds, with a window now and then."""
    found = conversations(real_data, TALKS)
    conversation = found[LIMITS.index(limit) % len(found)]
    assert await play(conversation.messages, url="memory://", limit=limit, every=37) > (9, 0)


@pytest.mark.parametrize("limit", [4_000, pytest.param(32_000, marks=pytest.mark.slow)])
async def test_everything_chained(real_data: Path, tmp_path: Path, limit: int) -> None:
    """All conversations behind each other, several hundred thousand tokens, hold as one session."""
    shown, refused = await play(chain(real_data), url=f"sqlite:///{tmp_path}/log.db", limit=limit, every=307)
    assert shown > 10
    assert not refused


@pytest.mark.parametrize("limit", [2_500, 8_000])
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
async def test_own_transcripts(path: Path, limit: int) -> None:
    """Thinking and parallel calls, reused ids, a log that the assistant opens, system messages in the middle hold."""
    for conversation in read_transcript(path).conversations:
        shown, refused = await play(conversation.messages, url="memory://", limit=limit)
        assert shown
        assert not refused


def numbered(wires: Iterator[JsonObject]) -> list[TranscriptMessage]:
    """Generated messages as those of a file."""
    lines = count(1)
    return [TranscriptMessage(wire=wire, wire_format="openai", line=next(lines)) for wire in wires]


@pytest.mark.parametrize(
    ("limit", "steps_count"), [(2_500, 150), *(pytest.param(it, 600, marks=pytest.mark.slow) for it in (2_500, 16_000))]
)
async def test_one_turn_of_steps(limit: int, steps_count: int) -> None:
    """A turn whose steps fill the window many times over folds within itself, and its user message stays."""
    messages = numbered(cast("JsonObject", entry.wire) for entry in one_turn_of_steps(6, steps_count=steps_count))
    assert await play(messages, url="memory://", limit=limit, every=23) > (steps_count // 15, 0)


async def test_coding_turns() -> None:
    """Paths, errors and diffs over many turns hold."""
    messages = numbered(cast("JsonObject", entry.wire) for entry in coding_log(3, turns_count=14))
    assert await play(messages, url="memory://", limit=4_000, every=7) > (20, 0)


@pytest.mark.slow
@pytest.mark.parametrize("limit", ALL_LIMITS)
@pytest.mark.parametrize("form", ["openai", "anthropic"])
@pytest.mark.parametrize("name", REAL)
async def test_every_conversation(real_data: Path, name: str, form: WireFormat, limit: int) -> None:
    """Each holds after every message, in the form of either provider, or the smallest limit that works is named."""
    for conversation in conversations(real_data, name):
        system, messages = await as_form(form, conversation.messages)
        shown, refused = await play(messages, url="memory://", limit=limit, system=system)
        assert shown == len(messages) or refused == 1
        assert not refused or (name, limit) == (AIRLINE, ALL_LIMITS[0]), (
            "only their system prompt is too long, and here"
        )


@pytest.mark.slow
@pytest.mark.parametrize("limit", ALL_LIMITS)
@pytest.mark.parametrize("form", ["openai", "anthropic"])
async def test_every_message_of_the_chain(real_data: Path, tmp_path: Path, form: WireFormat, limit: int) -> None:
    """All conversations as one session hold at every message, in a file, in the form of either provider."""
    _, messages = await as_form(form, chain(real_data))
    shown, refused = await play(messages, url=f"sqlite:///{tmp_path}/log.db", limit=limit, thorough_every=100)
    assert (shown, refused) == (len(messages), 0)
