"""What works beside the turns leaves to them what it wrote, in whatever order it is left."""

from dataclasses import replace

import pytest

import everfold
from everfold.services.sessions.handover import Handover
from everfold.services.sessions.live import LiveSession


def _at(live: LiveSession, revision: int) -> LiveSession:
    return replace(live, state=replace(live.state, revision=revision))


@pytest.mark.parametrize("left_revisions", [(2, 3), (3, 2)])
async def test_the_newest_revision_is_adopted(left_revisions: tuple[int, int]) -> None:
    """Two writers that leave a session in another order than they have written it leave it as the later one wrote it."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000)
        await session.append({"role": "user", "content": "The boat lies in Whitby."})
        live = session._live
        assert live.state.revision < min(left_revisions)
        handover = Handover()
        for revision in left_revisions:
            handover.leave(_at(live, revision))
        handover.pick_up(live)
        assert live.state.revision == max(left_revisions)


async def test_what_an_erase_has_ended_takes_no_place() -> None:
    """A writer of before an erase, which leaves the session after one that wrote behind it, is not adopted."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000)
        await session.append({"role": "user", "content": "The boat lies in Whitby."})
        live = session._live
        newer = replace(live, state=replace(live.state, revision=9, epoch=live.state.epoch + 1))
        handover = Handover()
        handover.leave(newer)
        handover.leave(_at(live, 8))
        handover.pick_up(live)
        assert (live.state.revision, live.state.epoch) == (9, newer.state.epoch)
