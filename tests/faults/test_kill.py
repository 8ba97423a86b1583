"""A process killed between any two steps, and inside any transaction, has lost and doubled nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import everfold
from everfold.core.events import ENDED_STATES
from everfold.testing import endless_log
from everfold.testing.proofs import Prover, list_all_events

WRITER = Path(__file__).with_name("writer.py")
BATCH = 3
LIMIT = 2_500
WIRES = [entry.wire for entry in endless_log(17, messages_count=150)]
POINTS = [
    *(
        (f"{when}:{name}", passes)
        for name, passes in (("append", 20), ("begin_compaction", 2), ("commit_compaction", 2))
        for when in ("before", "after")
    ),
    ("before:create_session", 0),
    ("after:create_session", 0),
    ("within:split_statements", 1),
    ("within:insert_session", 0),
    ("within:insert_state", 0),
    ("within:write_scope", 20),
    ("within:settle_message", 4),
    ("within:insert_event", 0),
    ("within:insert_event", 3),
    ("within:commit_event", 0),
    ("within:commit_event", 3),
    ("within:insert_digest", 0),
    ("within:insert_digest", 4),
]


def run_writer(path: Path, point: str, passes: int) -> int:
    """Run a writer until it is killed, and give the number of messages whose append had returned."""
    done = subprocess.run(
        [sys.executable, str(WRITER), str(path), point, str(passes), str(LIMIT)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == -signal.SIGKILL, f"{point} was never reached: {done.stderr[-800:]}"
    return int(done.stdout.split()[-1]) if done.stdout.split() else 0


@pytest.mark.parametrize(("point", "passes"), POINTS, ids=[f"{point}-{passes}" for point, passes in POINTS])
async def test_a_killed_writer_loses_nothing(point: str, passes: int, tmp_path: Path) -> None:
    """What was appended is there whole, in order and once; G2 holds; what was begun is resumed; the log goes on."""
    path = tmp_path / "log.db"
    returned = run_writer(path, point, passes)
    async with everfold.open(f"sqlite:///{path}") as engine:
        assert await engine.check_store() == []
        prover = Prover(await engine.session(limit=LIMIT))
        last_seq = (await prover.session.state()).last_seq
        assert returned <= last_seq <= returned + BATCH
        assert last_seq % BATCH == 0
        prover.given = list(WIRES[:last_seq])
        await prover.check_all()
        await prover.window()
        for first in range(last_seq, min(last_seq + 8 * BATCH, len(WIRES)), BATCH):
            await prover.append(*WIRES[first : first + BATCH])
            await prover.window()
        await prover.check_all()
        state = await prover.session.state()
        events = await list_all_events(prover.session)
        assert state.events_count
        assert [event.ordinal for event in events] == list(range(1, state.events_count + 1))
        assert all(event.state in ENDED_STATES for event in events)


async def test_a_pending_event_is_resumed(tmp_path: Path) -> None:
    """An event that was begun and never committed is the one that the next window commits."""
    path = tmp_path / "log.db"
    run_writer(path, "after:begin_compaction", 1)
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=LIMIT)
        before = await session.events()
        assert [event.state for event in before] == ["done", "pending"]
        await session.window()
        after = await session.events()
    assert after[1].id == before[1].id
    assert [event.state for event in after[:2]] == ["done", "done"]


async def test_a_kill_before_anything_was_stored(tmp_path: Path) -> None:
    """A migration that was cut off is done again; the database is then as new."""
    path = tmp_path / "log.db"
    for passes in (0, 1, 0):
        run_writer(path, "within:split_statements", passes)
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(limit=LIMIT)
        assert await session.append(list(WIRES[:BATCH])) == [1, 2, 3]
