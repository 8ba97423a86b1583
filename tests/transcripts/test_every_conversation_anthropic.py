"""Every real conversation holds every guarantee after every message, at every limit, in the form of Anthropic.

One form a file, so that no worker has both.
"""

from pathlib import Path

import pytest
from tests.support.playing import ALL_LIMITS, REAL, play_every


@pytest.mark.slow
@pytest.mark.parametrize("limit", ALL_LIMITS)
@pytest.mark.parametrize("name", REAL)
async def test_every_conversation(real_data: Path, name: str, limit: int) -> None:
    """Each holds after every message, or the smallest limit that works is named."""
    await play_every(real_data, name, "anthropic", limit)
