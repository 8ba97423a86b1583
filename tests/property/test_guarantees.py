"""The guarantees over generated logs, through the whole engine, in every store."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.proofs import Prover
from tests.support.sizes import examples

import everfold
from everfold.errors import BudgetUnsatisfiableError
from everfold.testing import GeneratedLog, st_anthropic_log, st_openai_log

Kind = Literal["sqlite", "memory"]
KINDS: tuple[Kind, ...] = ("sqlite", "memory")
LIMITS = (1_200, 1_500, 2_500, 4_000, 8_000, 16_000, 64_000)
LOGS = st.one_of(st_openai_log(max_messages=60), st_anthropic_log(max_messages=60))


@contextmanager
def store_url(kind: Kind) -> Iterator[str]:
    """The url of a new store."""
    if kind == "memory":
        yield "memory://"
        return
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/log.db"


async def play(url: str, log: GeneratedLog, *, limit: int, every: int, seed: int) -> None:
    """Append a log message by message and prove the window after every few, now and then for a lower limit."""
    rng = random.Random(seed)
    async with everfold.open(url) as engine:
        prover = Prover(await engine.session(limit=limit), wire_format=log.kind)
        for index, wire in enumerate(log.messages, 1):
            await prover.append(wire)
            if index % every and index < len(log.messages):
                continue
            with suppress(BudgetUnsatisfiableError):
                await prover.window(suffix="It is half past noon." if rng.random() < 0.1 else None)
            if rng.random() < 0.1:
                await prover.reopen(engine)
            if rng.random() < 0.05:
                with suppress(BudgetUnsatisfiableError):
                    await prover.window(limit=int(limit * rng.uniform(0.6, 1)))
        await prover.check_all()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(log=LOGS, limit=st.sampled_from(LIMITS), every=st.integers(1, 4), seed=st.integers(0, 2**16))
def test_guarantees_hold_after_every_window(kind: Kind, log: GeneratedLog, limit: int, every: int, seed: int) -> None:
    """G1 to G6 and G12 hold after every append and window, at limits from tiny to large, in either wire form."""
    with store_url(kind) as url:
        anyio.run(lambda: play(url, log, limit=limit, every=every, seed=seed))


ASKS = ("Which jacket shall I pack", "What colour shall the tent have", "Who shall carry the lamp")
ANSWERS = ("The blue one.", "Yes, 50 degrees.", "Ruth, I think.", "Do it.", "Nineteen of them", "No")


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
@given(
    pairs=st.lists(st.tuples(st.sampled_from(ASKS), st.sampled_from(ANSWERS)), min_size=24, max_size=48),
    limit=st.sampled_from((8_000, 12_000)),
    gone=st.integers(0, 20),
)
def test_guarantees_hold_for_answers(pairs: list[tuple[str, str]], limit: int, gone: int) -> None:
    """Kept answers under their questions hold to all guarantees, also after one of the questions was erased."""

    async def run() -> None:
        async with everfold.open("memory://") as engine:
            prover = Prover(await engine.session(limit=limit), is_prefix_held=False)
            await prover.append({"role": "user", "content": "Help me pack for the north."})
            for number, (ask, answer) in enumerate(pairs):
                said = f"{'Noted with the papers of the berth. ' * 40} {ask} on day {number}?"
                await prover.append({"role": "assistant", "content": said}, {"role": "user", "content": answer})
                await prover.window()
            await prover.session.erase(2 + 2 * gone)
            prover.erased.add(2 + 2 * gone)
            window = await prover.window()
            assert f"on day {gone}?" not in str(window.render("openai"))
            await prover.check_all()

    anyio.run(run)
