"""The conversations of `everfold demo`, as the package has them: one message a line, with the facts planted in it."""

import json
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from everfold.core.log.transcripts import TranscriptMessage

FactKind: TypeAlias = Literal["standing", "decision", "correction", "identifier", "in_paste", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFact:
    """Something said once that a reader will want again.

    Attributes:
        label: What it is about; a correction has the label of what it corrects.
        seq: The message that says it, counted from 1.
        needle: An exact substring of that message's text.
        kind: How it was said.
        superseded_by: The message that corrects it, or None while it holds.
    """

    label: str
    seq: int
    needle: str
    kind: FactKind
    superseded_by: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """The demo's conversation and what was planted in it, both in the order of the messages."""

    messages: tuple[TranscriptMessage, ...]
    facts: tuple[PlantedFact, ...]


def read_demo() -> Demo:
    """Read the long conversation that the package has; memory and its topics can be made of it without a model."""
    rows = _read_rows("conversation.jsonl")
    return Demo(
        messages=tuple(_read_message(row, line) for line, row in enumerate(rows, 1)),
        facts=tuple(PlantedFact(seq=seq, **fact) for seq, row in enumerate(rows, 1) for fact in row.get("facts", ())),
    )


def read_short() -> tuple[TranscriptMessage, ...]:
    """Read the short conversation of another user with the same agent."""
    return tuple(_read_message(row, line) for line, row in enumerate(_read_rows("short.jsonl"), 1))


def _read_rows(name: str) -> list[dict[str, Any]]:
    text = files(__package__).joinpath(name).read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def _read_message(row: dict[str, Any], line: int) -> TranscriptMessage:
    said_at = datetime.fromisoformat(row["said_at"])
    return TranscriptMessage(wire=row["message"], wire_format="openai", said_at=said_at, line=line)
