"""Every real conversation holds every guarantee after every message, at every limit, in the form of either provider."""

from pathlib import Path

import pytest
from tests.support.playing import AIRLINE, ALL_LIMITS, REAL, as_form, conversations, play

from everfold.core.log.messages import WireFormat


@pytest.mark.slow
@pytest.mark.parametrize("limit", ALL_LIMITS)
@pytest.mark.parametrize("form", ["openai", "anthropic"])
@pytest.mark.parametrize("name", REAL)
async def test_every_conversation(real_data: Path, name: str, form: WireFormat, limit: int) -> None:
    """Each holds after every message, in the form of either provider, or the smallest limit that works is named."""
    for conversation in conversations(real_data, name):
        system, messages = await as_form(form, conversation.messages)
        shown, refused = await play(messages, url="memory://", limit=limit, system=system)
        assert shown == len(messages) or refused == 1
        assert not refused or (name, limit) == (AIRLINE, ALL_LIMITS[0]), (
            "only their system prompt is too long, and here"
        )
