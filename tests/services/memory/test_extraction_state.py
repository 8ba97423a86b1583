"""Digest and extraction of one event have a state each: neither spoils the other."""

from dataclasses import replace
from datetime import timedelta

import everfold
from everfold.core.compaction.tasks import Task, Written
from everfold.core.digests.drafts import Draft
from everfold.core.text.tokens import estimate_text_tokens
from everfold.engine import Everfold
from everfold.errors import ModelUnavailableError
from everfold.session import Session
from everfold.testing.kit.builders import talk
from everfold.testing.kit.fakes import CountingIds, FakeClock

LIMIT = 4_000


class Extraction:
    """An extraction that fails so many times, and remembers what it was given."""

    def __init__(self, failures_count: int) -> None:
        self.failures_left = failures_count
        self.seen: list[tuple[int, ...]] = []

    async def __call__(self, task: Task) -> None:
        """Fail, as long as it is to."""
        self.seen.append(tuple(message.seq for message in task.messages))
        if self.failures_left:
            self.failures_left -= 1
            raise ModelUnavailableError("the extraction's model cannot be reached; try again")


async def write_digest(task: Task) -> Written:
    """A digest that is always good."""
    text = f"What was said from {task.compaction.plan.first_seq} to {task.compaction.plan.last_seq}."
    return Written(draft=Draft(text=text, tokens=estimate_text_tokens(text), epoch=task.epoch))


def equip(engine: Everfold, extract: Extraction) -> None:
    """Give an engine's worker both parts of the work."""
    background = engine._background
    background.worker = replace(background.worker, write_digest=write_digest, extract=extract, extracts=lambda _: True)


async def talk_until_compacted(session: Session) -> None:
    """Turns until something was folded."""
    for count in range(60):
        await session.append(talk(1, first=count))
        if (await session.window()).report.compacted_through:
            return
    raise AssertionError("sixty turns folded nothing")


async def test_a_failed_extraction_does_not_spoil_a_good_digest(url: str) -> None:
    """The digest is committed and stands under the note; the extraction is tried again later, and then the note goes."""
    extract, clock = Extraction(1), FakeClock()
    async with everfold.open(url, clock=clock, ids=CountingIds()) as engine:
        equip(engine, extract)
        session = await engine.session(limit=LIMIT)
        await talk_until_compacted(session)
        (compaction,) = await session.inspect.compactions()
        assert (compaction.state, compaction.digest, compaction.extraction) == ("pending", "done", "pending")
        assert await session.inspect.note()
        clock.advance(timedelta(hours=1))
        await session.window()
        (compaction,) = await session.inspect.compactions()
        assert (compaction.state, compaction.digest, compaction.extraction) == ("done", "done", "done")
        assert await session.inspect.note() == ""
        assert extract.seen == [compaction.plan.folded, compaction.plan.folded]
        assert (await session.verify()).is_sound


async def test_an_extraction_that_never_succeeds_ends_degraded(url: str) -> None:
    """When its attempts are exhausted the event is degraded for the extraction alone, its digest stays the model's."""
    clock = FakeClock()
    async with everfold.open(url, clock=clock, ids=CountingIds()) as engine:
        equip(engine, Extraction(99))
        session = await engine.session(limit=LIMIT)
        await talk_until_compacted(session)
        for _ in range(4):
            clock.advance(timedelta(hours=1))
            await session.window()
        (compaction,) = await session.inspect.compactions()
        assert (compaction.state, compaction.digest, compaction.extraction) == ("degraded", "done", "failed")
        assert "cannot be reached" in compaction.problem
        assert await session.inspect.note() == ""
        assert (await session.verify()).is_sound
