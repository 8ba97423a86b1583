"""How often the turn that answers a question is in the window: with recall, in a sliding window, by recall alone.

Every conversation of LoCoMo is a user's one session: all of its turns are said, with a window before every turn of the
assistant. Then each question is asked as the user's next message in a copy of that file, which is thrown away again, so
that no question finds another. A copy rather than a branch, because a branch begins with a snapshot of its own; rather
than an erase, because that takes the snapshot away.

A turn is *in* the window when its message is shown as it is, or when its whole text, spaces and unseen characters apart,
stands in the dynamic suffix. Of a question with several turns the share of them counts.

- The sliding window has the newest messages, the question included, that fit the budget: the limit without the room
  for the answer. Nothing of it goes to a digest, a snapshot or a reserve.
- Recall alone has the question and, in the same budget, the best entries for it out of everything that was said.
"""

import asyncio
import shutil
import statistics
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import everfold
from bench.memory_filling import unsynced
from bench.opening import INLINE_SETTINGS, temporary_folder
from bench.recall import DATA, Question, Turn, read_locomo
from bench.report import Row
from everfold.core.log.messages import Message
from everfold.core.primitives.json_values import clean_text
from everfold.core.recall.packing import RecallCap
from everfold.core.recall.snapshots import DELTA_TITLE
from everfold.core.text.frames import RECALL_TITLE
from everfold.core.text.tokens import estimate_text_tokens
from everfold.core.windows.entries import MessageEntry, RangeEntry, TextEntry
from everfold.core.windows.window import Window
from everfold.engine import Everfold
from everfold.errors import BudgetUnsatisfiableError
from everfold.services.memory.recall import Shown, recall
from everfold.services.sessions.search import MOST_HITS
from everfold.session import Session, iterate_log
from everfold.testing.kit.fakes import FakeClock

LIMITS_TOKENS = (2_000, 4_000, 8_000)
ASKED_COUNTS = {"report, last two": 50, "looked at before, first two": 25, "quick": 15}
"""Questions of each conversation, from all over it; all of them would take ten minutes."""
LEAST_ENTRY_TOKENS = 16
"""What an entry of recall has at least: who said it, when and where."""
SETTINGS = {**INLINE_SETTINGS, "memory": {"system": "structured"}, "recall": {"enabled": True}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Of one question, the share of its evidence turns that each way shows.

    Attributes:
        window: The window with recall on.
        shown: What of that is there without its suffix: as messages.
        anywhere: Its whole text stands anywhere in the window: in digests, the standing instructions or the snapshot as well.
        sliding: A sliding window.
        recalled: Recall alone.
        entries_count: How many entries of recall the window's suffix has.
        delta_tokens: What of the suffix the delta takes before them.
    """

    window: float
    shown: float
    anywhere: float
    sliding: float
    recalled: float
    entries_count: int
    delta_tokens: int


_WAYS = {
    "window": "window with recall",
    "shown": "window with recall, without its suffix",
    "anywhere": "window with recall, anywhere in it",
    "sliding": "sliding window",
    "recalled": "recall alone",
}


def measure_evidence(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """The table: both halves of the file at every limit; a quick run takes the shortest conversation alone."""
    if not (DATA / "locomo-dev.json").exists():
        return [Row(figure="evidence in the window", value="not measured: no EVERFOLD_DATA with locomo-dev.json")], []
    samples = read_locomo()
    halves = {"report, last two": samples[2:4], "looked at before, first two": samples[:2]}
    if is_quick:
        halves = {"quick": samples[1:2]}
    rows: list[Row] = []
    for half, chosen in halves.items():
        for limit_tokens in LIMITS_TOKENS:
            rows += asyncio.run(_measure_half(chosen, half, limit_tokens))
    note = (
        "Evidence: all turns of a LoCoMo conversation are said in one session with a limit, then questions of the "
        "categories 1 to 4, taken evenly, are asked in copies of it. The share of a question's evidence turns that are shown as messages "
        "or with their whole text in the suffix, mean over the questions. The other two ways have the same budget, the "
        "limit without the room for an answer, to themselves."
    )
    return rows, [note]


def pick_evenly(questions: Sequence[Question], count: int) -> list[Question]:
    """So many of them, from all over."""
    step = max(len(questions) / count, 1)
    return [questions[int(at * step)] for at in range(min(count, len(questions)))]


async def _measure_half(samples: Sequence[tuple[str, list[Turn], list[Question]]], half: str, limit: int) -> list[Row]:
    shares: list[Shares] = []
    for name, turns, questions in samples:
        with temporary_folder() as folder, unsynced():
            try:
                said = await _say_all(folder / "said.db", name, turns, limit)
            except BudgetUnsatisfiableError as error:
                smallest = error.ids["smallest_limit_tokens"]
                value = f"no room beside the fixed part; the smallest limit is {smallest} tokens"
                return [Row(figure=f"evidence at {limit:,} tokens, {half}", value=value)]
            asked = pick_evenly(questions, ASKED_COUNTS[half])
            shares += [await said.ask(question, folder / "asked.db") for question in asked]
    at = f"evidence at {limit:,} tokens, {half} ({len(shares)} questions)"
    rows = [
        Row(figure=f"{at}: {title}", value=statistics.fmean(getattr(one, way) for one in shares), digits=3)
        for way, title in _WAYS.items()
    ]
    entries_count = statistics.fmean(one.entries_count for one in shares)
    delta_tokens = statistics.fmean(one.delta_tokens for one in shares)
    return [
        *rows,
        Row(figure=f"{at}: entries of recall in the window, mean", value=entries_count, digits=1),
        Row(figure=f"{at}: delta before them, mean", value=delta_tokens, unit="tokens", digits=0),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A conversation that was said, in a file that is not open.

    Attributes:
        turns: By their names.
        seqs: The sequence number of each turn.
        log: Every message, oldest first.
    """

    path: Path
    user: str
    turns: dict[str, Turn]
    seqs: dict[str, int]
    log: list[Message]
    limit_tokens: int
    asked_at: datetime

    async def ask(self, question: Question, path: Path) -> Shares:
        """Ask in a copy of the file, and look at what is shown."""
        shutil.copyfile(self.path, path)
        for rest in ("-wal", "-shm"):
            path.with_name(path.name + rest).unlink(missing_ok=True)
        async with _open(path, FakeClock(self.asked_at)) as engine:
            session = await engine.session(user=self.user, limit=self.limit_tokens)
            await session.append({"role": "user", "content": question.text}, said_at=self.asked_at)
            window = await session.window()
            asked = (await session.messages(window.report.last_seq, window.report.last_seq))[0]
            left_tokens = window.report.budget_tokens - asked.tokens
            block = await _recall_alone(engine, session, asked, left_tokens)
        seqs, suffix, texts = _read_window(window)
        return Shares(
            window=self._share(question, seqs, suffix),
            shown=self._share(question, seqs, ""),
            anywhere=self._share(question, seqs, texts),
            sliding=self._share(question, _slide(self.log, left_tokens), ""),
            recalled=self._share(question, (), block),
            entries_count=sum(line.startswith("recall: ") for line in window.report.memory),
            delta_tokens=_measure_delta(window),
        )

    def _share(self, question: Question, seqs: Iterable[int], text: str) -> float:
        shown = set(seqs)
        found = [
            self.seqs[name] in shown or (bool(text) and squeeze(self.turns[name].text) in text)
            for name in question.evidence
        ]
        return sum(found) / len(found)


@asynccontextmanager
async def _open(path: Path, clock: FakeClock) -> AsyncIterator[Everfold]:
    async with everfold.open(f"sqlite:///{path}", settings=SETTINGS, clock=clock) as engine:
        yield engine


async def _say_all(path: Path, user: str, turns: Sequence[Turn], limit_tokens: int) -> Said:
    """Say every turn when it was said, with a window where the model would be asked."""
    clock, seqs = FakeClock(turns[0].said_at), dict[str, int]()
    async with _open(path, clock) as engine:
        session = await engine.session(user=user, limit=limit_tokens)
        for turn in turns:
            clock.set(turn.said_at)
            if turn.role == "assistant":
                await session.window()
            wire = {"role": turn.role, "content": turn.text, "name": turn.speaker}
            (seqs[turn.name],) = await session.append(wire, said_at=turn.said_at)
        log = [message async for message in iterate_log(session)]
    return Said(
        path=path,
        user=user,
        turns={turn.name: turn for turn in turns},
        seqs=seqs,
        log=log,
        limit_tokens=limit_tokens,
        asked_at=turns[-1].said_at + timedelta(days=1),
    )


async def _recall_alone(engine: Everfold, session: Session, asked: Message, tokens: int) -> str:
    """The best entries for a question in so many tokens, out of everything but the question itself."""
    record = session.record
    found = await recall(
        engine._store,  # noqa: SLF001 - recall without a window is no call of the engine's own
        asked.view.text,
        user_id=record.user_id,
        agent_id=record.agent_id,
        now=session._clock.now(),  # noqa: SLF001 - the fake clock of this copy
        limit_count=min(MOST_HITS, tokens // LEAST_ENTRY_TOKENS),
        exclude=Shown(session=record, seqs=[asked.seq]),
        cap=RecallCap(chars=tokens * 10, tokens=tokens),
    )
    return squeeze(found.block.text)


def _slide(log: Sequence[Message], left_tokens: int) -> list[int]:
    """The newest messages that fit, without a gap."""
    seqs: list[int] = []
    for message in reversed(log):
        left_tokens -= message.tokens
        if left_tokens < 0:
            break
        seqs.append(message.seq)
    return seqs


def _read_window(window: Window) -> tuple[set[int], str, str]:
    """The messages that are shown as they are, the suffix, and all texts that are not messages, squeezed."""
    seqs: set[int] = set()
    texts: list[str] = []
    suffix = ""
    for entry in window.entries:
        if isinstance(entry, MessageEntry):
            seqs.add(entry.message.seq)
        elif isinstance(entry, RangeEntry):
            seqs.update(message.seq for message in entry.kept)
            texts.append(entry.digest_text)
        elif isinstance(entry, TextEntry):
            texts.append(entry.text)
            suffix = entry.text if entry.slice == "suffix" else suffix
    return seqs, squeeze(suffix), squeeze("\n".join(texts))


def _measure_delta(window: Window) -> int:
    """The tokens of the suffix before recall's own."""
    suffix = next((it.text for it in window.entries if isinstance(it, TextEntry) and it.slice == "suffix"), "")
    return estimate_text_tokens(suffix.partition(RECALL_TITLE)[0]) if suffix.startswith(DELTA_TITLE) else 0


def squeeze(text: str) -> str:
    """The text without what a block of data changes of it: spaces, line ends and characters that are not shown."""
    return " ".join(clean_text(text).split())
