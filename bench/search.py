"""Search through the engine: what it finds on LoCoMo and BEAM, and how long it takes as a user's log grows."""

import asyncio
import json
import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from bench.beam import CHOSEN_ON, REPORT, find_beam, read_beam
from bench.measuring import Times
from bench.opening import batched, open_engine, temporary_folder
from bench.recall import DATA, DEPTHS, Babble, Question, Sample, Turn, read_locomo
from bench.report import Row
from everfold.adapters.transcripts import parse_transcript
from everfold.engine import Everfold
from everfold.session import Session

TITLE = "evidence recall on LoCoMo and BEAM-100K, and latency"
COUNTS = (10_000, 100_000)
MOST_MS = {10_000: 10.0, 100_000: 100.0}
LEAST_RECALL = {1: 0.33, 5: 0.60, 10: 0.76}
LEAST_BEAM_RECALL = {10: 0.56}
ASKED_COUNT = 300


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Recall on both halves of the file, then latency at every count."""
    rows: list[Row] = []
    if (DATA / "locomo-dev.json").exists():
        rows += asyncio.run(_measure_recall())
    else:
        rows.append(Row(figure="recall", value="not measured: no EVERFOLD_DATA with locomo-dev.json"))
    rows += asyncio.run(_measure_beam())
    rows += asyncio.run(_measure_latency((2_000, 10_000) if is_quick else COUNTS))
    note = (
        "Recall: the share of a question's evidence turns among the first k hits, mean over the questions of categories 1 to 4. "
        "Weights were chosen on the first two conversations, and on BEAM's chats 1 to 10; the others are the report. "
        "Imported: the same talk as OpenAI chat messages with names and times, one request body a sitting, by "
        "`import_transcript`. BEAM: each chat is a user, ten in a file, the questions that name evidence. Latency: questions of eight words "
        f"over generated talk with Zipf's distribution of words, {ASKED_COUNT} of them, through `Everfold.search`."
    )
    return rows, [note]


async def fill_user(engine: Everfold, user: str, turns: Sequence[Turn]) -> dict[tuple[str, int], str]:
    """Append a user's turns, a session a sitting, and give the turns' names by session and sequence number."""
    names: dict[tuple[str, int], str] = {}
    session: Session | None = None
    for _, sitting in groupby(turns, key=lambda turn: turn.session):
        session = await engine.session(user=user) if session is None else await session.new()
        for (said_at, origin), group in groupby(sitting, key=lambda turn: (turn.said_at, turn.is_said)):
            for batch in batched(group, 500):
                wires = [_wire(turn) for turn in batch]
                seqs = await session.append(wires, said_at=said_at, origin=None if origin else "tool")
                names |= {(session.id, seq): turn.name for seq, turn in zip(seqs, batch, strict=True)}
    return names


def _wire(turn: Turn) -> dict[str, object]:
    role = turn.role if turn.role in {"user", "assistant"} else "user"
    wire: dict[str, object] = {"role": role, "content": turn.text}
    if turn.speaker != turn.role:
        wire["name"] = turn.speaker
    return wire


async def import_user(engine: Everfold, user: str, turns: Sequence[Turn]) -> dict[tuple[str, int], str]:
    """The same by an import of chat messages with their times, a request body a sitting."""
    sittings = [list(sitting) for _, sitting in groupby(turns, key=lambda turn: turn.session)]
    bodies = [
        {"messages": [{**_wire(turn), "timestamp": turn.said_at.isoformat()} for turn in sitting]}
        for sitting in sittings
    ]
    transcript = parse_transcript("".join(json.dumps(body) + "\n" for body in bodies).encode(), name=user)
    sessions = dict.fromkeys([step.session async for step in engine.import_transcript(transcript, user=user)])
    return {
        (session, seq): turn.name
        for session, sitting in zip(sessions, sittings, strict=True)
        for seq, turn in enumerate(sitting, 1)
    }


Fill = Callable[[Everfold, str, Sequence[Turn]], Awaitable[dict[tuple[str, int], str]]]


async def _measure_recall() -> list[Row]:
    samples = read_locomo()
    report, chosen_on = "LoCoMo, report, last two", "LoCoMo, chosen on, first two"
    recalls = await _ask(samples, fill_user)
    imported = await _ask(samples, import_user)
    return [
        *_write_recall(report, recalls[2:4], LEAST_RECALL),
        *_write_recall(chosen_on, recalls[:2]),
        *_write_recall(f"{report}, imported", imported[2:4], LEAST_RECALL),
    ]


async def _measure_beam() -> list[Row]:
    folder = find_beam()
    if folder is None:
        return [Row(figure="recall on BEAM-100K", value="not measured: no EVERFOLD_DATA with beam/100K")]
    report = await _ask(read_beam(folder, REPORT), fill_user)
    chosen_on = await _ask(read_beam(folder, CHOSEN_ON), fill_user)
    return [
        *_write_recall("BEAM-100K, report, chats 11 to 20", report, LEAST_BEAM_RECALL),
        *_write_recall("BEAM-100K, chosen on, chats 1 to 10", chosen_on),
    ]


async def _ask(samples: Sequence[Sample], fill: Fill) -> list[list[list[float]]]:
    """The shares of each question of each conversation; all conversations are in one file, a user each."""
    with temporary_folder() as folder:
        async with open_engine(folder / "recall.db") as engine:
            return await ask(engine, samples, fill)


async def ask(engine: Everfold, samples: Sequence[Sample], fill: Fill) -> list[list[list[float]]]:
    """Fill an engine with conversations, a user each, and give the shares of each question of each."""
    names = [await fill(engine, name, turns) for name, turns, _ in samples]
    return [
        [await _recall(engine, name, names[at], question) for question in questions]
        for at, (name, _, questions) in enumerate(samples)
    ]


def _write_recall(
    title: str, recalls: Sequence[Sequence[Sequence[float]]], leasts: Mapping[int, float] = MappingProxyType({})
) -> list[Row]:
    shares = [share for of_sample in recalls for share in of_sample]
    return [
        Row(
            figure=f"evidence recall at {depth}, {title} ({len(shares)} questions)",
            value=statistics.fmean(column),
            least=leasts.get(depth),
            digits=3,
        )
        for depth, column in zip(DEPTHS, zip(*shares, strict=True), strict=True)
    ]


async def _recall(engine: Everfold, user: str, names: dict[tuple[str, int], str], question: Question) -> list[float]:
    hits = await engine.search(question.text, user=user, limit=max(DEPTHS))
    found = [names[hit.session, hit.seq] for hit in hits]
    return [len(question.evidence.intersection(found[:depth])) / len(question.evidence) for depth in DEPTHS]


async def _measure_latency(counts: Sequence[int]) -> list[Row]:
    rows: list[Row] = []
    with temporary_folder() as folder:
        async with open_engine(folder / "latency.db") as engine:
            babble, done = Babble(7), 0
            session = await engine.session(user="one")
            for count in counts:
                for batch in batched(babble.talk(count - done), 500):
                    await session.append([_wire(turn) for turn in batch], said_at=batch[0].said_at)
                done = count
                times = await time_search(engine, "one", babble)
                at = f"at {count:,} messages"
                rows.append(Row(figure=f"search {at}: median", value=times.median_us / 1e3, unit="ms", digits=1))
                rows.append(Row(figure=f"search {at}: p95", value=times.p95_us / 1e3, unit="ms", most=MOST_MS.get(count), digits=1))  # fmt: skip
    return rows


async def time_search(engine: Everfold, user: str, babble: Babble) -> Times:
    """Times of questions to what a user said."""
    times = Times()
    for _ in range(ASKED_COUNT):
        question = babble.question()
        with times.one():
            await engine.search(question, user=user)
    return times
