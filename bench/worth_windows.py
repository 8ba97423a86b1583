"""Talks played into one session under a small budget, and what stands in the window at their end."""

import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import everfold
from bench.recall import Turn
from everfold.core.observation.costs import UNIT_PRICES, Prices
from everfold.core.primitives.json_values import clean_text
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens
from everfold.core.windows.entries import MessageEntry, RangeEntry, TextEntry
from everfold.core.windows.parts import show_text
from everfold.core.windows.window import Window
from everfold.engine import Everfold
from everfold.session import Session
from everfold.testing.kit.fakes import FakeClock

PLAIN_SETTINGS: Mapping[str, Mapping[str, object]] = {
    "model": {"answer_tokens": 0},
    "compaction": {"synchronous": True},
    "recall": {"enabled": False},
}
"""No model, compactions inline, no tokens for an answer (limit and budget are equal), no recall; the rest as it comes."""

RECALL_SETTINGS: Mapping[str, Mapping[str, object]] = {**PLAIN_SETTINGS, "recall": {"enabled": True}}
MEMORY_SETTINGS: Mapping[str, Mapping[str, object]] = {**RECALL_SETTINGS, "memory": {"system": "structured"}}
USER = "worth"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is measured: a half of each data set, and budgets as shares of a talk; whether misses are printed; prices."""

    half: Literal["first", "second"] = "first"
    shares: tuple[float, ...] = (0.05, 0.10, 0.20)
    tells_misses: bool = False
    prices: Prices = UNIT_PRICES


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A talk that was played into a file that is closed again.

    Attributes:
        window: The window after the last turn.
        over_budget_count: Windows that were larger than their budget, of all.
    """

    path: Path
    limit_tokens: int
    last_said_at: datetime
    window: Window
    windows_count: int
    over_budget_count: int


@asynccontextmanager
async def open_at(path: Path, clock: FakeClock, settings: Mapping[str, object]) -> AsyncIterator[Everfold]:
    """An engine over a file with a clock of its own."""
    async with everfold.open(f"sqlite:///{path}", settings=settings, clock=clock) as engine:
        yield engine


async def play(path: Path, turns: Sequence[Turn], limit_tokens: int, settings: Mapping[str, object]) -> Played:
    """Append every turn when it was said, with a window before each of the assistant's and one at the end.

    Raises:
        BudgetUnsatisfiableError: no window can fit the limit.
    """
    clock = FakeClock(turns[0].said_at)
    async with open_at(path, clock, settings) as engine:
        session = await engine.session(user=USER, limit=limit_tokens)
        windows_count, over_budget_count = 0, 0
        for turn in turns:
            clock.set(turn.said_at)
            if turn.role == "assistant":
                window = await session.window()
                windows_count += 1
                over_budget_count += is_over_budget(window)
            await append_turn(session, turn)
        window = await session.window()
    return Played(
        path=path,
        limit_tokens=limit_tokens,
        last_said_at=turns[-1].said_at,
        window=window,
        windows_count=windows_count + 1,
        over_budget_count=over_budget_count + is_over_budget(window),
    )


async def append_turn(session: Session, turn: Turn) -> int:
    """Append one turn; gives its sequence number."""
    wire = {"role": turn.role, "content": turn.text, "name": turn.speaker}
    (seq,) = await session.append(wire, said_at=turn.said_at)
    return seq


def is_over_budget(window: Window) -> bool:
    """Whether a window is larger than its budget."""
    return window.report.tokens > window.report.budget_tokens


def copy_file(path: Path, target: Path) -> Path:
    """A copy of a database that is closed, in the place of an older copy."""
    for rest in ("-wal", "-shm"):
        target.with_name(target.name + rest).unlink(missing_ok=True)
    shutil.copyfile(path, target)
    return target


def shown_texts(window: Window, *, without_seq: int | None = None) -> list[str]:
    """Every text of a window in order, each as it is shown; one message may be left out."""
    texts: list[str] = []
    for entry in window.entries:
        match entry:
            case MessageEntry() if entry.message.seq != without_seq:
                texts.append(show_text(entry.message))
            case RangeEntry():
                texts += [*entry.asked.values(), *map(show_text, entry.kept)]
                texts.append(entry.digest_text)
            case TextEntry():
                texts.append(entry.text)
            case _:
                pass
    return texts


def standing_text(window: Window) -> str:
    """The standing instructions of a window."""
    return "\n".join(it.text for it in window.entries if isinstance(it, TextEntry) and it.slice == "standing")


def fold_case(text: str) -> str:
    """The text in one case, with single spaces and without characters that are not shown."""
    return " ".join(clean_text(text).split()).casefold()


def turn_tokens(turn: Turn) -> int:
    """What a turn takes in a window, by the fixed estimate."""
    return estimate_text_tokens(turn.text) + MESSAGE_OVERHEAD_TOKENS
