"""One peer, measured in the peers' own environment: `python peers_side.py NAME JOB.json FOLDER` prints JSON.

Reads nothing but its job, imports nothing of Everfold, and speaks with no network.
"""

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

# One thread for the embedder: on a machine that does other things beside, more of them wait for each other.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="none", OPENAI_AGENTS_DISABLE_TRACING="1", HF_HUB_OFFLINE="1")

Job = dict[str, Any]
Figures = dict[str, Any]
DEPTHS = (1, 5, 10)

_STOPWORDS = (
    "i me my we our you your he him his she her it its they them their what which who whom this that these those am is "
    "are was were be been being have has had do does did a an the and but if or because as until while of at by for with "
    "about against between into through during before after above below to from up down in out on off over under again "
    "then once here there when where why how all any both each few more most other some such no nor not only own same so "
    "than too very can will just should now"
)


def measure_sqlite_session(job: Job, folder: Path) -> Figures:
    """The Agents SDK's SQLiteSession: add an item, get all items; and the newest hundred."""
    from agents import SQLiteSession

    async def play() -> Figures:
        session = SQLiteSession("bench", folder / "agents.db")
        every: list[float] = []
        newest: list[float] = []
        for wire, is_due in job["log"]:
            started = time.perf_counter()
            await session.add_items([wire])
            added = time.perf_counter()
            if not is_due:
                continue
            await session.get_items()
            got = time.perf_counter()
            await session.get_items(limit=100)
            every.append(got - started)
            newest.append(added - started + time.perf_counter() - got)
        return {"every": _late(every), "newest": _late(newest)}

    return {"version": version("openai-agents"), **asyncio.run(play())}


def measure_langchain(job: Job, _folder: Path) -> Figures:
    """trim_messages over the list so far, and the summarization middleware with a model that answers at once."""
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.messages import convert_to_messages, trim_messages

    messages = convert_to_messages([wire for wire, _ in job["log"]])
    for index, message in enumerate(messages):
        message.id = str(index)
    limit = job["limit_tokens"]
    trimming: list[float] = []
    middleware = SummarizationMiddleware(
        FakeListChatModel(responses=["The user and the assistant spoke about records and visits." * 20]),
        trigger=("tokens", int(limit * 0.8)),
        keep=("tokens", int(limit * 0.56)),
    )
    held: list[Any] = []
    summarising: list[float] = []
    for index, (_, is_due) in enumerate(job["log"]):
        held.append(messages[index])
        if not is_due:
            continue
        # Trimming reads the whole list: only the late part of the log is what a long session pays.
        if index >= len(messages) * 0.8:
            started = time.perf_counter()
            trim_messages(messages[: index + 1], max_tokens=limit, token_counter="approximate", start_on="human")
            trimming.append(time.perf_counter() - started)
        started = time.perf_counter()
        change = middleware.before_model({"messages": held}, None)
        summarising.append(time.perf_counter() - started)
        if change:
            held = list(change["messages"][1:])
    return {"version": version("langchain"), "trim": _late(trimming), "middleware": _late(summarising)}


def measure_mem0(job: Job, folder: Path) -> Figures:
    """Mem0 with inference off over a local Qdrant folder: dense vectors of MiniLM, sparse ones of its BM25 encoder."""
    from fastembed import SparseTextEmbedding
    from langchain.embeddings.base import Embeddings
    from mem0 import Memory

    from peers_embedding import MiniLm

    class Local(Embeddings):
        def __init__(self) -> None:
            self.model = MiniLm()
            self.secs: list[float] = []

        def embed_query(self, text: str) -> list[float]:
            started = time.perf_counter()
            vector: list[float] = self.model.embed(text)
            self.secs.append(time.perf_counter() - started)
            return vector

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [self.embed_query(text) for text in texts]

    local = Local()
    config = {
        "embedder": {"provider": "langchain", "config": {"model": local}},
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": str(folder / "qdrant"), "embedding_model_dims": 384, "on_disk": True},
        },
        "history_db_path": str(folder / "history.db"),
    }
    memory = Memory.from_config(config)
    words = folder / "bm25"
    words.mkdir()
    (words / "english.txt").write_text("\n".join(_STOPWORDS.split()))
    # Its own encoder would fetch the list of stop words; this is the same encoder with a list of ours.
    memory.vector_store._bm25_encoder = SparseTextEmbedding("Qdrant/bm25", specific_model_path=str(words))  # noqa: SLF001

    def add(user: str, turn: Job) -> None:
        message = {"role": turn["role"], "content": _text(turn)}
        memory.add([message], user_id=user, metadata={"turn": turn["name"]}, infer=False)

    def search(user: str, question: str) -> list[str]:
        found = memory.search(question, filters={"user_id": user}, top_k=max(DEPTHS))
        return [hit["metadata"]["turn"] for hit in found["results"]]

    figures = _measure_memory(job, add, search)
    return {"version": version("mem0ai"), "embed_ms": statistics.median(local.secs) * 1e3, **figures}


def measure_agentrecall(job: Job, folder: Path) -> Figures:
    """agentrecall-db without embeddings."""
    from agentrecall import Memory

    with Memory(folder / "agentrecall.db", embeddings=False) as memory:

        def add(user: str, turn: Job) -> None:
            memory.add(_text(turn), namespace=user, metadata={"turn": turn["name"]})

        def search(user: str, question: str) -> list[str]:
            hits = memory.search(question, k=max(DEPTHS), namespace=user)
            return [hit.record.metadata["turn"] if hasattr(hit, "record") else hit.metadata["turn"] for hit in hits]

        return {"version": version("agentrecall-db"), **_measure_memory(job, add, search)}


def _text(turn: Job) -> str:
    return f"{turn['speaker']}: {turn['text']}"


def _measure_memory(job: Job, add: Callable[[str, Job], None], search: Callable[[str, str], list[str]]) -> Figures:
    """Messages a second one by one, milliseconds a search, and evidence recall."""
    started = time.perf_counter()
    for sample in job["samples"]:
        for turn in sample["turns"]:
            add(sample["name"], turn)
    spent = time.perf_counter() - started
    secs: list[float] = []
    shares: list[list[float]] = []
    for sample in job["samples"]:
        for text, evidence in sample["questions"]:
            started = time.perf_counter()
            found = search(sample["name"], text)
            secs.append(time.perf_counter() - started)
            shares.append([len(set(evidence).intersection(found[:depth])) / len(evidence) for depth in DEPTHS])
    return {
        "rate": sum(len(sample["turns"]) for sample in job["samples"]) / spent,
        "search_median_ms": statistics.median(secs) * 1e3,
        "search_p95_ms": statistics.quantiles(secs, n=20)[-1] * 1e3,
        "recall": [statistics.fmean(column) for column in zip(*shares, strict=True)],
    }


def _late(secs: Sequence[float]) -> Figures:
    """Median and p95 in microseconds of the last fifth."""
    late = secs[-max(len(secs) // 5, 20) :]
    return {"median_us": statistics.median(late) * 1e6, "p95_us": statistics.quantiles(late, n=20)[-1] * 1e6}


MEASURES = {
    "sqlite_session": measure_sqlite_session,
    "langchain": measure_langchain,
    "mem0": measure_mem0,
    "agentrecall": measure_agentrecall,
}

if __name__ == "__main__":
    name, job_path, folder_path = sys.argv[1:]
    print(json.dumps(MEASURES[name](json.loads(Path(job_path).read_text()), Path(folder_path))))
