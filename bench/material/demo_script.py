"""Writes the demo's conversation line by line, and keeps the time, the call ids and the planted facts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import TypeAlias

from bench.material.logs import STARTED_AT, EntryLabel, LogEntry, Wire
from bench.material.prose import make_seeded
from everfold.demo.reading import FactKind, PlantedFact

ToolCall: TypeAlias = tuple[str, Mapping[str, object], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoLog:
    """The demo's conversation and what was planted in it.

    Attributes:
        entries: The messages, oldest first; entry 0 has sequence number 1.
        facts: The planted facts in the order of their messages.
    """

    entries: list[LogEntry]
    facts: list[PlantedFact]

    @property
    def messages(self) -> list[Wire]:
        """The wire messages alone."""
        return [entry.wire for entry in self.entries]


class Script:
    """Writes a conversation line by line and keeps the time, the call ids and the planted facts."""

    def __init__(self, seed: int) -> None:
        self.rng: Random = make_seeded(seed)
        self.log = DemoLog(entries=[], facts=[])
        self._now = STARTED_AT
        self._calls_count = 0

    def user(self, text: str, *, label: EntryLabel = "talk") -> None:
        """Let the user speak."""
        self._say({"role": "user", "content": text}, label, self.rng.randrange(40, 400))

    def reply(self, text: str) -> None:
        """Let the assistant answer."""
        self._say({"role": "assistant", "content": text}, "answer", self.rng.randrange(5, 25))

    def tools(self, *calls: ToolCall, text: str | None = None) -> None:
        """Let the assistant make `calls` in parallel and give their results."""
        first = self._calls_count + 1
        self._calls_count += len(calls)
        ids = [f"call_{number:05d}" for number in range(first, first + len(calls))]
        wire_calls = [
            {"id": call_id, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
            for call_id, (tool, arguments, _) in zip(ids, calls, strict=True)
        ]
        self._say({"role": "assistant", "content": text, "tool_calls": wire_calls}, "call", 4)
        for call_id, (_, _, result) in zip(ids, calls, strict=True):
            self._say({"role": "tool", "tool_call_id": call_id, "content": result}, "result", 3)

    def plant(self, label: str, kind: FactKind, needle: str) -> None:
        """Note that the newest message says `needle`; a correction supersedes the last fact of the same label."""
        seq = len(self.log.entries)
        if needle not in str(self.log.entries[-1].wire["content"]):
            raise ValueError(f"message {seq} does not hold the needle {needle!r}")
        if kind == "correction":
            index = max(index for index, fact in enumerate(self.log.facts) if fact.label == label)
            self.log.facts[index] = replace(self.log.facts[index], superseded_by=seq)
        self.log.facts.append(PlantedFact(label=label, seq=seq, needle=needle, kind=kind))

    def plant_tool(self, label: str, needle: str) -> None:
        """Note that one of the newest tool results says `needle`."""
        newest = len(self.log.entries)
        holders = [
            seq for seq in range(newest - 7, newest + 1) if needle in str(self.log.entries[seq - 1].wire["content"])
        ]
        if not holders:
            raise ValueError(f"no result among messages {newest - 7} to {newest} holds the needle {needle!r}")
        seq = holders[0]
        self.log.facts.append(PlantedFact(label=label, seq=seq, needle=needle, kind="tool"))

    def next_day(self) -> None:
        """Let the night pass."""
        self.open_day(self.day + timedelta(days=1))

    def open_day(self, day: date) -> None:
        """Go on in the morning of `day`."""
        morning = datetime.combine(day, time(8), tzinfo=UTC)
        self._now = morning + timedelta(minutes=self.rng.randrange(150))

    @property
    def day(self) -> date:
        """The day of the next message."""
        return self._now.date()

    def _say(self, wire: Wire, label: EntryLabel, wait_secs: int) -> None:
        self.log.entries.append(LogEntry(wire=wire, said_at=self._now, label=label))
        self._now += timedelta(seconds=wait_secs)
