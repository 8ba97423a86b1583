"""How fast a log grows, and how long a digest takes."""

from datetime import timedelta

import pytest

from everfold.core.log.growth import SPAN_SECS, STEADY, UNKNOWN_DIGEST_SECS, Growth
from everfold.testing.kit.fakes import STARTED_AT


def grown_steadily(tokens: int, *, every_secs: float, count: int) -> Growth:
    """A log that gained so many tokens at so many moments."""
    growth = STEADY
    for number in range(count):
        growth = growth.grown(tokens, STARTED_AT + timedelta(seconds=every_secs * number))
    return growth


def test_nothing_is_expected_of_a_quiet_log() -> None:
    """A log that nothing was appended to is not expected to grow."""
    assert STEADY.expected_tokens == 0
    assert STEADY.digested(30.0).expected_tokens == 0


@pytest.mark.parametrize(("tokens", "every_secs"), [(100, 1.0), (50, 5.0), (1000, 10.0)])
def test_a_steady_log_grows_by_its_rate(tokens: int, every_secs: float) -> None:
    """At a steady rate, what is expected is the rate over the time of a digest, half as much again, within a tenth."""
    growth = grown_steadily(tokens, every_secs=every_secs, count=2000)
    rate = tokens / every_secs
    assert growth.expected_tokens == pytest.approx(rate * UNKNOWN_DIGEST_SECS * 1.5, rel=0.1)
    assert growth.digested(60.0).expected_tokens == pytest.approx(rate * 60.0 * 1.5, rel=0.1)


def test_a_burst_is_forgotten() -> None:
    """What was appended a span ago counts by a third, and after ten spans not at all."""
    burst = Growth().grown(10_000, STARTED_AT)
    later = burst.grown(0, STARTED_AT + timedelta(seconds=SPAN_SECS))
    assert later.tokens == pytest.approx(3_679, abs=1)
    assert burst.grown(0, STARTED_AT + timedelta(seconds=SPAN_SECS * 10)).expected_tokens == 0


def test_a_moment_before_the_last_counts_as_now() -> None:
    """Messages that are dated earlier than the last one add their tokens, fade nothing and turn no clock back."""
    growth = Growth().grown(500, STARTED_AT).grown(300, STARTED_AT - timedelta(days=9))
    assert (growth.tokens, growth.at) == (800, STARTED_AT)


def test_the_time_of_digests_follows_the_newest() -> None:
    """The first digest is the measure; later ones pull it towards themselves and never past."""
    growth = Growth().digested(10.0)
    assert growth.digest_secs == 10.0
    for _ in range(20):
        before = growth.digest_secs
        growth = growth.digested(50.0)
        assert before < growth.digest_secs < 50.0
    assert growth.digest_secs == pytest.approx(50.0, rel=0.01)
