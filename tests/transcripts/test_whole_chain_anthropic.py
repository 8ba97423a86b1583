"""All real conversations behind each other hold every guarantee as one session, at every limit and message, in the form of Anthropic.

One form a file, so that no worker has both.
"""

from pathlib import Path

import pytest
from tests.support.playing import ALL_LIMITS, play_chain


@pytest.mark.slow
@pytest.mark.parametrize("limit", ALL_LIMITS)
async def test_every_message_of_the_chain(real_data: Path, tmp_path: Path, limit: int) -> None:
    """All conversations as one session hold at every message, in a file."""
    await play_chain(real_data, f"sqlite:///{tmp_path}/log.db", "anthropic", limit)
