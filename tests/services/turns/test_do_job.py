"""Jobs as values: what one engine finds due another one does, over the same store."""

from dataclasses import fields
from pathlib import Path

import pytest
from bench.material.logs import endless_log
from tests.support.waiting import until

import everfold
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.engine import Everfold
from everfold.errors import NotFoundError
from everfold.ports.jobs import (
    AttemptCompaction,
    DreamPair,
    DreamRange,
    EmbedUser,
    ExtractSession,
    Job,
    RefreshSession,
    SettleBreaks,
    WakeSession,
)
from everfold.services.turns.do_job import do_job
from everfold.testing.kit.builders import assistant, user

pytestmark = pytest.mark.anyio
ONE, ADA = SessionId("ses_1"), UserId("usr_ada")
JOBS: list[Job] = [
    WakeSession(session_id=ONE),
    AttemptCompaction(session_id=ONE, compaction_id=CompactionId("evt_1")),
    SettleBreaks(session_id=ONE, reported_count=1),
    RefreshSession(session_id=ONE),
    ExtractSession(session_id=ONE),
    EmbedUser(user_id=ADA),
    DreamPair(user_id=ADA, agent_id=AgentId("guide")),
    DreamRange(session_id=ONE, first_seq=1, last_seq=9),
]
QUIET = {"compaction": {"synchronous": False, "enabled": True}, "recovery": {"lookback_secs": 0}}


class Deferred:
    """Takes jobs in the place of one who does them."""

    def __init__(self, engine: Everfold) -> None:
        self.jobs: list[Job] = []
        engine._background.dispatcher.serve(self.take)

    async def take(self, job: Job) -> None:
        """Keep it, and do nothing."""
        self.jobs.append(job)


def test_no_two_kinds_share_a_name() -> None:
    """Jobs of different kinds never wait for each other, and equal ones have one name."""
    assert len({job.kind for job in JOBS}) == len({job.name for job in JOBS}) == len(JOBS)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.kind)
def test_a_job_is_plain_values(job: Job) -> None:
    """A job has ids, places and counts only, from which an equal one is made."""
    values = {one.name: getattr(job, one.name) for one in fields(job)}
    assert all(isinstance(value, str | int | tuple) for value in values.values())
    assert type(job)(**values) == job


async def test_another_engine_does_what_one_finds_due(tmp_path: Path) -> None:
    """A session's jobs are done by an engine that never had the session open, and the talk's own window shows it."""
    url = f"sqlite:///{tmp_path}/log.db"
    async with everfold.open(url, settings=QUIET) as serving, everfold.open(url, settings=QUIET) as working:
        deferred = Deferred(serving)
        session = await serving.session(limit=8_000)
        for entry in endless_log(5, messages_count=200):
            await session.append(entry.wire)
            await session.window()
            if WakeSession(session_id=session.id) in deferred.jobs:
                break
        await until(lambda: deferred.jobs)
        before = await session.inspect.state()
        await do_job(working._background, working._memories, WakeSession(session_id=session.id))
        await working._background.dispatcher.join()
        assert (await session.inspect.state()).compactions_count == before.compactions_count + 1
        window = await session.window()
        assert window.report is not None
        assert [one.reason for one in window.report.cache_breaks] == ["compaction: tokens"]
        assert (await session.verify()).is_sound


async def test_breaks_that_are_settled_late_leave_what_came_after(tmp_path: Path) -> None:
    """Where an append has stored already that a break was reported, the job takes no later one like it for the same."""
    async with everfold.open(f"sqlite:///{tmp_path}/log.db", settings=QUIET) as engine:
        deferred = Deferred(engine)
        session = await engine.session()
        await session.append([user("One."), assistant("Two."), user("Three.")])
        reported = []
        for seq in (1, 2):
            await session.erase(seq)
            reported += (await session.window()).report.cache_breaks
            await session.append(assistant("Noted."))
        await session.erase(3)
        await until(lambda: len(deferred.jobs) == len(reported))
        for job in deferred.jobs:
            await do_job(engine._background, engine._memories, job)
        reported += (await session.window()).report.cache_breaks
    assert [one.reason for one in reported] == ["erase"] * 3


@pytest.mark.parametrize(
    "job", [job for job in JOBS if not isinstance(job, EmbedUser | DreamPair)], ids=lambda job: job.kind
)
async def test_a_job_about_what_is_gone_says_so(job: Job, tmp_path: Path) -> None:
    """A session that is no more is named by the error, and nothing is written."""
    async with everfold.open(f"sqlite:///{tmp_path}/log.db", settings=QUIET) as engine:
        if isinstance(job, RefreshSession):  # no source is asked
            await do_job(engine._background, engine._memories, job)
            return
        with pytest.raises(NotFoundError, match="ses_1"):
            await do_job(engine._background, engine._memories, job)
