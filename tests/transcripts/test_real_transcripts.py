"""Real conversations, and our own for what they lack, hold every guarantee at limits from 2,500 to 64,000 tokens."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import cast

import pytest
from bench.material.logs import coding_log, one_turn_of_steps
from bench.transcripts.reading import read_transcript
from tests.support.playing import AIRLINE, CODING, TALKS, chain, conversations, play
from tests.support.sizes import every, some, spread

from everfold.core.log.transcripts import TranscriptMessage
from everfold.core.primitives.json_values import JsonObject

LIMITS = (2_500, 4_000, 8_000, 16_000, 64_000)
OWN = sorted(path for path in (Path(__file__).parent.parent / "data" / "transcripts").iterdir() if path.is_file())


@pytest.mark.parametrize("limit", every(4, LIMITS))
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


@pytest.mark.parametrize("limit", every(4, LIMITS))
async def test_a_coding_session(real_data: Path, tmp_path: Path, limit: int) -> None:
    """A coding agent's run, cut off in a call, holds in a file."""
    for conversation in conversations(real_data, CODING):
        shown, refused = await play(conversation.messages, url=f"sqlite:///{tmp_path}/log.db", limit=limit)
        assert (shown, refused) == (len(conversation.messages), 0)


@pytest.mark.parametrize("limit", every(4, LIMITS))
async def test_long_talks(real_data: Path, limit: int) -> None:
    """A talk over many sessions holds, with a window now and then."""
    found = conversations(real_data, TALKS)
    conversation = found[LIMITS.index(limit) % len(found)]
    assert await play(conversation.messages, url="memory://", limit=limit, every=37) > (9, 0)


@pytest.mark.parametrize("limit", [4_000, pytest.param(32_000, marks=pytest.mark.slow)])
async def test_everything_chained(real_data: Path, tmp_path: Path, limit: int) -> None:
    """All conversations behind each other, several hundred thousand tokens, hold as one session; by day the first of them."""
    shown, refused = await play(
        chain(real_data)[: some(None, 1_000)], url=f"sqlite:///{tmp_path}/log.db", limit=limit, every=307
    )
    assert shown > some(10, 2)
    assert not refused


@pytest.mark.parametrize(("path", "limit"), spread(OWN, [2_500, 8_000]))
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
    ("limit", "steps_count"),
    [(2_500, some(150, 90)), *(pytest.param(it, 600, marks=pytest.mark.slow) for it in (2_500, 16_000))],
)
async def test_one_turn_of_steps(limit: int, steps_count: int) -> None:
    """A turn whose steps fill the window many times over folds within itself, and its user message stays."""
    messages = numbered(cast("JsonObject", entry.wire) for entry in one_turn_of_steps(6, steps_count=steps_count))
    assert await play(messages, url="memory://", limit=limit, every=23) > (steps_count // 15, 0)


async def test_coding_turns() -> None:
    """Paths, errors and diffs over many turns hold."""
    messages = numbered(cast("JsonObject", entry.wire) for entry in coding_log(3, turns_count=14))
    assert await play(messages, url="memory://", limit=4_000, every=7) > (20, 0)
