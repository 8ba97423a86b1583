"""Measures full-text search: what it finds, how fast, and what a message costs to index.

    python bench/recall.py [--only found] [--only latency] [--counts 10000,100000]

Recall at k of a question: the share of its evidence turns among the first k hits; the mean is over the questions of
categories 1 to 4 that have at least one evidence id of the conversation (malformed ids are skipped, also when that
leaves others). Each conversation is a user of its own, all in one database and nothing else in it;
each sitting is a session; one speaker plays the user, the other the assistant. Weights were chosen on the first two
conversations and on the work logs; the last two conversations are the report.

The work logs (an airline agent with tools, a coding agent) have no questions, so they are made mechanically from
user turns, put to one log of all conversations: `identifier` asks for an id that users mentioned; `long` and `short`
ask with every second word of a turn, in reverse order (over and up to 20 words); `answer` mixes two words of a turn
with two of what was said before it. A question counts as found when one of the turns that fit it is among the first
k; turns that share four fifths of their words count as the same.

Where the data lies: the environment variable EVERFOLD_DATA, or ../shared/data beside the repository.
"""

import argparse
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import apsw

from everfold.adapters.sql.matching import key_words, write_scope
from everfold.adapters.sqlite.matching import write_match
from everfold.core.text.searching import (
    BEFORE_COUNT,
    BEFORE_WEIGHT,
    CANDIDATE_COUNT,
    SearchCandidate,
    choose_terms,
    index_text,
    order_hits,
    plan_query,
)
from everfold.core.text.tokens import estimate_text_tokens
from everfold.core.text.words import read_matter

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("EVERFOLD_DATA", ROOT.parent / "shared" / "data"))
SQLITE = ROOT / "src" / "everfold" / "adapters" / "sqlite"
DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message to index, and how questions name it."""

    name: str
    session: int
    role: str
    speaker: str
    text: str
    said_at: datetime
    is_said: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, the turns that answer it, and the group that it is reported in."""

    text: str
    evidence: frozenset[str]
    group: str


Sample: TypeAlias = tuple[str, list[Turn], list[Question]]
"""Name, turns and questions of a conversation."""


def read_queries(path: Path) -> dict[str, str]:
    """The named statements of a file."""
    _, *blocks = re.split(r"^-- name: (\w+)$", path.read_text(), flags=re.MULTILINE)
    return dict(zip(blocks[::2], blocks[1::2], strict=True))


class Index:
    """The search tables of the SQLite store over the least table of messages that they need."""

    def __init__(self, path: Path) -> None:
        self._queries = read_queries(SQLITE / "sql" / "search.sql")
        self._connection = apsw.Connection(str(path))
        self._connection.execute("PRAGMA journal_mode = wal").fetchall()
        self._connection.execute("PRAGMA synchronous = normal")
        self._connection.execute("CREATE TABLE sessions (key INTEGER PRIMARY KEY, id TEXT)")
        self._connection.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_key INTEGER, seq INTEGER, role TEXT, speaker TEXT, "
            "raw_tokens INTEGER, text TEXT)"
        )
        self._connection.execute("INSERT INTO sessions VALUES (1, 'session')")
        self._connection.execute((SQLITE / "migrations" / "0002_search.sql").read_text())
        self._names: list[str] = [""]
        self._row_counts: Counter[int] = Counter()

    def add(self, user: int, turns: Iterable[Turn]) -> float:
        """Index a user's turns, a transaction for every thousand; gives the seconds of search work alone."""
        spent, before, session = 0.0, list[str](), -1
        self._connection.execute("BEGIN IMMEDIATE")
        for turn in turns:
            if turn.session != session:
                before, session = [], turn.session
            message_id = len(self._names)
            self._names.append(turn.name)
            self._row_counts[user] += 1
            self._connection.execute(
                "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)",
                (message_id, 1, message_id, turn.role, turn.speaker, estimate_text_tokens(turn.text), turn.text),
            )
            started = time.perf_counter()
            self._index(user, message_id, turn, before)
            if message_id % 1000 == 0:
                self._connection.execute("COMMIT")
                self._connection.execute("BEGIN IMMEDIATE")
            spent += time.perf_counter() - started
            if turn.is_said and turn.text:
                before = [turn.text, *before[: BEFORE_COUNT - 1]]
        self._connection.execute("COMMIT")
        return spent

    def _index(self, user: int, message_id: int, turn: Turn, before: Sequence[str]) -> None:
        text = index_text(turn.text, speaker=turn.speaker, said_at=turn.said_at, before=before if turn.is_said else ())
        row = (
            message_id,
            key_words(user, text.own),
            key_words(user, text.before),
            write_scope(user, agent_key=1, session_key=turn.session),
        )
        self._connection.execute(self._queries["insert_search_row"], row)

    def search(self, user: int, question: str) -> list[str]:
        """The names of the turns that the question finds, best first."""
        query = plan_query(question)
        counts = {word: self._count(key_words(user, word)) for word in query.words}
        match = write_match(choose_terms(query, counts, row_count=self._row_counts[user]), user)
        if not match:
            return []
        bound = {"match": match, "before_weight": BEFORE_WEIGHT, "candidate_count": CANDIDATE_COUNT}
        found = self._connection.execute(self._queries["search_messages"], bound)
        candidates = [
            SearchCandidate(key=key, score=score, speaker=speaker, role=role, tokens=tokens)
            for key, score, _agent, _session, _seq, role, speaker, tokens in found
        ]
        return [self._names[hit.key] for hit in order_hits(query, candidates)]

    def _count(self, word: str) -> int:
        row = self._connection.execute(self._queries["count_search_word"], {"word": word}).fetchone()
        return int(row[0]) if row else 0


def read_locomo() -> list[Sample]:
    """Name, turns and questions of each conversation."""
    samples = json.loads((DATA / "locomo-dev.json").read_text())
    return [
        (sample["sample_id"], turns := list(_locomo_turns(sample)), _locomo_questions(sample, turns))
        for sample in samples
    ]


def _locomo_turns(sample: dict[str, Any]) -> Iterator[Turn]:
    talk = sample["conversation"]
    for number in range(1, sum(key.endswith("_date_time") for key in talk) + 1):
        date = talk[f"session_{number}_date_time"].strip()
        said_at = datetime.strptime(f"{date} +0000", "%I:%M %p on %d %B, %Y %z")
        for said in talk.get(f"session_{number}", ()):
            role = "user" if said["speaker"] == talk["speaker_a"] else "assistant"
            yield Turn(
                name=said["dia_id"], session=number, role=role, speaker=said["speaker"], text=said["text"],
                said_at=said_at,
            )  # fmt: skip


def _locomo_questions(sample: dict[str, Any], turns: Sequence[Turn]) -> list[Question]:
    names = {turn.name for turn in turns}
    asked = (
        Question(
            text=qa["question"],
            evidence=frozenset(names.intersection(qa.get("evidence", ()))),
            group=str(qa["category"]),
        )
        for qa in sample["qa"]
        if qa["category"] in {1, 2, 3, 4}
    )
    return [question for question in asked if question.evidence]


def read_work() -> list[Turn]:
    """All turns of the work logs as one log."""
    logs = [json.loads(line)["messages"] for line in (DATA / "tau-airline-dev.jsonl").read_text().splitlines()]
    logs.append(json.loads((DATA / "coding-dev.json").read_text()))
    start = datetime(2024, 5, 15, 9, tzinfo=UTC)
    return [
        Turn(
            name=f"{session}:{at}", session=session, role=message["role"], speaker=message["role"],
            text=_work_text(message), said_at=start + timedelta(hours=6 * session, seconds=40 * at),
            is_said=message["role"] in {"user", "assistant"},
        )
        for session, log in enumerate(logs)
        for at, message in enumerate(log)
    ]  # fmt: skip


def _work_text(message: dict[str, Any]) -> str:
    calls = (call["function"] for call in message.get("tool_calls") or ())
    return "\n".join([message["content"] or "", *(f"{call['name']} {call['arguments']}" for call in calls)]).strip()


def make_questions(turns: Sequence[Turn]) -> list[Question]:
    """Questions to the work logs, as the head of this file says."""
    users = [turn for turn in turns if turn.role == "user"]
    matter = {turn.name: frozenset(read_matter(turn.text).split()) for turn in users}
    previous = {turn.name: before for before, turn in pairwise(turns) if before.is_said}
    questions = list(_identifier_questions(users))
    for turn in users:
        words = _content_words(turn.text)
        same = frozenset(name for name in matter if _overlap(matter[name], matter[turn.name]) >= 0.8)
        if len(words) >= 4:
            group = "long" if len(turn.text.split()) > 20 else "short"
            questions.append(_ask(words[::2][::-1][:8], same, group))
        if len(words) >= 2 and turn.name in previous:
            questions.append(_ask([*words[:2], *_content_words(previous[turn.name].text)[-2:]], same, "answer"))
    return questions


def _identifier_questions(users: Sequence[Turn]) -> Iterator[Question]:
    holders: dict[str, set[str]] = {}
    for turn in users:
        for identifier in re.findall(r"\b(?=[A-Za-z_]*\d)(?=\d*[A-Za-z_])\w{5,}\b", turn.text):
            holders.setdefault(identifier, set()).add(turn.name)
    for identifier, names in holders.items():
        yield Question(text=f"Where was {identifier} mentioned?", evidence=frozenset(names), group="identifier")


def _ask(words: Sequence[str], evidence: frozenset[str], group: str) -> Question:
    return Question(text=f"What was said about {' and '.join(words)}?", evidence=evidence, group=group)


def _content_words(text: str) -> list[str]:
    return list(dict.fromkeys(word for word in re.findall(r"[\w']+", text) if read_matter(word)))


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / (len(left | right) or 1)


def measure_locomo(index: Index) -> None:
    """Prints evidence recall for the conversations that weights were chosen on, and for the report."""
    samples = read_locomo()
    for user, (_, turns, _) in enumerate(samples):
        index.add(user, turns)
    for name, users in (("chosen on", (0, 1)), ("report", (2, 3))):
        recalls: dict[str, list[list[float]]] = {}
        for user in users:
            for question in samples[user][2]:
                found = index.search(user, question.text)
                shares = [
                    len(question.evidence.intersection(found[:depth])) / len(question.evidence) for depth in DEPTHS
                ]
                recalls.setdefault("all", []).append(shares)
                recalls.setdefault(f"category {question.group}", []).append(shares)
        print(f"\nevidence recall, {name}: {', '.join(samples[user][0] for user in users)}")
        _print_table(recalls)


def measure_indexing(index: Index) -> None:
    """Prints what a turn of LoCoMo costs to index, in batches of a thousand; leaves twenty users behind."""
    talks = [turns for _, turns, _ in read_locomo()]
    for name, users in (("words new at first", range(100, 104)), ("words known", range(104, 120))):
        count = sum(len(talks[user % len(talks)]) for user in users)
        secs = sum(index.add(user, talks[user % len(talks)]) for user in users)
        print(f"{secs / count * 1e6:.1f} us to index a turn of LoCoMo, {name}")


def measure_work(index: Index, *, user: int) -> None:
    """Prints how often the fitting user turn of the work logs is found."""
    turns = read_work()
    index.add(user, turns)
    recalls: dict[str, list[list[float]]] = {}
    for question in make_questions(turns):
        found = index.search(user, question.text)
        shares = [float(not question.evidence.isdisjoint(found[:depth])) for depth in DEPTHS]
        recalls.setdefault(question.group, []).append(shares)
    print("\nwork logs, questions whose turn is found")
    _print_table(recalls)


def _print_table(recalls: dict[str, list[list[float]]]) -> None:
    print(f"{'':14}{'questions':>10}" + "".join(f"{f'@{depth}':>8}" for depth in DEPTHS))
    for group, shares in sorted(recalls.items()):
        means = "".join(f"{statistics.mean(column):8.3f}" for column in zip(*shares, strict=True))
        print(f"{group:14}{len(shares):10}{means}")


class Babble:
    """Seeded text whose words are as unevenly frequent as those of a language."""

    _GRAMMAR = ("the", "i", "to", "and", "a", "you", "it", "of", "that", "in", "is", "my", "was", "for", "have", "on")

    def __init__(self, seed: int, *, vocabulary: int = 40_000) -> None:
        self._random = random.Random(seed)
        sounds = [
            first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "an", "el", "or")
        ]
        made = {"".join(self._random.choices(sounds, k=self._random.randint(2, 4))) for _ in range(vocabulary)}
        self._words = sorted(made)
        self._random.shuffle(self._words)
        # Source: Zipf's law in Mandelbrot's form, rank plus 2.7.
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(1, len(self._words) + 1)))

    def text(self, low: int, high: int) -> str:
        """So many words, 45 % of them grammar."""
        count = self._random.randint(low, high)
        matter = self._random.choices(self._words, cum_weights=self._weights, k=count)
        return " ".join(self._random.choice(self._GRAMMAR) if self._random.random() < 0.45 else word for word in matter)

    def talk(self, count: int) -> Iterator[Turn]:
        """Two people, 5 to 45 words each."""
        for at in range(count):
            yield self._turn(at, "user" if at % 2 else "assistant", "Ann" if at % 2 else "Bob", self.text(5, 45))

    def work(self, count: int) -> Iterator[Turn]:
        """A user of few words, an assistant of 300 tokens, and tools between them."""
        for at in range(count):
            role, low, high = (("user", 4, 20), ("assistant", 150, 300), ("tool", 40, 300), ("assistant", 5, 40))[
                at % 4
            ]
            yield self._turn(at, role, role, self.text(low, high))

    def _turn(self, at: int, role: str, speaker: str, text: str) -> Turn:
        said_at = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=7 * at)
        return Turn(
            name=str(at),
            session=at // 500,
            role=role,
            speaker=speaker,
            text=text,
            said_at=said_at,
            is_said=role != "tool",
        )

    def question(self) -> str:
        """Five words as frequent as in the talk, and a name."""
        words = self._random.choices(self._words, cum_weights=self._weights, k=5)
        return f"When did Ann {' '.join(words[:3])} with the {' '.join(words[3:])}?"


def measure_latency(name: str, turns: Callable[[Babble, int], Iterator[Turn]], counts: Sequence[int]) -> None:
    """Prints microseconds a message to index and milliseconds a search, alone and with ten times as much of others."""
    with tempfile.TemporaryDirectory() as folder:
        index, babble, done = Index(Path(folder) / "index.db"), Babble(7), 0
        for count in counts:
            added = list(turns(babble, count - done))
            words = statistics.mean(len(turn.text.split()) for turn in added)
            secs = index.add(1, added)
            print(
                f"{name:5} {count:7} messages of {words:4.0f} words: {secs / len(added) * 1e6:6.1f} us each to index",
                end="; ",
            )
            done = count
            print(_search_times(index, babble))
        if done <= 10_000:
            index.add(2, turns(babble, 10 * done))
            print(f"{name:5} {done:7} messages beside {10 * done} of another user; {_search_times(index, babble)}")


def _search_times(index: Index, babble: Babble) -> str:
    times = []
    for _ in range(300):
        question = babble.question()
        started = time.perf_counter()
        index.search(1, question)
        times.append((time.perf_counter() - started) * 1e3)
    return f"search p50 {statistics.median(times):.1f} ms, p95 {statistics.quantiles(times, n=20)[-1]:.1f} ms"


def run(arguments: Sequence[str]) -> None:
    """Measure what is asked for; both when nothing is."""
    parser = argparse.ArgumentParser(description="Measure full-text search over history.")
    parser.add_argument("--only", choices=["found", "latency"], help="measure one of the two")
    parser.add_argument("--counts", default="10000,100000", help="sizes of the log that are measured for latency")
    chosen = parser.parse_args(arguments)
    counts = [int(count) for count in chosen.counts.split(",")]
    if chosen.only != "latency":
        with tempfile.TemporaryDirectory() as folder:
            crowd = Index(Path(folder) / "crowd.db")
            measure_indexing(crowd)
            index = Index(Path(folder) / "index.db")
            measure_locomo(index)
            measure_work(index, user=9)
            print("\nthe same beside twenty other users with 10,000 messages:")
            measure_locomo(crowd)
    if chosen.only != "found":
        measure_latency("talk", Babble.talk, counts)
        measure_latency("work", Babble.work, counts)


if __name__ == "__main__":
    run(sys.argv[1:])
