"""Real logs of coding agents, talks and tools behind each other hold every guarantee at the limits of large models."""

from pathlib import Path

import pytest
from tests.support.playing import agents, chain
from tests.support.proofs import Prover
from tests.support.sizes import some

import everfold

MESSAGES_PER_WINDOW = 25
THOROUGH_EVERY = 8
"""So many windows lie between two whole proofs, each of which reads the log from its beginning."""


@pytest.mark.parametrize("limit", [128_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
async def test_large_limits(real_data: Path, tmp_path: Path, limit: int) -> None:
    """Folds of windows of a hundred thousand and of a million tokens keep every guarantee; at night over two million."""
    messages = (agents(real_data) + chain(real_data))[: some(None, 500)]
    async with everfold.open(f"sqlite:///{tmp_path}/log.db") as engine:
        prover = Prover(await engine.session(limit=limit), wire_format="openai")
        for number, first in enumerate(range(0, len(messages), MESSAGES_PER_WINDOW), 1):
            await prover.append(*(message.wire for message in messages[first : first + MESSAGES_PER_WINDOW]))
            await prover.window(is_thorough=number % THOROUGH_EVERY == 0)
        await prover.window()
        await prover.reopen(engine)
        await prover.check_all()
        state = await prover.session.inspect.state()
    assert state.compactions_count > 1
