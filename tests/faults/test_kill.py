"""A process killed between any two steps, and inside any transaction, has lost and doubled nothing."""

import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from bench.material.logs import endless_log
from tests.forks import Forks
from tests.support.proofs import Prover, list_all_compactions
from tests.support.sizes import one_of_each, some

import everfold
from everfold.core.compaction.tasks import Task, Written
from everfold.core.compaction.transitions import ENDED_STATES
from everfold.core.digests.drafts import Draft
from everfold.core.text.tokens import estimate_text_tokens
from everfold.testing.kit.fakes import FakeClock

WRITER = Path(__file__).with_name("writer.py")
BATCH = 3
LIMIT = 2_500
WIRES = [entry.wire for entry in endless_log(17, messages_count=150)]
AROUND = ("before", "after")
"""A call is killed on both sides; by day before one, and after the next."""
POINTS = one_of_each(
    [
        *(
            (f"{when}:{name}", passes)
            for index, (name, passes) in enumerate(
                (("append", some(20, 8)), ("begin_compaction", some(2, 0)), ("commit_compaction", some(2, 0)))
            )
            for when in some(AROUND, AROUND[index % 2 :][:1])
        ),
        ("before:create_session", 0),
        ("after:create_session", 0),
        ("within:split_statements", 1),
        ("within:insert_session", 0),
        ("within:insert_state", 0),
        ("within:write_scope", some(20, 8)),
        ("within:settle_message", 4),
        ("within:insert_compaction", 0),
        ("within:insert_compaction", 3),
        ("within:commit_compaction", 0),
        ("within:commit_compaction", 3),
        ("within:insert_digest", 0),
        ("within:insert_digest", 4),
        ("within:merge_search", 0),
        ("within:merge_search", 9),
    ]
)


WORK_POINTS = one_of_each(
    [
        *(
            (f"{when}:{name}", passes)
            for index, (name, passes) in enumerate(
                (
                    ("begin_compaction", some(4, 1)),
                    ("claim_compaction", some(6, 2)),
                    ("keep_draft", some(3, 1)),
                    ("commit_compaction", 1),
                    ("commit_compaction", 4),
                    ("revise_compaction", 1),
                    ("release_compaction", 1),
                    ("end_compaction", 0),
                )
            )
            for when in some(AROUND, AROUND[index % 2 :][:1])
        ),
        ("within:claim_compaction", some(3, 1)),
        ("within:keep_draft", some(2, 1)),
        ("within:commit_compaction", some(2, 1)),
        ("within:settle_digest", 0),
        ("within:move_up_held", 1),
        ("within:insert_revision", 1),
        ("within:end_compaction", 4),
        ("within:release_compaction", 0),
    ]
)
ANSWERS = "ggegrg"
WORK_LIMIT = 4_000


def run_writer(forks: Forks, path: Path, point: str, passes: int, answers: str = "", *, limit: int = LIMIT) -> int:
    """Run a writer until it is killed, and give the number of messages whose append had returned."""
    done = forks.run(WRITER.read_text("utf-8"), str(path), point, str(passes), str(limit), answers)
    assert done.returncode == -signal.SIGKILL, f"{point} was never reached: {done.stderr[-800:]}"
    return int(done.stdout.split()[-1]) if done.stdout.split() else 0


@pytest.mark.parametrize(("point", "passes"), POINTS, ids=[f"{point}-{passes}" for point, passes in POINTS])
async def test_a_killed_writer_loses_nothing(forks: Forks, point: str, passes: int, tmp_path: Path) -> None:
    """What was appended is there whole, in order and once; G2 holds; what was begun is resumed; the log goes on."""
    path = tmp_path / "log.db"
    returned = run_writer(forks, path, point, passes)
    async with everfold.open(f"sqlite:///{path}") as engine:
        assert await engine.admin.check_store() == []
        prover = Prover(await engine.session(limit=LIMIT))
        last_seq = (await prover.session.inspect.state()).last_seq
        assert returned <= last_seq <= returned + BATCH
        assert last_seq % BATCH == 0
        prover.given = list(WIRES[:last_seq])
        await prover.check_all()
        await prover.window()
        for first in range(last_seq, min(last_seq + 8 * BATCH, len(WIRES)), BATCH):
            await prover.append(*WIRES[first : first + BATCH])
            await prover.window()
        await prover.check_all()
        state = await prover.session.inspect.state()
        compactions = await list_all_compactions(prover.session)
        assert state.compactions_count
        assert [compaction.ordinal for compaction in compactions] == list(range(1, state.compactions_count + 1))
        assert all(compaction.state in ENDED_STATES for compaction in compactions)


async def write_digest(task: Task) -> Written:
    """A model that serves."""
    text = f"A model wrote this of messages {task.compaction.plan.first_seq} to {task.compaction.plan.last_seq}."
    return Written(draft=Draft(text=text, tokens=estimate_text_tokens(text), epoch=task.epoch))


@pytest.mark.parametrize(("point", "passes"), WORK_POINTS, ids=[f"{point}-{passes}" for point, passes in WORK_POINTS])
async def test_a_killed_worker_loses_nothing(forks: Forks, point: str, passes: int, tmp_path: Path) -> None:
    """Killed around or within any step of an event's work, the log is whole and sound, and every event comes to its end."""
    path = tmp_path / "log.db"
    returned = run_writer(forks, path, point, passes, ANSWERS, limit=WORK_LIMIT)
    clock = FakeClock(datetime.now(UTC) + timedelta(hours=1), step=timedelta(seconds=1))
    async with everfold.open(f"sqlite:///{path}", clock=clock) as engine:
        background = engine._background
        background.worker = replace(background.worker, write_digest=write_digest)
        assert await engine.admin.check_store() == []
        prover = Prover(await engine.session(limit=WORK_LIMIT))
        last_seq = (await prover.session.inspect.state()).last_seq
        assert returned <= last_seq <= returned + BATCH
        prover.given = list(WIRES[:last_seq])
        await prover.check_all()
        await prover.window()
        for first in range(last_seq, min(last_seq + 3 * BATCH, len(WIRES)), BATCH):
            await prover.append(*WIRES[first : first + BATCH])
            await prover.window()
        clock.advance(timedelta(hours=1))
        await background.worker.work(prover.session._live)
        await prover.window()
        await prover.check_all()
        state, compactions = await prover.session.inspect.state(), await list_all_compactions(prover.session)
        assert not state.has_work
        assert all(compaction.state in ENDED_STATES for compaction in compactions)
        assert [compaction.ordinal for compaction in compactions] == list(range(1, state.compactions_count + 1))
        assert {compaction.digest for compaction in compactions} >= {"done"}


async def test_a_pending_event_is_resumed(forks: Forks, tmp_path: Path) -> None:
    """An event that was begun and never committed is the one that the next window commits."""
    path = tmp_path / "log.db"
    run_writer(forks, path, "after:begin_compaction", 1)
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=LIMIT)
        before = await session.inspect.compactions()
        assert [compaction.state for compaction in before] == ["done", "pending"]
        await session.window()
        after = await session.inspect.compactions()
    assert after[1].id == before[1].id
    assert [compaction.state for compaction in after[:2]] == ["done", "done"]


async def test_a_kill_before_anything_was_stored(forks: Forks, tmp_path: Path) -> None:
    """A migration that was cut off is done again; the database is then as new."""
    path = tmp_path / "log.db"
    for passes in (0, 1, 0):
        run_writer(forks, path, "within:split_statements", passes)
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=LIMIT)
        assert await session.append(list(WIRES[:BATCH])) == [1, 2, 3]
