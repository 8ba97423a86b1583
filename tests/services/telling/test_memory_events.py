"""What extractions and dreams tell: events and log lines, in ids and figures."""

import json
import logging
from pathlib import Path

import pytest

import everfold
from everfold.adapters.sqlite.store import SqliteStore
from everfold.config import Overrides
from everfold.core.memory.records import MemoryChange, MemoryVersion
from everfold.core.observation.events import DreamBegun, DreamEnded, DreamJudged, Event, ExtractionEnded
from everfold.errors import ConflictError
from everfold.services.telling.feed import Subscription
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio
KEY, TEA = "Remember: the spare key is under the mat.", "I prefer tea to coffee."
FOUND = {"statement": "Has a boat.", "quote": "the Fenna is painted", "seq": 5, "tier": "user", "confidence": 0.8}
SETTINGS: Overrides = {"memory": {"system": "structured"}, "compaction": {"synchronous": True}}


async def take(events: object) -> list[Event]:
    """What waits."""
    assert isinstance(events, Subscription)
    found: list[Event] = []
    while (event := events.take_waiting()) is not None:
        found.append(event)
    return found


async def test_extractions_and_dreams_tell_what_they_did(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """A pass tells its range and what it found, a dream its begin and its end, a judgement its state; no word is told."""
    caplog.set_level(logging.INFO, "everfold")
    async with everfold.open(url, settings=SETTINGS, clock=FakeClock(), ids=CountingIds()) as engine:
        events = engine.events()
        session = await engine.session(user="ada", agent="coach")
        await session.append([user(KEY), assistant("I see."), user(TEA), assistant("I see.")])
        await session.append([user("How late is it?"), assistant("It is nine.")])
        memory = await engine.memory(user="ada", agent="coach")
        dream = await memory.dream()
        assert dream is not None
        await memory.revert(dream.id)
        assert await memory.dream() is None
        of = {"user_id": session.record.user_id, "agent_id": "coach"}
        told = [event for event in await take(events) if event.kind.startswith(("extraction", "dream"))]
        assert told == [
            ExtractionEnded(
                session_id=session.id,
                **of,  # type: ignore[arg-type]
                compaction_id=None,
                first_seq=1,
                last_seq=4,
                written_by="heuristic",
                found_count=2,
                refused_count=0,
            ),
            DreamBegun(dream_id=dream.id, items_count=2, **of),  # type: ignore[arg-type]
            DreamEnded(
                dream_id=dream.id,
                state="applied",
                generator="deterministic",
                topics_count=len(dream.topics),
                items_count=2,
                elapsed_secs=0,
                **of,  # type: ignore[arg-type]
            ),
            DreamJudged(dream_id=dream.id, state="reverted", **of),  # type: ignore[arg-type]
        ]
        lines = [record.getMessage() for record in caplog.records]
        for event in told:
            assert [line.split()[0] for line in lines].count(event.kind) == 1
        assert not any("spare key" in line or "tea" in line.split() for line in lines)


async def test_a_models_extraction_is_told(tmp_path: Path) -> None:
    """What a model's pass found is told as its own, beside what rules found."""
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"text": json.dumps({"facts": [FOUND]})}), "utf-8")
    settings: Overrides = {
        "memory": {"system": "structured", "extract_ratio": 0.01},
        "compaction": {"synchronous": True},
        "model": {"name": f"script:{script}"},
    }
    async with everfold.open("memory://", settings=settings) as engine:
        events = engine.events()
        session = await engine.session(user="ada", agent="coach", limit=16_000)
        await session.append([user(KEY), assistant("I see."), user("word " * 200), assistant("I see.")])
        await session.append([user("As for colours, the Fenna is painted each spring."), assistant("I see.")])
        await session.append([user("word " * 200), assistant("I see.")])
        told = [event for event in await take(events) if isinstance(event, ExtractionEnded)]
        assert {event.written_by for event in told} == {"heuristic", "model"}
        assert sum(event.found_count for event in told if event.written_by == "model") == 1


class _Moving(SqliteStore):
    """A store in which memory is always another by the time a dream comes."""

    async def change_memory(self, change: MemoryChange) -> MemoryVersion:
        """Refuse dreams."""
        if change.dream is not None:
            raise ConflictError("moved")
        return await super().change_memory(change)


async def test_a_dream_that_begins_also_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dream that is refused again and again is told as failed before its error is raised."""
    monkeypatch.setattr("everfold.adapters.sqlite.store.SqliteStore", _Moving)
    async with everfold.open("memory://", settings=SETTINGS) as engine:
        events = engine.events()
        session = await engine.session(user="ada", agent="coach")
        await session.append([user(KEY), assistant("I see.")])
        memory = await engine.memory(user="ada", agent="coach")
        with pytest.raises(ConflictError):
            await memory.dream()
        told = [event for event in await take(events) if isinstance(event, DreamBegun | DreamEnded)]
        assert [(event.kind, getattr(event, "state", "")) for event in told] == [
            ("dream_begun", ""),
            ("dream_ended", "failed"),
        ]
