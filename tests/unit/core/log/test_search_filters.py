"""What a search of messages is narrowed to."""

from datetime import UTC, datetime, timedelta

import pytest

from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.errors import InvalidInputError

NOON = datetime(2031, 5, 1, 12, tzinfo=UTC)


def test_without_a_filter_every_message_is_admitted() -> None:
    """Nothing given lets every role and every time through."""
    assert all(ANY_MESSAGE.admits(role, NOON) for role in ("user", "assistant", "tool", "system"))


def test_a_span_has_its_first_moment_and_not_its_last() -> None:
    """`since` is within the span and `until` is not, so that spans side by side share no message."""
    span = SearchFilter(since=NOON, until=NOON + timedelta(hours=1))
    assert span.admits("user", NOON)
    assert not span.admits("user", NOON + timedelta(hours=1))
    assert not span.admits("user", NOON - timedelta(microseconds=1))


def test_roles_are_the_only_ones() -> None:
    """With roles a message in any other one is left out."""
    only = SearchFilter(roles=frozenset({"user", "tool"}))
    assert [role for role in ("user", "assistant", "tool", "system") if only.admits(role, NOON)] == ["user", "tool"]


def test_a_filter_that_says_nothing_sure_is_refused() -> None:
    """A time without a zone, and a span that holds no moment, are errors."""
    with pytest.raises(InvalidInputError, match=r"since .* no time zone"):
        SearchFilter(since=NOON.replace(tzinfo=None))
    with pytest.raises(InvalidInputError, match=r"until .* no time zone"):
        SearchFilter(until=NOON.replace(tzinfo=None))
    with pytest.raises(InvalidInputError, match="since must be before until"):
        SearchFilter(since=NOON, until=NOON)
