"""Compactions that a caller asks for and waits for: what they fold, and what a dry run tells of it."""

from everfold import Everfold
from everfold.testing.kit.builders import assistant, user


async def test_kept_messages_stay_while_there_is_room(engine: Everfold) -> None:
    """A second compaction of the same messages makes no kept one leave a window that is within its target."""
    session = await engine.session(limit=4_000)
    for number in range(12):
        quays = " ".join(f"quay{number}x{berth}" for berth in range(6))
        await session.append(user(f"Take the parcel of shelf {number} to the {quays}"))
        await session.append(assistant(f"Parcel {number} stands there now, by weight and by owner. " * 5))
    (done,) = await session.compact(keep_recent=2)
    assert done.report.kept_count == 10
    assert await session.compact(keep_recent=2, dry_run=True) == []
    assert await session.compact(keep_recent=2) == []
