"""The clock, the ids and the secrets that tests hold still."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from everfold.core.access.api_keys import SECRET_CHARS, SECRET_PREFIX
from everfold.ports.system import Clock, Ids, Secrets
from everfold.testing.kit.fakes import STARTED_AT, CountingIds, CountingSecrets, FakeClock


def test_a_fake_clock_stands_still() -> None:
    """Without a step, every look tells the same moment until the clock is moved."""
    clock = FakeClock()
    port: Clock = clock
    assert [port.now(), port.now()] == [STARTED_AT, STARTED_AT]
    clock.advance(timedelta(hours=1))
    assert port.now() == STARTED_AT + timedelta(hours=1)


def test_a_fake_clock_ticks_by_its_step() -> None:
    """With a step, each look is one step later than the one before, also after it was set."""
    clock = FakeClock(step=timedelta(seconds=2))
    assert [clock.now() - STARTED_AT for _ in range(3)] == [timedelta(seconds=secs) for secs in (0, 2, 4)]
    clock.set(datetime(2020, 1, 1, tzinfo=UTC))
    assert [clock.now().second for _ in range(2)] == [0, 2]


def test_a_fake_clock_tells_utc() -> None:
    """A moment given in another timezone is told in UTC; one without a timezone is refused."""
    clock = FakeClock(datetime(2031, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now().isoformat() == "2030-12-31T23:00:00+00:00"
    with pytest.raises(ValueError, match="timezone"):
        clock.set(datetime(2031, 1, 1))  # noqa: DTZ001  # the point


def test_counting_ids_count_each_prefix() -> None:
    """Ids count up from 1 for each prefix, and sort as they count."""
    ids: Ids = CountingIds()
    assert [ids.new_id(prefix) for prefix in ("ses_", "evt_", "ses_")] == ["ses_000001", "evt_000001", "ses_000002"]


def test_counting_secrets_have_the_form_of_real_ones() -> None:
    """Secrets count up, each in the length and with the prefix of a real one."""
    secrets: Secrets = CountingSecrets()
    made = [secrets.new_secret() for _ in range(2)]
    assert [int(it.removeprefix(SECRET_PREFIX)) for it in made] == [1, 2]
    assert {len(it) for it in made} == {len(SECRET_PREFIX) + SECRET_CHARS}
