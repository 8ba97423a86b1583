"""Manual compactions: a dry run tells what happens, and a second call finds nothing left to do."""

import random
from pathlib import Path

import anyio
import pytest
from bench.material.logs import endless_log
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.playing import REAL, agents, conversations
from tests.support.sizes import examples, some

import everfold
from everfold import Fold, Session
from everfold.core.compaction.planning import Demand
from everfold.errors import BudgetUnsatisfiableError
from everfold.testing import GeneratedLog, st_anthropic_log, st_openai_log

LIMITS = (2_500, 4_000, 16_000, 32_000, 128_000)
KEEPS = (1, 2, 6, 30)
FOCUSES = (None, "the harbour and the prices")
INLINE: dict[str, dict[str, object]] = {"compaction": {"synchronous": True}}
"""Nothing is done beside the calls that are compared."""

Told = tuple[object, ...]


def tell(folds: list[Fold]) -> list[Told]:
    """What folds say, but for the ids of compactions, which a dry run has none of."""
    return [
        (fold.report, fold.layout.held, fold.layout.standing_text, [(it.kind, it.text) for it in fold.digests])
        for fold in folds
    ]


async def ask(session: Session, keep: int, focus: str | None, *, is_dry: bool = False) -> list[Told] | int:
    """What a manual compaction says, or the smallest limit that it names."""
    try:
        return tell(await session.compact(keep_recent=keep, focus=focus, dry_run=is_dry))
    except BudgetUnsatisfiableError as error:
        return error.smallest_limit_tokens


async def check(session: Session, keep: int, focus: str | None) -> None:
    """Compact twice, with a dry run before each."""
    told = await ask(session, keep, focus, is_dry=True)
    before = await session.inspect.state()
    assert await ask(session, keep, focus) == told
    assert isinstance(told, int) or (await session.inspect.state() == before) == (not told)
    after = await session.inspect.state()
    again = [await ask(session, keep, focus, is_dry=is_dry) for is_dry in (True, False)]
    assert again == ([told, told] if isinstance(told, int) else [[], []])
    assert await session.inspect.state() == after


async def begin(session: Session, keep: int) -> None:
    """Begin a compaction whose messages stay held in the window."""
    compactor = session._background.worker.compactor(session._live)
    plan, _ = await compactor.plan(demand=Demand(keep_recent=keep))
    if plan is not None:
        await compactor.begin(plan)


async def play(wires: list[dict[str, object]], *, limit: int, seed: int) -> None:
    """Append a log in batches, with a window, a compaction that is held or a manual one after some of them."""
    rng = random.Random(seed)
    async with everfold.open("memory://", settings=INLINE) as engine:
        session = await engine.session(limit=limit)
        while wires:
            count = rng.choice((1, 5, 20, 80))
            batch, wires = wires[:count], wires[count:]
            await session.append(batch)
            try:
                if rng.random() < 0.4:
                    await session.window()
            except BudgetUnsatisfiableError:
                return
            if rng.random() < 0.2:
                await begin(session, rng.choice(KEEPS))
            if rng.random() < 0.3 or not wires:
                await check(session, rng.choice(KEEPS), rng.choice(FOCUSES))
        assert (await session.verify()).is_sound


def pin(wires: list[dict[str, object]], every: int) -> list[dict[str, object]]:
    """The same log with a pin in each so many-th message that has a text and the user said."""
    return [
        {**wire, "content": f"[[keep]] {wire['content']}"}
        if every and index % every == 0 and wire["role"] == "user" and isinstance(wire["content"], str)
        else wire
        for index, wire in enumerate(wires)
    ]


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    log_seed=st.integers(0, 2**16),
    count=st.integers(4, some(600, 120)),
    limit=st.sampled_from(LIMITS),
    every=st.sampled_from((0, 2, 5)),
    seed=st.integers(0, 2**16),
)
def test_a_working_session(log_seed: int, count: int, limit: int, every: int, seed: int) -> None:
    """At every limit, with pins and open steps, a dry run tells what is done, and a second call finds nothing."""
    wires = [entry.wire for entry in endless_log(log_seed, messages_count=count + 20)][:count]
    anyio.run(lambda: play(pin(wires, every), limit=limit, seed=seed))


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    log=st.one_of(st_openai_log(max_messages=80), st_anthropic_log(max_messages=80)),
    limit=st.sampled_from((1_200, *LIMITS)),
    seed=st.integers(0, 2**16),
)
def test_a_generated_log(log: GeneratedLog, limit: int, seed: int) -> None:
    """The same for logs of every shape that a provider takes."""
    anyio.run(lambda: play([dict(wire) for wire in log.messages], limit=limit, seed=seed))


@pytest.mark.slow
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", [*REAL, "agents"])
async def test_real_conversations(real_data: Path, name: str, limit: int) -> None:
    """The same for every real conversation."""
    logs = [agents(real_data)] if name == "agents" else [it.messages for it in conversations(real_data, name)]
    for seed, log in enumerate(logs):
        wires = [dict(message.wire) for message in log if message.wire["role"] != "system"]
        await play(pin(wires, seed % 3 * 3), limit=limit, seed=seed)
