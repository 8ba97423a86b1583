"""Writes that are sent again."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.access.api_keys import ApiKeyId
from everfold.core.access.repeats import (
    KEPT_SECS,
    MOST_KEY_CHARS,
    RUNNING_SECS,
    IdempotencyKey,
    KeptAnswer,
    KnownRequest,
    answer_again,
    hash_request,
    kept_since,
    require_idempotency_key,
    running_since,
)
from everfold.errors import ConflictError, InvalidInputError, OutcomeUnknownError
from everfold.testing.kit.fakes import STARTED_AT

ANSWER = KeptAnswer(status=200, body=b"{}")
RUNNING = KnownRequest(key=IdempotencyKey(ApiKeyId("key_1"), "r1"), request_hash="h1", made_at=STARTED_AT)
st_request = st.tuples(
    st.text(alphabet="AB ", max_size=3), st.text(alphabet="AB /1", max_size=4), st.binary(max_size=4)
)


def test_a_repeat_gets_the_first_answer() -> None:
    """The same request is answered as it was, also where an erase took the body."""
    assert answer_again(replace(RUNNING, answer=ANSWER), "h1", STARTED_AT) is ANSWER
    taken = replace(ANSWER, body=None)
    assert answer_again(replace(RUNNING, answer=taken), "h1", STARTED_AT) == taken


def test_a_repeat_of_what_runs_is_a_conflict() -> None:
    """The same request while the first one runs is refused as to be sent again."""
    with pytest.raises(ConflictError, match="r1") as caught:
        answer_again(RUNNING, "h1", STARTED_AT + timedelta(seconds=RUNNING_SECS))
    assert caught.value.retryable


def test_a_repeat_of_what_never_ended_has_an_unknown_outcome() -> None:
    """The same request after the longest work is told that the first may have been carried out, and not to send it again."""
    with pytest.raises(OutcomeUnknownError, match="may have been carried out") as caught:
        answer_again(RUNNING, "h1", STARTED_AT + timedelta(seconds=RUNNING_SECS, microseconds=1))
    assert not caught.value.retryable
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("known", [RUNNING, replace(RUNNING, answer=ANSWER)], ids=["running", "answered"])
def test_another_request_under_the_same_key_is_refused(known: KnownRequest) -> None:
    """A key that named another request is refused, with when that was, whether or not it has its answer."""
    with pytest.raises(InvalidInputError, match="2031-03-03 08:00:00"):
        answer_again(known, "h2", STARTED_AT)


@given(st_request, st_request)
def test_requests_of_one_hash_are_equal(one: tuple[str, str, bytes], two: tuple[str, str, bytes]) -> None:
    """Two requests have one hash only when method and path read the same on one line and the bodies are equal."""
    heads = [f"{method} {path}" for method, path, _ in (one, two)]
    assert (hash_request(*one) == hash_request(*two)) == (heads[0] == heads[1] and one[2] == two[2])


@pytest.mark.parametrize("key", ["x", "8e03978e-40d5-43e8-bc93-6894a57f9324", '"a b"', "~" * MOST_KEY_CHARS])
def test_a_visible_key_is_taken(key: str) -> None:
    """Any visible ASCII text of bounded length names a write."""
    assert require_idempotency_key(key) == key


@pytest.mark.parametrize("key", ["", "a\n", "\x00", "\xe9", "\ud800", "~" * (MOST_KEY_CHARS + 1)])
def test_what_no_header_should_hold_is_refused(key: str) -> None:
    """A key that is empty, too long or not visible ASCII is refused."""
    with pytest.raises(InvalidInputError, match="idempotency key"):
        require_idempotency_key(key)


def test_a_place_outlasts_its_work_and_a_day_both() -> None:
    """An outcome is unknown after the longest work, long before the place is forgotten."""
    assert STARTED_AT - kept_since(STARTED_AT) == timedelta(hours=24) == timedelta(seconds=KEPT_SECS)
    assert STARTED_AT - running_since(STARTED_AT) == timedelta(seconds=RUNNING_SECS) < timedelta(hours=1)


def test_a_body_is_not_printed() -> None:
    """What is printed of an answer, in a log for example, does not hold what it said."""
    assert "hidden" not in repr(replace(RUNNING, answer=replace(ANSWER, body=b"hidden")))
