"""Files of benchmarks are read as their projects write them, and refused with a line where they are broken."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench.transcripts.reading import read_transcript

from everfold.core.log.messages import DocumentPart, TextPart
from everfold.core.log.transcripts import Conversation
from everfold.core.log.wire import read_wire
from everfold.errors import InvalidInputError

FIXTURES = Path(__file__).parents[2] / "data" / "benchmarks"


def _only(name: str) -> Conversation:
    (conversation,) = read_transcript(FIXTURES / name).conversations
    return conversation


@pytest.mark.parametrize(("name", "format_name"), [("locomo.json", "locomo"), ("tau_bench.json", "tau-bench")])
def test_format_is_found_by_content(name: str, format_name: str) -> None:
    """Each format is told by what the file holds."""
    assert read_transcript(FIXTURES / name).format == format_name


def test_other_formats_are_those_of_the_package() -> None:
    """A file that no benchmark wrote is read as the package reads it."""
    assert read_transcript(FIXTURES.parent / "transcripts" / "sharegpt.json").format == "sharegpt"


def test_tau_bench_messages_are_those_of_the_run() -> None:
    """A run is a conversation with its own messages, each labelled by its index."""
    conversation = _only("tau_bench.json")
    given = json.loads((FIXTURES / "tau_bench.json").read_bytes())[0]["traj"]
    assert conversation.name == "tau_bench-task-4-trial-1"
    assert [(message.wire, message.label) for message in conversation.messages] == [
        (wire, str(index)) for index, wire in enumerate(given)
    ]


def test_locomo_turns_are_dated_named_and_in_order_of_sittings() -> None:
    """Sittings come in the order of their numbers, a minute a turn from their date, with speakers as roles and names."""
    conversation = _only("locomo.json")
    assert [(message.label, message.wire["role"], message.wire["name"]) for message in conversation.messages] == [
        ("D1:1", "user", "Ana"),
        ("D1:2", "assistant", "Ivo"),
        ("D10:1", "assistant", "Ivo"),
    ]
    assert [message.said_at for message in conversation.messages] == [
        datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        datetime(2024, 2, 29, 12, 31, tzinfo=UTC),
        datetime(2024, 3, 1, 0, 5, tzinfo=UTC),
    ]
    view = read_wire(conversation.messages[1].wire)
    assert view.name == "Ivo"
    text, image = view.parts
    assert isinstance(text, TextPart)
    assert isinstance(image, DocumentPart)
    assert text.text == "A quince, look."
    told = ("a young tree in a pot", "quince sapling", "https://example.org/quince.jpg")
    assert all(part in image.text for part in told)


@pytest.mark.parametrize(
    ("name", "line", "reason"), [("bad_date.json", 4, "yesterday"), ("stranger.json", 10, "'Eva'")]
)
def test_a_broken_talk_is_refused_with_line_and_reason(name: str, line: int, reason: str) -> None:
    """A date of another form and a speaker of no role are refused with their line."""
    with pytest.raises(InvalidInputError, match=reason) as refused:
        read_transcript(FIXTURES / name)
    assert refused.value.ids["line"] == line


@pytest.mark.parametrize(("key", "wrong"), [("session_1", 5), ("session_10_date_time", "30:70 pm on 31 June, 2024")])
def test_line_of_a_wrong_value_is_its_own(key: str, wrong: object, tmp_path: Path) -> None:
    """A fault outside the turns is reported on the line where the wrong value begins."""
    document = json.loads((FIXTURES / "locomo.json").read_bytes())
    document[0]["conversation"][key] = wrong
    text = json.dumps(document, indent=2)
    (tmp_path / "talk.json").write_text(text, "utf-8")
    with pytest.raises(InvalidInputError) as refused:
        read_transcript(tmp_path / "talk.json")
    reported = refused.value.ids["line"]
    assert isinstance(reported, int)
    assert text.split("\n")[reported - 1].lstrip().startswith(f'"{key}":')


@pytest.mark.parametrize(
    ("name", "conversation_count", "message_count"), [("locomo-dev.json", 4, 2080), ("tau-airline-dev.jsonl", 80, 2280)]
)
def test_real_files_are_read_whole(real_data: Path, name: str, conversation_count: int, message_count: int) -> None:
    """Real files are read with every message, and each message's line holds its beginning."""
    if not (real_data / name).is_file():
        pytest.skip(f"{name} is not in the folder of real conversations")
    conversations = read_transcript(real_data / name).conversations
    lines = (real_data / name).read_text(encoding="utf-8").split("\n")
    messages = [message for conversation in conversations for message in conversation.messages]
    assert (len(conversations), len(messages)) == (conversation_count, message_count)
    assert all(lines[message.line - 1].lstrip().startswith("{") for message in messages)
    assert all(message.label for message in messages)
    assert name != "locomo-dev.json" or all(message.said_at for message in messages)
