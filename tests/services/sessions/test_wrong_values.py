"""What a message holds where the API has a word may be anything: it is refused in words, or stored and shown."""

from contextlib import suppress

import pytest
from tests.support.wrong_values import TALKS, list_wrong

from everfold import Everfold
from everfold.core.log.wire import WireFormat
from everfold.errors import InvalidInputError

FORMS: tuple[WireFormat, ...] = ("openai", "anthropic", "responses")


@pytest.mark.parametrize("form", FORMS)
async def test_a_talk_with_a_wrong_value_is_refused_or_rendered(engine: Everfold, form: str) -> None:
    """Whichever value of a talk is a list or an object, the talk is refused, or its window renders in every form."""
    taken_count = 0
    for talk in (TALKS[form], *list_wrong(TALKS[form])):
        session = await engine.session(beside=True)
        with suppress(InvalidInputError):
            await session.append(talk)
            window = await session.window()
            for provider in FORMS:
                window.render(provider)
            taken_count += 1
    assert taken_count > 1
