"""Real conversations, and our own for what they lack, hold every guarantee at limits from 2,500 to 64,000 tokens."""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import cast

import pytest

import everfold
from everfold.adapters.transcripts.reading import read_transcript
from everfold.core.json_values import JsonObject
from everfold.core.transcripts import Conversation, TranscriptMessage
from everfold.errors import BudgetUnsatisfiableError
from everfold.testing import coding_log, one_turn_of_steps
from everfold.testing.proofs import Prover

LIMITS = (2_500, 4_000, 8_000, 16_000, 64_000)
OWN = sorted(path for path in (Path(__file__).parent.parent / "data" / "transcripts").iterdir() if path.is_file())


async def play(
    messages: Sequence[TranscriptMessage], *, url: str, limit: int, every: int = 1, system: str | None = None
) -> tuple[int, int]:
    """Play messages with a window after every few; how many windows there were, and how many limits were refused."""
    shown = refused = 0
    async with everfold.open(url) as engine:
        session = await engine.session(limit=limit, system=system)
        prover = Prover(session)
        for first in range(0, len(messages), every):
            batch = messages[first : first + every]
            prover.wire_format = batch[0].wire_format
            await prover.append(*(message.wire for message in batch))
            try:
                await prover.window()
                shown += 1
            except BudgetUnsatisfiableError as error:
                refused += 1
                bigger = await engine.session(limit=error.smallest_limit_tokens, system=system)
                await bigger.window()
                with pytest.raises(BudgetUnsatisfiableError):
                    await (await engine.session(limit=error.smallest_limit_tokens - 1, system=system)).window()
                return shown, refused
        await prover.reopen(engine)
        await prover.check_all()
    return shown, refused


def conversations(folder: Path, name: str) -> list[Conversation]:
    """The conversations of a file of the real data."""
    if not (folder / name).is_file():
        pytest.skip(f"{name} is not in the folder of real conversations")
    return list(read_transcript(folder / name).conversations)


@pytest.mark.parametrize("limit", LIMITS)
async def test_airline_conversations(real_data: Path, limit: int) -> None:
    """Each of a sample is shown within its limit, or the error names the smallest limit that works."""
    found = conversations(real_data, "tau-airline-dev.jsonl")
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
    for conversation in conversations(real_data, "coding-dev.json"):
        shown, refused = await play(conversation.messages, url=f"sqlite:///{tmp_path}/log.db", limit=limit)
        assert (shown, refused) == (len(conversation.messages), 0)


@pytest.mark.parametrize("limit", LIMITS)
async def test_long_talks(real_data: Path, limit: int) -> None:
    """A talk over many sessions holds, with a window now and then."""
    found = conversations(real_data, "locomo-dev.json")
    conversation = found[LIMITS.index(limit) % len(found)]
    assert await play(conversation.messages, url="memory://", limit=limit, every=37) > (9, 0)


@pytest.mark.parametrize("limit", [4_000, 32_000])
async def test_everything_chained(real_data: Path, tmp_path: Path, limit: int) -> None:
    """All conversations behind each other, several hundred thousand tokens, hold as one session."""
    chain = [
        message
        for name in ("tau-airline-dev.jsonl", "coding-dev.json", "locomo-dev.json")
        for conversation in conversations(real_data, name)
        for message in conversation.messages
        if message.wire["role"] != "system"
    ]
    shown, refused = await play(chain, url=f"sqlite:///{tmp_path}/log.db", limit=limit, every=307)
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


@pytest.mark.parametrize("limit", [2_500, 16_000])
async def test_one_turn_of_600_steps(limit: int) -> None:
    """A turn whose steps fill the window many times over folds within itself, and its user message stays."""
    messages = numbered(cast("JsonObject", entry.wire) for entry in one_turn_of_steps(6, steps_count=600))
    assert await play(messages, url="memory://", limit=limit, every=23) > (40, 0)


async def test_coding_turns() -> None:
    """Paths, errors and diffs over many turns hold."""
    messages = numbered(cast("JsonObject", entry.wire) for entry in coding_log(3, turns_count=14))
    assert await play(messages, url="memory://", limit=4_000, every=7) > (20, 0)
