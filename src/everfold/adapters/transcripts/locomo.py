"""LoCoMo: two people who talk over months, in dated sittings.

The file has no roles: ``speaker_a`` is read as the user and ``speaker_b`` as the assistant, with their names kept. A turn
that shared an image gets a bracketed line with what the file says about it. Times have no zone and are read as UTC; the
turns of a sitting are put a minute apart, since only its beginning is dated. The questions (``qa``) are no part of the talk.

Source: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", 2024, and the layout of its data.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from everfold.adapters.transcripts.rows import ANY, Row, Step
from everfold.adapters.transcripts.shape import expect_list, expect_object, expect_string, name_of, refuse
from everfold.adapters.transcripts.transcript import Conversation, TranscriptMessage
from everfold.core.json_values import JsonValue

_SITTING = re.compile(r"session_(\d+)")
_DATE = re.compile(r"(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) ([A-Za-z]+),? (\d{4})")
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


def _read_sample(row: Row, name: str, number: int) -> Conversation:
    sample = expect_object(row.value, "this sample", row.line)
    path = ("conversation",) if "conversation" in sample else ()
    talk = expect_object(sample["conversation"] if path else sample, "`conversation`", row.line)
    roles = {
        expect_string(talk.get(key), f"`{key}`", row.line): role
        for key, role in (("speaker_a", "user"), ("speaker_b", "assistant"))
    }
    if len(roles) == 1:
        refuse(row.line, f"both speakers have the name {next(iter(roles))!r}, so their roles cannot be told apart")
    lines = row.lines(*path, ANY, ANY)
    numbers = sorted(int(match[1]) for key in talk if (match := _SITTING.fullmatch(key)))
    messages = tuple(
        message
        for sitting in numbers
        for message in _read_sitting(talk, f"session_{sitting}", roles, lines, path, row.line)
    )
    return Conversation(name=name_of(sample.get("sample_id"), f"{name}-{number}"), messages=messages)


def _read_sitting(
    talk: dict[str, JsonValue],
    key: str,
    roles: Mapping[str, str],
    lines: Mapping[tuple[Step, ...], int],
    path: tuple[str, ...],
    row_line: int,
) -> Iterator[TranscriptMessage]:
    date = talk.get(f"{key}_date_time")
    turns = expect_list(talk[key], f"`{key}`", row_line)
    first_line = lines.get((*path, key, 0), row_line)
    began_at = None if date is None else _parse_date(expect_string(date, f"`{key}_date_time`", first_line), first_line)
    for index, value in enumerate(turns):
        line = lines.get((*path, key, index), row_line)
        turn = expect_object(value, "this turn", line)
        speaker = expect_string(turn.get("speaker"), "`speaker`", line)
        if speaker not in roles:
            refuse(line, f"the speaker {speaker!r} is not one of this conversation: expected {' or '.join(roles)}")
        label = turn.get("dia_id")
        yield TranscriptMessage(
            wire={"role": roles[speaker], "name": speaker, "content": _text_of(turn, line)},
            wire_format="openai",
            said_at=None if began_at is None else began_at + timedelta(minutes=index),
            line=line,
            label=None if label is None else expect_string(label, "`dia_id`", line),
        )


def _text_of(turn: dict[str, JsonValue], line: int) -> str:
    text = expect_string(turn.get("text"), "`text`", line)
    urls = turn.get("img_url")
    noted = [("image", turn.get("blip_caption")), ("searched for", turn.get("query"))]
    noted += [("at", url) for url in (urls if isinstance(urls, list) else [urls])]
    image = "; ".join(f"{what}: {expect_string(value, what, line)}" for what, value in noted if value is not None)
    return f"{text}\n[{image}]" if image else text


def _parse_date(text: str, line: int) -> datetime:
    """Read a date such as ``1:56 pm on 8 May, 2023``, whatever the locale."""
    match = _DATE.fullmatch(text.strip())
    if match is None or match[5].capitalize() not in _MONTHS:
        refuse(line, f"the date {text!r} is not of the form '1:56 pm on 8 May, 2023'")
    hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
    month = _MONTHS.index(match[5].capitalize()) + 1
    try:
        return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]), tzinfo=UTC)
    except ValueError as error:
        refuse(line, f"the date {text!r} does not exist ({error})")
