"""Requests of clients: what is read of them, or that they are none."""

from contextlib import suppress

import pytest
from tests.support.wrong_values import TALKS, list_wrong

from everfold.core.conversations.requests import read_request
from everfold.core.log.wire import WireFormat
from everfold.errors import InvalidInputError


@pytest.mark.parametrize("form", ["openai", "anthropic", "responses"])
def test_a_request_with_a_wrong_value_is_read_or_refused(form: WireFormat) -> None:
    """Whichever value of a request's messages is a list or an object, it is read or refused in words."""
    name = "input" if form == "responses" else "messages"
    assert len(read_request(form, {"model": "m", name: TALKS[form]}).messages) > 1
    for talk in list_wrong(TALKS[form]):
        with suppress(InvalidInputError):
            read_request(form, {"model": "m", name: talk})
