"""LoCoMo: two people who talk over months, in dated sittings.

The file has no roles: ``speaker_a`` is read as the user and ``speaker_b`` as the assistant, with their names kept. A turn
that shared an image has a document of plain text with what the file says about it: a program wrote the caption, so it is
none of the speaker's words. Times have no zone and are read as UTC; the
turns of a sitting are put a minute apart, since only its beginning is dated. The questions (``qa``) are no part of the talk.

Source: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", 2024, and the layout of its data.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from everfold.adapters.transcripts.rows import ANY, Row, Step
from everfold.adapters.transcripts.shape import expect_object, expect_string, name_of, refuse, type_name
from everfold.core.log.transcripts import Conversation, TranscriptMessage
from everfold.core.primitives.json_values import JsonValue

_SITTING = re.compile(r"session_(\d+)")
_DATE = re.compile(r"(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) ([A-Za-z]+),? (\d{4})")
_TURN = timedelta(minutes=1)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def matches(rows: Sequence[Row]) -> bool:
    """Whether the first row is, or holds as ``conversation``, an object with two named speakers."""
    value = rows[0].value
    talk = value.get("conversation", value) if isinstance(value, dict) else None
    return isinstance(talk, dict) and "speaker_a" in talk and "speaker_b" in talk


def read(rows: Sequence[Row], name: str) -> tuple[Conversation, ...]:
    """Read one conversation a sample; a message's label is its ``dia_id``.

    Raises:
        InvalidInputError: With ``line``, where a sample is not what the format says.
    """
    return tuple(_read_sample(row, name, number) for number, row in enumerate(rows, start=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """One sample while it is read: the talk, where it stands in its row, and who speaks."""

    row: Row
    path: tuple[str, ...]
    talk: dict[str, JsonValue]
    role_by_speaker: Mapping[str, str]
    lines: Mapping[tuple[Step, ...], int]


def _read_sample(row: Row, name: str, number: int) -> Conversation:
    fields = expect_object(row.value, "this sample", row.line)
    path = ("conversation",) if "conversation" in fields else ()
    talk = expect_object(fields["conversation"] if path else fields, "`conversation`", row.line)
    sample = _Sample(
        row=row, path=path, talk=talk, role_by_speaker=_roles(talk, row.line), lines=row.lines(*path, ANY, ANY)
    )
    sittings = sorted(int(match[1]) for key in talk if (match := _SITTING.fullmatch(key)))
    messages = tuple(message for sitting in sittings for message in _read_sitting(sample, f"session_{sitting}"))
    return Conversation(name=name_of(fields.get("sample_id"), f"{name}-{number}"), messages=messages)


def _roles(talk: dict[str, JsonValue], line: int) -> dict[str, str]:
    first, second = (expect_string(talk.get(key), f"`{key}`", line) for key in ("speaker_a", "speaker_b"))
    if first == second:
        refuse(line, f"both speakers have the name {first!r}, so their roles cannot be told apart")
    return {first: "user", second: "assistant"}


def _read_sitting(sample: _Sample, key: str) -> Iterator[TranscriptMessage]:
    turns = sample.talk[key]
    if not isinstance(turns, list):
        refuse(sample.row.line_of(*sample.path, key), f"`{key}` is {type_name(turns)}, expected a list")
    began_at = _find_beginning(sample, f"{key}_date_time")
    for index, value in enumerate(turns):
        line = sample.lines.get((*sample.path, key, index), sample.row.line)
        turn = expect_object(value, "this turn", line)
        speaker = expect_string(turn.get("speaker"), "`speaker`", line)
        if speaker not in sample.role_by_speaker:
            expected = " or ".join(sample.role_by_speaker)
            refuse(line, f"the speaker {speaker!r} is not one of this conversation: expected {expected}")
        label = turn.get("dia_id")
        yield TranscriptMessage(
            wire={"role": sample.role_by_speaker[speaker], "name": speaker, "content": _read_content(turn, line)},
            wire_format="openai",
            said_at=None if began_at is None else began_at + index * _TURN,
            line=line,
            labels=() if label is None else (expect_string(label, "`dia_id`", line),),
        )


def _read_content(turn: dict[str, JsonValue], line: int) -> JsonValue:
    text = expect_string(turn.get("text"), "`text`", line)
    urls = turn.get("img_url")
    noted = [("image", "blip_caption", turn.get("blip_caption")), ("searched for", "query", turn.get("query"))]
    noted += [("at", "img_url", url) for url in (urls if isinstance(urls, list) else [urls])]
    shown = [f"{word}: {expect_string(value, f'`{key}`', line)}" for word, key, value in noted if value is not None]
    if not shown:
        return text
    data = base64.b64encode("; ".join(shown).encode()).decode()
    file: JsonValue = {"filename": "image", "file_data": f"data:text/plain;base64,{data}"}
    return [{"type": "text", "text": text}, {"type": "file", "file": file}]


def _find_beginning(sample: _Sample, key: str) -> datetime | None:
    """Find when a sitting began, from a date such as ``1:56 pm on 8 May, 2023``, whatever the locale."""
    date = sample.talk.get(key)
    if date is None:
        return None
    began_at = _parse_date(date) if isinstance(date, str) else None
    if began_at is None:
        line = sample.row.line_of(*sample.path, key)
        refuse(line, f"`{key}` is {json.dumps(date)[:60]}, expected a date of the form '1:56 pm on 8 May, 2023'")
    return began_at


def _parse_date(text: str) -> datetime | None:
    match = _DATE.fullmatch(text.strip())
    if match is None or match[5] not in _MONTHS:
        return None
    hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
    try:
        return datetime(int(match[6]), _MONTHS.index(match[5]) + 1, int(match[4]), hour, int(match[2]), tzinfo=UTC)
    except ValueError:
        return None
