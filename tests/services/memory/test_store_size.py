"""How much room a store takes beside the text that was said."""

from datetime import timedelta
from pathlib import Path

import pytest

import everfold
from everfold.testing.kit.fakes import FakeClock

pytestmark = [pytest.mark.anyio, pytest.mark.moves_prefix, pytest.mark.slow]

MOST_TIMES = 6.0
TURNS_COUNT = 500
FACTS = (
    "I prefer the berth {one} in winter, never after {other}:00.",
    "Remember: locker {one} has code {other}11.",
    "My sister Clara lives at pier {one} now.",
    "Please call the harbour office about invoice {one}{other}.",
    "I no longer want the boat in hall {one}; it leaks.",
)
SETTINGS = {"model": {"answer_tokens": 0}, "compaction": {"synchronous": True}, "memory": {"system": "structured"}}
STORY = " The wind was calm over the hills, and the tide came at noon as it did the day before."
ANSWER = "The harbour is quiet today and your boat is dry. " * 8


async def test_a_store_with_memory_takes_at_most_six_times_its_text(tmp_path: Path) -> None:
    """Where nearly every message repeats or changes a fact, revisions, quotes and indexes stay within the bound."""
    path, clock, text_bytes = tmp_path / "log.db", FakeClock(), 0
    async with everfold.open(f"sqlite:///{path}", settings=SETTINGS, clock=clock) as engine:
        session = await engine.session(user="ada", limit=16_000)
        for number in range(TURNS_COUNT):
            said = FACTS[number % len(FACTS)].format(one=number % 7, other=number % 5) + STORY
            answer = f"{ANSWER}I wrote that down as note {number}."
            await session.append({"role": "user", "content": said})
            await session.window()
            await session.append({"role": "assistant", "content": answer})
            clock.advance(timedelta(seconds=40))
            text_bytes += len(said) + len(answer)
        assert (await session.verify()).is_sound
    assert path.stat().st_size <= MOST_TIMES * text_bytes
