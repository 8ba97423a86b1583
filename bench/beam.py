"""BEAM, chats of 100,000 tokens: one person's work with an assistant whose answers are long, and questions to it.

A folder a chat, named by its number, as in the data set's repository under `chats/100K`: `chat.json` or, where the chat
was cut to its length, `chat_trunecated.json` (spelled so), and `probing_questions/probing_questions.json`. A chat is a
list of batches, each of turns, each of messages with an id; a message without a time has that of the last one before it. The mark
`->-> 1,2` at the end of what the user says is the generator's, and is left out.

A question's evidence is every message id under its `source_chat_ids`; questions without one (abstention) are left out.

Source: Tavakoli et al., "Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs", 2025, and its
repository, mohammadtavakoli78/BEAM. Nothing of it is in ours.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.recall import DATA, Question, Sample, Turn

FOLDERS = ("beam/100K", "beam/chats/100K")
"""Where a chat's folder is looked for, below the folder of the data."""
CHOSEN_ON = tuple(range(1, 11))
REPORT = tuple(range(11, 21))

_CHATS = ("chat_trunecated.json", "chat.json")
_MARK = re.compile(r"\s*->->\s*[\d,]+\s*$")
_FIRST_TIME = datetime(2024, 1, 1, tzinfo=UTC)


def find_beam() -> Path | None:
    """The folder of the chats, where there is one."""
    return next((folder for name in FOLDERS if (folder := DATA / name).is_dir()), None)


def read_beam(folder: Path, numbers: Sequence[int]) -> list[Sample]:
    """Name, messages and questions of each chat."""
    return [
        (f"beam-{number}", list(_read_turns(folder / str(number))), _read_questions(folder / str(number)))
        for number in numbers
    ]


def _read_turns(chat: Path) -> Iterator[Turn]:
    path = next(found for name in _CHATS if (found := chat / name).exists())
    said_at = _FIRST_TIME
    for batch in json.loads(path.read_text("utf-8")):
        for message in (message for turn in batch["turns"] for message in turn):
            said_at = _read_time(message.get("time_anchor")) or said_at
            yield Turn(
                name=str(message["id"]), session=batch["batch_number"], role=message["role"], speaker=message["role"],
                text=_MARK.sub("", message["content"]), said_at=said_at,
            )  # fmt: skip


def _read_time(anchor: str | None) -> datetime | None:
    """A day such as March-15-2024."""
    return datetime.strptime(f"{anchor} +0000", "%B-%d-%Y %z") if anchor else None


def _read_questions(chat: Path) -> list[Question]:
    held: dict[str, list[dict[str, Any]]] = json.loads(
        (chat / "probing_questions" / "probing_questions.json").read_text("utf-8")
    )
    asked = (
        Question(text=one["question"], evidence=frozenset(map(str, _list_ids(one.get("source_chat_ids")))), group=group)
        for group, several in held.items()
        for one in several
    )
    return [question for question in asked if question.evidence]


def _list_ids(value: object) -> Iterator[int]:
    """The message ids in a list, or in the lists of an object."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _list_ids(inner)
