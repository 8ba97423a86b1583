"""Seeded logs of any length in OpenAI chat format, one entry at a time, so that 200,000 messages need no memory.

The same seed gives the same log on every machine. Sizes are in tokens of four characters for
prose and fewer for records (`prose.TOKEN_CHARS`, `prose.ROW_TOKEN_CHARS`).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Final, Literal, TypeAlias

from bench.material import prose
from bench.material.coding import make_coding_request, make_coding_steps, make_coding_summary

Wire: TypeAlias = dict[str, object]
EntryLabel: TypeAlias = Literal["talk", "standing", "paste", "answer", "call", "result"]

STARTED_AT: Final = datetime(2031, 3, 3, 8, 0, tzinfo=UTC)

# Source: the endless conversation of bench/RESULTS.md; the shares that a long working session shows.
USER_TOKENS: Final = (5, 120)
ANSWER_TOKENS: Final = (50, 400)
RESULT_TOKENS: Final = (50, 1200)
PASTE_TOKENS: Final = 8_000
PASTE_SHARE: Final = 0.01
STANDING_SHARE: Final = 0.05
TOOL_TURN_SHARE: Final = 1 / 3
STEPS_PER_TURN_COUNT: Final = (1, 8)
CALLS_PER_STEP_COUNT: Final = (1, 3)

_TOOLS: Final = ("search_records", "read_document", "list_orders", "fetch_page", "run_report", "lookup_person")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One message of a generated log.

    Attributes:
        wire: The message in OpenAI chat format, safe to change.
        said_at: When it was said, aware, UTC; never falls from entry to entry.
        label: What the generator meant it to be.
    """

    wire: Wire
    said_at: datetime
    label: EntryLabel


class _Clock:
    """The running time and the running call number of one log."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._now = STARTED_AT
        self._calls = count(1)

    def say(self, wire: Wire, label: EntryLabel, *, wait_secs: int = 20) -> LogEntry:
        entry = LogEntry(wire=wire, said_at=self._now, label=label)
        self._now += timedelta(seconds=int(self._rng.random() * wait_secs) + 1)
        return entry

    def next_call_id(self) -> str:
        return f"call_{next(self._calls):06d}"


def endless_log(seed: int, *, messages_count: int) -> Iterator[LogEntry]:
    """Yield exactly `messages_count` entries of a conversation that never ends.

    User messages of 5 to 120 tokens, of which 1 % are pastes of 8,000 tokens and 5 % standing statements; answers of
    50 to 400; a third of the turns with 1 to 8 steps of 1 to 3 parallel calls and results of 50 to 1,200 tokens. The
    last turn is shortened so that no call stays open. O(1) memory; some 9,000 entries a second.
    """
    rng = prose.make_seeded(seed)
    clock = _Clock(rng)
    left_count = messages_count
    while left_count > 0:
        for entry in _turn(rng, clock, left_count):
            yield entry
            left_count -= 1


def one_turn_of_steps(seed: int, *, steps_count: int = 600) -> Iterator[LogEntry]:
    """Yield one user message, then `steps_count` steps of 1 to 3 calls with their results, then the answer."""
    rng = prose.make_seeded(seed)
    clock = _Clock(rng)
    yield clock.say(_user(prose.make_user_text(rng, size_tokens=60)), "talk")
    for _ in range(steps_count):
        yield from _step(rng, clock, _between(rng, CALLS_PER_STEP_COUNT), (20, 300))
    yield clock.say(_assistant(prose.make_answer_text(rng, size_tokens=200)), "answer")


def chat_log(seed: int, *, messages_count: int) -> Iterator[LogEntry]:
    """Yield `messages_count` entries of plain talk, user and assistant in turns, with standing statements."""
    rng = prose.make_seeded(seed)
    clock = _Clock(rng)
    for index in range(messages_count):
        if index % 2:
            yield clock.say(_answer(rng), "answer", wait_secs=3_600)
        else:
            yield _talk(rng, clock)


def coding_log(seed: int, *, turns_count: int = 20) -> Iterator[LogEntry]:
    """Yield `turns_count` turns of a coding agent: paths, errors, diffs and test summaries, then a short answer."""
    rng = prose.make_seeded(seed)
    clock = _Clock(rng)
    for _ in range(turns_count):
        task = make_coding_request(rng)
        yield clock.say(_user(task.request), "talk")
        for calls in make_coding_steps(rng, task):
            yield from _say_step(clock, [(name, arguments, result) for name, arguments, result in calls])
        yield clock.say(_assistant(make_coding_summary(rng, task)), "answer", wait_secs=900)


def _turn(rng: Random, clock: _Clock, room_count: int) -> Iterator[LogEntry]:
    """Yield one turn of at most `room_count` entries."""
    yield _user_entry(rng, clock)
    left_count = room_count - 2
    if rng.random() < TOOL_TURN_SHARE:
        for _ in range(_between(rng, STEPS_PER_TURN_COUNT)):
            calls_count = _between(rng, CALLS_PER_STEP_COUNT)
            if left_count < calls_count + 1:
                break
            yield from _step(rng, clock, calls_count, RESULT_TOKENS)
            left_count -= calls_count + 1
    if room_count > 1:
        yield clock.say(_answer(rng), "answer", wait_secs=1_800)


def _user_entry(rng: Random, clock: _Clock) -> LogEntry:
    if rng.random() >= PASTE_SHARE:
        return _talk(rng, clock)
    intro = prose.make_user_sentence(rng)
    return clock.say(_user(f"{intro}\n\n{prose.make_rows(rng, size_tokens=PASTE_TOKENS)}"), "paste")


def _talk(rng: Random, clock: _Clock) -> LogEntry:
    size_tokens = _between(rng, USER_TOKENS)
    if rng.random() >= STANDING_SHARE / (1 - PASTE_SHARE):
        return clock.say(_user(prose.make_user_text(rng, size_tokens=size_tokens)), "talk")
    return clock.say(_user(prose.make_standing_sentence(rng)), "standing")


def _step(rng: Random, clock: _Clock, calls_count: int, result_tokens: tuple[int, int]) -> Iterator[LogEntry]:
    calls = []
    for _ in range(calls_count):
        arguments = {"query": prose.make_word(rng), "reference": prose.make_identifier(rng)}
        result = prose.make_rows(rng, size_tokens=_between(rng, result_tokens))
        calls.append((_TOOLS[int(rng.random() * len(_TOOLS))], arguments, result))
    yield from _say_step(clock, calls)


def _say_step(clock: _Clock, calls: list[tuple[str, dict[str, str], str]]) -> Iterator[LogEntry]:
    ids = [clock.next_call_id() for _ in calls]
    wire_calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for call_id, (name, arguments, _) in zip(ids, calls, strict=True)
    ]
    yield clock.say({"role": "assistant", "content": None, "tool_calls": wire_calls}, "call")
    for call_id, (_, _, result) in zip(ids, calls, strict=True):
        yield clock.say({"role": "tool", "tool_call_id": call_id, "content": result}, "result")


def _answer(rng: Random) -> Wire:
    return _assistant(prose.make_answer_text(rng, size_tokens=_between(rng, ANSWER_TOKENS)))


def _user(text: str) -> Wire:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Wire:
    return {"role": "assistant", "content": text}


def _between(rng: Random, bounds: tuple[int, int]) -> int:
    low, high = bounds
    return low + int(rng.random() * (high - low + 1))
