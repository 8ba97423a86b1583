"""All real conversations behind each other hold every guarantee as one session, at every limit and message."""

from pathlib import Path

import pytest
from tests.support.playing import ALL_LIMITS, as_form, chain, play

from everfold.core.log.messages import WireFormat


@pytest.mark.slow
@pytest.mark.parametrize("limit", ALL_LIMITS)
@pytest.mark.parametrize("form", ["openai", "anthropic"])
async def test_every_message_of_the_chain(real_data: Path, tmp_path: Path, form: WireFormat, limit: int) -> None:
    """All conversations as one session hold at every message, in a file, in the form of either provider."""
    _, messages = await as_form(form, chain(real_data))
    shown, refused = await play(messages, url=f"sqlite:///{tmp_path}/log.db", limit=limit, thorough_every=100)
    assert (shown, refused) == (len(messages), 0)
