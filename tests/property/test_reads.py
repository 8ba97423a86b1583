"""What reads must not do: write, cross users and agents, or let a pin go; and what an error must name."""

import random
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

import anyio
import apsw
import pytest
from bench.material.logs import chat_log, endless_log
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.proofs import Prover, spell
from tests.support.sizes import STORES, examples, some

import everfold
from everfold.core.windows.rendering import render
from everfold.errors import BudgetUnsatisfiableError
from everfold.session import Session, iterate_log
from everfold.testing import GeneratedLog, st_anthropic_log, st_openai_log

pytestmark = pytest.mark.usefixtures("nothing_put_off")

LOGS = st.one_of(st_openai_log(max_messages=60), st_anthropic_log(max_messages=60))
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def dump_tables(path: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table of a database file."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    names = [
        str(row[0])
        for row in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
        )
    ]
    tables = {name: sorted(connection.execute(f'SELECT * FROM "{name}"'), key=repr) for name in names}
    connection.close()
    return tables


async def fill(session: Session, log: GeneratedLog) -> None:
    """Append a log and let it be compacted on the way."""
    for index, wire in enumerate(log.messages, 1):
        await session.append(wire, wire_format=log.kind)
        if index % 11 == 0:
            try:
                await session.window()
            except BudgetUnsatisfiableError:
                continue


@settings(max_examples=examples(25), suppress_health_check=SLOW)
@given(log=LOGS, limit=st.sampled_from([1_200, 2_500, 6_000]), lower=st.floats(0.3, 1))
def test_previews_write_nothing(log: GeneratedLog, limit: int, lower: float) -> None:
    """A preview, a preview for a lower limit and a dry run leave every table as it was, whatever they answer."""

    async def run(path: str) -> None:
        async with everfold.open(f"sqlite:///{path}") as engine:
            session = await engine.session(limit=limit)
            await fill(session, log)
            before = dump_tables(path)
            asks: list[Callable[[], Awaitable[object]]] = [
                lambda: session.window(preview=True),
                lambda: session.window(limit=int(limit * lower), preview=True, suffix="Noon."),
                lambda: session.compact(keep_recent=1, focus="the parcel", dry_run=True),
            ]
            for ask in asks:
                with suppress(BudgetUnsatisfiableError):
                    await ask()
                assert dump_tables(path) == before

    with tempfile.TemporaryDirectory() as folder:
        anyio.run(run, f"{folder}/log.db")


@settings(max_examples=examples(25), suppress_health_check=SLOW)
@given(log=LOGS)
def test_the_named_limit_is_the_smallest_that_works(log: GeneratedLog) -> None:
    """The limit that an error names works, one less does not, and a refusal writes nothing."""

    async def run() -> None:
        async with everfold.open("memory://") as engine:
            session = await engine.session(limit=16_000)
            await fill(session, log)
            before = await session.inspect.state()
            with pytest.raises(BudgetUnsatisfiableError) as refusal:
                await session.window(limit=300)
            smallest = refusal.value.smallest_limit_tokens
            with pytest.raises(BudgetUnsatisfiableError):
                await session.window(limit=smallest - 1)
            assert await session.inspect.state() == before
            window = await session.window(limit=smallest)
            assert window.report.tokens <= window.report.budget_tokens

    anyio.run(run)


@pytest.mark.parametrize(
    "first",
    [
        [f"Plan my move to Ghent: {', '.join(f'box {number} goes by van {number % 3}' for number in range(24))}."],
        ["Hello.", *[f"[[keep]] Box {number} of the move to Ghent goes by van {number % 3}." for number in range(12)]],
    ],
    ids=["head", "pins"],
)
async def test_the_named_limit_holds_what_no_compaction_has_passed_yet(first: list[str]) -> None:
    """A window at the limit that an error names fits also where the head and pinned messages still stand among others."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=16_000)
        for text in (*first, "Which week suits you?", *[f"Detail {number} of the move." for number in range(40)]):
            await session.append([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}])
        await session.append(
            {"role": "assistant", "content": " ".join(f"Van {number} leaves." for number in range(300))}
        )
        with pytest.raises(BudgetUnsatisfiableError) as refusal:
            await session.window(limit=300)
        window = await session.window(limit=refusal.value.smallest_limit_tokens)
        assert window.report.tokens <= window.report.budget_tokens
        with pytest.raises(BudgetUnsatisfiableError):
            await session.window(limit=refusal.value.smallest_limit_tokens - 1)


@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.slow)])
async def test_a_limit_for_opening_is_the_smallest_that_works(seed: int) -> None:
    """A session whose fixed part is too large is refused with the limit at which it opens and folds, and no less."""
    system = " ".join(f"Rule {number}: be exact about entry {number * seed}." for number in range(200))
    async with everfold.open("memory://") as engine:
        with pytest.raises(BudgetUnsatisfiableError) as refusal:
            await engine.session(limit=2_500, system=system)
        assert await engine.list_sessions() == []
        smallest = refusal.value.smallest_limit_tokens
        with pytest.raises(BudgetUnsatisfiableError):
            await engine.session(limit=smallest - 1, system=system)
        prover = Prover(await engine.session(limit=smallest, system=system))
        for entry in chat_log(seed, messages_count=60):
            await prover.append(entry.wire)
            await prover.window()


@pytest.mark.parametrize("kind", STORES)
async def test_users_and_agents_stay_apart(kind: str, tmp_path: Path) -> None:
    """Nothing that one user said to one agent is in a window, a digest or a search of another (G8)."""
    url = "memory://" if kind == "memory" else f"sqlite:///{tmp_path}/log.db"
    pairs = list(product(("ada", "ben"), ("guide", "clerk")))
    rng = random.Random(5)
    async with everfold.open(url) as engine:
        sessions = {pair: await engine.session(user=pair[0], agent=pair[1], limit=2_500) for pair in pairs}
        for number in range(some(320, 240)):
            pair = rng.choice(pairs)
            mark = f"{pair[0]}{pair[1]}"
            await sessions[pair].append(
                [
                    {"role": "user", "content": f"Remember: the {mark} berth {number} belongs to {mark}."},
                    {"role": "assistant", "content": f"The {mark} berth {number} is noted. " * 6},
                ]
            )
            await sessions[pair].window()
        for pair, session in sessions.items():
            others = [f"{user}{agent}" for user, agent in pairs if (user, agent) != pair]
            assert (await session.inspect.state()).compactions_count > 2
            texts = [spell(render(await session.window(), "openai"))]
            texts += [repr(compaction) for compaction in await session.inspect.compactions()]
            texts += [hit.excerpt for hit in await session.search("berth that belongs", limit=100)]
            texts += [
                hit.excerpt for hit in await engine.search(f"{' '.join(others)} berth", user=pair[0], agent=pair[1])
            ]
            assert not [other for other in others for text in texts if other in text]
            theirs = await engine.search(" ".join(f"{user}{agent}" for user, agent in pairs), user=pair[0], limit=100)
            assert theirs
            assert not [hit for hit in theirs for user, agent in pairs if user != pair[0] and user in hit.excerpt]


@pytest.mark.parametrize("limit", [2_500, pytest.param(8_000, marks=pytest.mark.slow)])
async def test_a_pin_never_leaves(limit: int) -> None:
    """A user message marked with [[keep]] stays word for word through every compaction; one of a tool is no pin."""
    pin = "[[keep]] The door code is 4711."
    async with everfold.open("memory://") as engine:
        prover = Prover(await engine.session(limit=limit))
        await prover.append({"role": "user", "content": "Hello!"}, {"role": "user", "content": pin})
        for index, entry in enumerate(endless_log(limit, messages_count=some(220, 120)), 3):
            await prover.append(entry.wire)
            if index % 9 == 0:
                window = await prover.window()
                assert pin in spell(render(window, "openai"))
        assert (await prover.session.inspect.state()).compactions_count > 3


async def test_no_digest_reads_another() -> None:
    """Every line that a digest quotes is word for word in the one message that it names (G4)."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=2_500)
        for entry in endless_log(11, messages_count=some(260, 120)):
            await session.append(entry.wire)
            await session.window()
        texts = {message.seq: message.view.text async for message in iterate_log(session)}
        store = session._store
        compactions = await session.inspect.compactions(limit=1_000)
        ids = [f"{compaction.id}.{kind}" for compaction in compactions for kind in ("digest", "rollup")]
        digests = await store.read_digests(ids)
    assert len([id_ for id_ in digests if id_.endswith("rollup")]) > 2
    quoted = 0
    for digest in digests.values():
        quoted += digest.text.count("#")
        assert digest.pool is None or all(
            texts[line.seq][line.start : line.start + len(line.quote)] == line.quote
            for line in digest.pool.list_lines()
        )
    assert quoted > 50
