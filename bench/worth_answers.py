"""How many literal answers of LoCoMo stand in a window of 5, 10 and 20 % of the talk, without recall and with it.

A *literal answer* is a part between commas of an answer of the categories 1 and 4, 2 to 24 characters long without
quotes and final stops, that stands in the talk as whole words, whatever the case and the spaces: 297 of them in the
four conversations. A part that several questions have counts for each. It is *in the window* when the same words stand
in any text that is shown, but for the question's own.

Every conversation is a user's one session: all turns are appended with a window before each of the assistant's.
Without recall the window at the end counts. With recall each question is asked as the next user message in a copy of
the file, which is thrown away again, so that no question finds another.

- *Newest messages*: as many as fit the budget, without a gap.
- *Head and tail*: the oldest messages in half of the budget, the newest in the other.
- *Regex*: half of the budget for the newest messages, the other half for the sentences before them with the most
  numbers, dates, names and quotes per token.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from bench.memory_filling import unsynced
from bench.opening import temporary_folder
from bench.recall import DATA, Turn, read_locomo
from bench.report import Row
from bench.worth_baselines import BASELINES
from bench.worth_windows import (
    MEMORY_SETTINGS,
    PLAIN_SETTINGS,
    RECALL_SETTINGS,
    USER,
    Played,
    Scope,
    copy_file,
    fold_case,
    is_over_budget,
    open_at,
    play,
    shown_texts,
    turn_tokens,
)
from everfold.errors import BudgetUnsatisfiableError
from everfold.testing.kit.fakes import FakeClock

LITERAL_CHARS: Final = range(2, 25)
"""So long that an answer is a word or a name. Source: own choice; 297 of the answers of LoCoMo's four talks."""
CATEGORIES: Final = frozenset({1, 4})
LEAST_PLAIN: Final[Mapping[float, float]] = {0.05: 9.0, 0.10: 18.0, 0.20: 32.0}
LEAST_RECALLED: Final[Mapping[float, float]] = {0.05: 65.0, 0.10: 85.0, 0.20: 90.0}
_NAME: Final = "locomo-dev.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and the literal answers that it has."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One conversation with its questions that have a literal answer."""

    name: str
    turns: Sequence[Turn]
    asked: Sequence[Asked]
    tokens: int


@dataclass(slots=True)
class Found:
    """Of some answers, how many stand in a window.

    Attributes:
        raised: By talk, the smallest limit that works, where the share of the talk is less.
    """

    found_count: int = 0
    answers_count: int = 0
    windows_count: int = 0
    over_budget_count: int = 0
    raised: dict[str, int] = field(default_factory=dict)

    @property
    def percent(self) -> float:
        """Found, of all, in percent."""
        return 100 * self.found_count / max(self.answers_count, 1)

    def add(self, texts: Sequence[str], answers: Sequence[str]) -> None:
        """Count the answers that stand in one of the texts."""
        text = fold_case("\n\N{PILCROW SIGN}\n".join(texts))
        self.found_count += sum(is_in(answer, text) for answer in answers)
        self.answers_count += len(answers)


def read_talks(scope: Scope) -> list[Talk]:
    """The conversations of a half with their literal answers."""
    samples = json.loads((DATA / _NAME).read_text("utf-8"))
    talks = [
        _read_talk(name, turns, sample["qa"]) for (name, turns, _), sample in zip(read_locomo(), samples, strict=True)
    ]
    middle = len(talks) // 2
    return talks[:middle] if scope.half == "first" else talks[middle:]


def _read_talk(name: str, turns: Sequence[Turn], questions: Sequence[Mapping[str, Any]]) -> Talk:
    text = fold_case("\n\N{PILCROW SIGN}\n".join(turn.text for turn in turns))
    asked = [
        Asked(text=qa["question"], answers=tuple(_literal_answers(str(qa.get("answer", "")), text)))
        for qa in questions
        if qa["category"] in CATEGORIES
    ]
    return Talk(name=name, turns=turns, asked=[it for it in asked if it.answers], tokens=sum(map(turn_tokens, turns)))


def _literal_answers(answer: str, text: str) -> Iterator[str]:
    for part in answer.split(","):
        literal = fold_case(part.strip(" \"'."))
        if len(literal) in LITERAL_CHARS and is_in(literal, text):
            yield literal


def is_in(answer: str, text: str) -> bool:
    """Whether an answer stands in a text as whole words; both with folded case."""
    return answer in text and re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) is not None


def measure_answers(scope: Scope) -> list[Row]:
    """Literal answers in the window without recall, beside the baselines."""
    if not (DATA / _NAME).exists():
        return [Row(figure="literal answers", value=f"not measured: no EVERFOLD_DATA with {_NAME}")]
    talks = read_talks(scope)
    rows: list[Row] = []
    for share in scope.shares:
        found = asyncio.run(_find_in_windows(talks, share))
        own = _rows("literal answers in the window", scope, share, found, LEAST_PLAIN)
        rows += [*own, *(_baseline_row(own[0].figure, name, talks, share, found) for name in BASELINES)]
    return rows


def _baseline_row(figure: str, name: str, talks: Sequence[Talk], share: float, found: Found) -> Row:
    """The same answers in what a baseline shows in the same budgets."""
    beside = Found()
    for talk in talks:
        budget_tokens = found.raised.get(talk.name, int(talk.tokens * share))
        beside.add(BASELINES[name](talk.turns, budget_tokens), _all_answers(talk))
    return Row(figure=f"{figure}: {name}", value=beside.percent, unit="%", digits=1)


def measure_recall(scope: Scope) -> list[Row]:
    """Literal answers in the window in which their question was asked, with recall of the session alone."""
    return _measure_asked(scope, "literal answers with recall", RECALL_SETTINGS)


def measure_recall_with_memory(scope: Scope) -> list[Row]:
    """The same with structured memory."""
    return _measure_asked(scope, "literal answers with recall and structured memory", MEMORY_SETTINGS)


def _measure_asked(scope: Scope, title: str, settings: Mapping[str, object]) -> list[Row]:
    if not (DATA / _NAME).exists():
        return [Row(figure=title, value=f"not measured: no EVERFOLD_DATA with {_NAME}")]
    talks = read_talks(scope)
    rows: list[Row] = []
    for share in scope.shares:
        found = asyncio.run(_find_with_recall(talks, share, settings))
        rows += _rows(title, scope, share, found, LEAST_RECALLED)
    return rows


def _rows(title: str, scope: Scope, share: float, found: Found, least: Mapping[float, float]) -> list[Row]:
    at = f"{title} at {share:.0%}, {scope.half} half ({found.answers_count} answers)"
    over = f"{title} at {share:.0%}: windows over the budget, of {found.windows_count:,}"
    rows = [
        Row(figure=at, value=found.percent, unit="%", least=least.get(share), digits=1),
        Row(figure=over, value=float(found.over_budget_count), most=0, digits=0),
    ]
    if found.raised:
        limits = ", ".join(f"{name} {limit:,}" for name, limit in found.raised.items())
        rows.append(Row(figure=f"{title} at {share:.0%}: played at the smallest limit that works", value=limits))
    return rows


def _all_answers(talk: Talk) -> list[str]:
    return [answer for asked in talk.asked for answer in asked.answers]


async def _find_in_windows(talks: Sequence[Talk], share: float) -> Found:
    found = Found()
    for talk in talks:
        with temporary_folder() as folder, unsynced():
            played = await _play(folder, talk, share, PLAIN_SETTINGS, found)
        found.add(shown_texts(played.window), _all_answers(talk))
    return found


async def _find_with_recall(talks: Sequence[Talk], share: float, settings: Mapping[str, object]) -> Found:
    found = Found()
    for talk in talks:
        with temporary_folder() as folder, unsynced():
            played = await _play(folder, talk, share, settings, found)
            for asked in talk.asked:
                texts = await _ask(played, asked, folder / "asked.db", settings, found)
                found.add(texts, asked.answers)
    return found


async def _play(folder: Path, talk: Talk, share: float, settings: Mapping[str, object], found: Found) -> Played:
    """Play a talk at a share of its tokens, or at the smallest limit that works where that is more."""
    try:
        played = await play(folder / "said.db", talk.turns, int(talk.tokens * share), settings)
    except BudgetUnsatisfiableError as error:
        smallest_tokens = int(error.ids["smallest_limit_tokens"])
        found.raised[talk.name] = smallest_tokens
        played = await play(folder / "raised.db", talk.turns, smallest_tokens, settings)
    found.windows_count += played.windows_count
    found.over_budget_count += played.over_budget_count
    return played


async def _ask(played: Played, asked: Asked, path: Path, settings: Mapping[str, object], found: Found) -> list[str]:
    """What is shown when a question is asked in a copy of the file, without the question."""
    copy_file(played.path, path)
    asked_at = played.last_said_at + timedelta(days=1)
    async with open_at(path, FakeClock(asked_at), settings) as engine:
        session = await engine.session(user=USER, limit=played.limit_tokens)
        (seq,) = await session.append({"role": "user", "content": asked.text}, said_at=asked_at)
        window = await session.window()
    found.windows_count += 1
    found.over_budget_count += is_over_budget(window)
    return shown_texts(window, without_seq=seq)
