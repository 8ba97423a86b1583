"""Answers that come after the deadline, while another engine over the same store refreshes the session."""

from datetime import datetime, timedelta

from tests.services.compaction.test_refresh import GAP, HOUR, Rig, Waiting, find_refreshes, opened, show
from tests.support.waiting import until

from everfold.errors import SourceError
from everfold.services.compaction.refresh import Refreshed
from everfold.testing.kit.fakes import FakeClock, FakeSource

CALENDAR, MAIL = "call://calendar", "call://mail"
LATE: dict[str, object] = {**GAP, "gap_deadline_secs": 0.5}


def _tell(from_at: datetime, to_at: datetime) -> str:
    return f"News from {from_at:%H:%M} to {to_at:%H:%M}."


async def _miss_the_deadline(rig: Rig, mail: Waiting) -> None:
    """A gap in which the mail answers after the deadline, from 08:01 to 09:02."""
    await rig.turn()
    assert "from 08:01 to 09:02" in show(await rig.turn(away=HOUR))
    mail.gate.set()
    await until(lambda: (MAIL, "late") in rig.asked())
    rig.clock.advance(timedelta(minutes=5))


def _list_answered(refreshed: Refreshed) -> set[str]:
    return {one.source for one in refreshed.asked if one.outcome == "answered"}


async def test_a_late_answer_never_replaces_newer_news(file_url: str) -> None:
    """What a newer refresh of another engine has told meanwhile stays in the window, and is not asked again."""
    clock, mail = FakeClock(), Waiting(name=MAIL, text=_tell)
    newer = [FakeSource(name=CALENDAR, text=_tell), FakeSource(name=MAIL, text=_tell)]
    async with (
        opened(file_url, [FakeSource(name=CALENDAR, text=_tell), mail], LATE, clock=clock) as one,
        opened(file_url, newer, LATE, clock=clock) as other,
    ):
        await _miss_the_deadline(one, mail)
        refreshed = await other.session.refresh()
        assert _list_answered(refreshed) == {CALENDAR, MAIL}
        window = await one.turn()
        assert [seq for seq, _ in find_refreshes(window)] == [refreshed.seq]
        assert "from 08:01 to 09:08" in show(window)
        assert "to 09:02" not in show(await one.turn())
        await other.session.refresh()
        assert [asked[-1][0] for asked in (newer[0].asked, newer[1].asked)] == [newer[0].asked[0][1]] * 2


async def test_a_late_answer_joins_a_newer_refresh(file_url: str) -> None:
    """Where the source of a late answer failed in a newer refresh, the answer is shown beside what that one told."""
    clock, mail = FakeClock(), Waiting(name=MAIL, text=_tell)
    newer = [FakeSource(name=CALENDAR, text=_tell), FakeSource(name=MAIL, error=SourceError("down"))]
    async with (
        opened(file_url, [FakeSource(name=CALENDAR, text=_tell), mail], LATE, clock=clock) as one,
        opened(file_url, newer, LATE, clock=clock) as other,
    ):
        await _miss_the_deadline(one, mail)
        assert _list_answered(await other.session.refresh()) == {CALENDAR}
        window = await one.turn()
        assert len(find_refreshes(window)) == 1
        assert show(window).count("Context refresh -") == 1
        assert "from 09:02 to 09:08" in show(window)
        assert show(window).count("from 08:01 to 09:02") == 1
        await other.session.refresh()
        assert [newer[0].asked[1][0], newer[1].asked[1][0]] == [newer[0].asked[0][1], mail.asked[0][1]]


async def test_an_erased_answer_stays_away(file_url: str) -> None:
    """What was erased before a late answer of the same round comes is not stored again beside it."""
    mail = Waiting(name=MAIL, text=_tell)
    async with opened(file_url, [FakeSource(name=CALENDAR, text="It rains."), mail], LATE) as rig:
        await rig.turn()
        (refresh,) = find_refreshes(await rig.turn(away=HOUR))
        await rig.session.erase(refresh[0])
        mail.gate.set()
        await until(lambda: (MAIL, "late") in rig.asked())
        window = await rig.turn()
        assert "It rains." not in show(window)
        assert "from 08:01 to 09:02" in show(window)
