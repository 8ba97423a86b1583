"""Other people's software at the same work, each in a process of its own and an environment of its own.

python3.11 -m venv bench/.venv-peers
bench/.venv-peers/bin/pip install --no-deps --require-hashes -r requirements/peers.txt
"""

import asyncio
import json
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.material.logs import LogEntry, endless_log
from bench.measuring import Times
from bench.opening import is_request_due, open_engine, temporary_folder
from bench.recall import DATA, DEPTHS, Question, Turn, read_locomo
from bench.report import ROOT, Row
from bench.search import fill_user
from everfold.engine import Everfold

TITLE = "side by side, in one run"
PYTHON = ROOT / "bench" / ".venv-peers" / "bin" / "python"
LIMIT_TOKENS = 32_000
LOG_COUNT = 5_000
QUICK_LOG_COUNT = 1_000

_TURN_NOTE = (
    "A turn: late in a log of the endless kind (seed 3), the last fifth of its turns; a budget of 32,000 tokens where the "
    "peer has one. SQLiteSession gives back the whole log or the newest hundred items: it never folds. LangChain's two "
    "work on a list in memory and store nothing; the middleware's model answers at once."
)
_MEMORY_NOTE = (
    "Ingest: the turns of the last two conversations, one call each. Everfold is durable at every call (synchronous=FULL); "
    "agentrecall-db runs with synchronous=NORMAL. Recall is defined as in `search`. Peers get 'speaker: text', so that "
    "they can find who said it."
)
_MEM0_NOTE = (
    "Mem0 with inference off, a local Qdrant folder, all-MiniLM-L6-v2 run by bench/peers_embedding.py (its time is in the "
    "figures and told alone), its BM25 encoder with a list of stop words of ours (its own would be fetched), no spaCy."
)

Samples = Sequence[tuple[str, list[Turn], list[Question]]]
Figures = dict[str, Any]


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """Everfold first, then every peer that is installed."""
    entries = list(endless_log(3, messages_count=QUICK_LOG_COUNT if is_quick else LOG_COUNT))
    samples = read_locomo()[2:] if (DATA / "locomo-dev.json").exists() else []
    if is_quick:
        samples = [_shorten(*sample) for sample in samples]
    rows = _turn_rows("Everfold: append and window", asyncio.run(_play(entries)))
    if samples:
        rows += _memory_rows("Everfold", asyncio.run(_remember(samples)))
    with temporary_folder() as folder:
        job = folder / "job.json"
        job.write_text(json.dumps(_make_job(entries, samples)))
        rows += _peer_rows(job, folder, has_samples=bool(samples))
    return rows, [_TURN_NOTE, _MEMORY_NOTE, _MEM0_NOTE]


def _shorten(name: str, turns: list[Turn], questions: list[Question]) -> tuple[str, list[Turn], list[Question]]:
    """The beginning of a conversation, and the questions that it answers."""
    begun = turns[:150]
    names = {turn.name for turn in begun}
    return name, begun, [question for question in questions if question.evidence <= names]


def _make_job(entries: Sequence[LogEntry], samples: Samples) -> Figures:
    return {
        "limit_tokens": LIMIT_TOKENS,
        "log": [(entry.wire, is_request_due(entries, index)) for index, entry in enumerate(entries)],
        "samples": [
            {
                "name": name,
                "turns": [
                    {"name": turn.name, "role": turn.role, "speaker": turn.speaker, "text": turn.text} for turn in turns
                ],
                "questions": [(question.text, sorted(question.evidence)) for question in questions],
            }
            for name, turns, questions in samples
        ],
    }


async def _play(entries: Sequence[LogEntry]) -> Figures:
    secs: list[float] = []
    with temporary_folder() as folder:
        async with open_engine(folder / "turns.db") as engine:
            session = await engine.session(limit=LIMIT_TOKENS)
            for index, entry in enumerate(entries):
                started = time.perf_counter()
                await session.append(entry.wire, said_at=entry.said_at)
                if is_request_due(entries, index):
                    await session.window()
                    secs.append(time.perf_counter() - started)
    late = secs[-max(len(secs) // 5, 20) :]
    return {"median_us": statistics.median(late) * 1e6, "p95_us": statistics.quantiles(late, n=20)[-1] * 1e6}


async def _remember(samples: Samples) -> Figures:
    with temporary_folder() as folder:
        async with open_engine(folder / "one.db") as engine:
            started = time.perf_counter()
            for name, turns, _ in samples:
                session = await engine.session(user=name)
                for turn in turns:
                    await session.append(
                        {"role": turn.role, "name": turn.speaker, "content": turn.text}, said_at=turn.said_at
                    )
            spent = time.perf_counter() - started
        async with open_engine(folder / "sittings.db") as engine:
            recalls, times = await _ask(engine, samples)
    return {
        "rate": sum(len(turns) for _, turns, _ in samples) / spent,
        "search_median_ms": times.median_us / 1e3,
        "search_p95_ms": times.p95_us / 1e3,
        "recall": [statistics.fmean(column) for column in zip(*recalls, strict=True)],
    }


async def _ask(engine: Everfold, samples: Samples) -> tuple[list[list[float]], Times]:
    recalls: list[list[float]] = []
    times = Times()
    names = [await fill_user(engine, name, turns) for name, turns, _ in samples]
    for at, (name, _, questions) in enumerate(samples):
        for question in questions:
            with times.one():
                hits = await engine.search(question.text, user=name, limit=max(DEPTHS))
            found = [names[at][hit.session, hit.seq] for hit in hits]
            count = len(question.evidence)
            recalls.append([len(question.evidence.intersection(found[:depth])) / count for depth in DEPTHS])
    return recalls, times


def _peer_rows(job: Path, folder: Path, *, has_samples: bool) -> list[Row]:
    rows: list[Row] = []
    figures = _run_peer("sqlite_session", job, folder)
    named = _named("OpenAI Agents SDK", figures)
    for key, what in (("every", "add and get all items"), ("newest", "add and get the newest 100 items")):
        rows += _turn_rows(f"{named}, SQLiteSession: {what}", figures, key)
    figures = _run_peer("langchain", job, folder)
    named = _named("LangChain", figures)
    for key, what in (("trim", "trim_messages"), ("middleware", "SummarizationMiddleware")):
        rows += _turn_rows(f"{named}: {what}, nothing stored", figures, key)
    if has_samples:
        for name, label in (("mem0", "Mem0"), ("agentrecall", "agentrecall-db")):
            figures = _run_peer(name, job, folder)
            rows += _memory_rows(_named(label, figures), figures)
    return rows


def _run_peer(name: str, job: Path, folder: Path) -> Figures:
    """What a peer printed; `problem` when it could not be measured."""
    if not PYTHON.exists():
        return {"problem": "not installed; run `make peers`"}
    own = folder / name
    own.mkdir()
    script = Path(__file__).with_name("peers_side.py")
    result = subprocess.run(
        [str(PYTHON), str(script), name, str(job), str(own)], check=False, capture_output=True, text=True
    )
    if result.returncode:
        return {"problem": (result.stderr.strip().splitlines() or ["it ended without a word"])[-1][:120]}
    figures: Figures = json.loads(result.stdout.splitlines()[-1])
    return figures


def _named(label: str, figures: Figures) -> str:
    return f"{label} {figures['version']}" if "version" in figures else label


def _turn_rows(figure: str, figures: Figures, key: str | None = None) -> list[Row]:
    if "problem" in figures:
        return [Row(figure=figure, value=f"not measured: {figures['problem']}")]
    part = figures if key is None else figures[key]
    return [
        Row(figure=f"turn, {figure}: median", value=part["median_us"], unit="µs", digits=0),
        Row(figure=f"turn, {figure}: p95", value=part["p95_us"], unit="µs", digits=0),
    ]


def _memory_rows(label: str, figures: Figures) -> list[Row]:
    if "problem" in figures:
        return [Row(figure=f"{label}: ingest, search, recall", value=f"not measured: {figures['problem']}")]
    recall = " / ".join(f"{share:.3f}" for share in figures["recall"])
    embedding = Row(figure=f"one embedding, {label}: median", value=figures.get("embed_ms", 0.0), unit="ms", digits=1)
    return [
        Row(figure=f"ingest, {label}, one by one", value=figures["rate"], unit="messages/s", digits=0),
        Row(figure=f"search, {label}: median", value=figures["search_median_ms"], unit="ms", digits=1),
        Row(figure=f"search, {label}: p95", value=figures["search_p95_ms"], unit="ms", digits=1),
        Row(figure=f"evidence recall at 1 / 5 / 10, {label}", value=recall),
        *([embedding] if "embed_ms" in figures else []),
    ]
