"""What the index of words finds where the common terms of a question do not look for messages themselves."""

from collections.abc import Sequence

import pytest

import everfold
from everfold.adapters.postgres import words
from everfold.session import Session

HERONS, HARBOURS, RAINS = 450, 500, 1_200
"""More herons than the core ranks, more harbours than herons, and so much else that both words are rare."""


@pytest.fixture(autouse=True)
def _few_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """One term finds enough, so that a log of a thousand messages is a long one."""
    monkeypatch.setattr(words, "FINDING_ENTRIES", 1)
    monkeypatch.setattr(words, "ALL_FIND_ENTRIES", 0)


async def say(session: Session, texts: Sequence[str]) -> None:
    """Say each as a message of its own."""
    await session.append([{"role": "user", "content": text} for text in texts])


async def fill(session: Session) -> None:
    """A message with both words, then many with one of the two each, then others."""
    await say(session, ["A heron stands in the harbour."])
    await say(session, [f"Heron {number} flies." for number in range(HERONS)])
    await say(session, [f"Harbour {number} freezes." for number in range(HARBOURS)])
    await say(session, [f"It rains, day {number}." for number in range(RAINS)])


async def test_a_common_word_still_weighs(database_url: str) -> None:
    """Of more messages than are ranked, those stay that hold the common words too, however old they are."""
    async with everfold.open(database_url) as engine:
        session = await engine.session(user="ada")
        await fill(session)
        hits = await session.search("heron harbour")
        assert hits[0].seq == 1


async def test_a_short_session_is_searched_by_every_word(database_url: str) -> None:
    """A word that is common in all of a user's log finds messages of a session that holds none of the rarer ones."""
    async with everfold.open(database_url) as engine:
        await fill(await engine.session(user="ada"))
        session = await (await engine.session(user="ada")).new()
        await say(session, ["Let us meet at the harbour wall.", "Bring bread."])
        hits = await session.search("heron harbour")
        assert hits[0].seq == 1
