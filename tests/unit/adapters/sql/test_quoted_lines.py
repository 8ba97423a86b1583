"""Extract lines that name their quotes by their places in the message's own JSON."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.adapters.sql.quoted_lines import LONG_BYTES, lines_from_blob, lines_to_blob, sql_quote_lines
from everfold.adapters.sqlite.connection import open_database
from everfold.core.log.lines import find_lines
from everfold.core.log.wire import read_wire
from everfold.core.primitives.json_values import JsonObject, dump_json, encode_json
from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine, to_json
from everfold.errors import InvalidInputError

SAID_AT = datetime(2026, 3, 1, tzinfo=UTC)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=200)
"""Every code point, lone surrogates too."""


def make_line(quote: str, *, start: int = 0, origin: Origin = "user") -> ExtractLine:
    """A line of message 7."""
    return ExtractLine(7, origin, "name", 40, quote, start, standing=False, said_at=SAID_AT)


def read(blob: bytes | None, content: bytes | None, origin: Origin = "user") -> tuple[ExtractLine, ...]:
    """The lines of message 7."""
    return lines_from_blob(blob, content, seq=7, origin=origin, said_at=SAID_AT)


@given(st.lists(TEXTS, max_size=6), TEXTS, st.sampled_from(["user", "external"]))
def test_lines_read_as_they_were(quotes: list[str], more: str, origin: Origin) -> None:
    """Lines come back equal whether or not the message's JSON holds their quotes as they are."""
    lines = tuple(make_line(quote, start=place, origin=origin) for place, quote in enumerate(quotes))
    for content in (encode_json({"content": " ".join([more, *quotes])}), encode_json({"content": more})):
        assert read(lines_to_blob(lines, "user", content), content) == lines


@pytest.mark.parametrize("words_count", [1, 40, 4_000])
def test_lines_of_a_message_read_as_they_were(words_count: int) -> None:
    """What was noted of a short and of a long message comes back; of a long one without its content."""
    wire: JsonObject = {
        "role": "user",
        "content": 'I decided: "Päckchen\n" go to Oslo, never to Bergen. ' * words_count,
    }
    content = encode_json(wire)
    lines = find_lines(read_wire(wire, wire_format="openai"), seq=7, origin="user", said_at=SAID_AT)
    assert lines
    blob = lines_to_blob(lines, "user", content)
    assert read(blob, content if len(content) <= LONG_BYTES else None) == lines


def test_a_quote_takes_its_place_only() -> None:
    """The column of a message that is quoted whole is a small part of the message, as is that of a former release."""
    said = "The spare key of the boathouse hangs behind the third oar, counted from the window on the lake. " * 2
    content = encode_json({"role": "user", "content": said})
    lines = (make_line(said),)
    written_out = dump_json([to_json(line, "user") for line in lines])
    blob = lines_to_blob(lines, "user", content)
    assert blob == sql_quote_lines(written_out, content)
    assert blob is not None
    assert len(blob) * 5 < len(content)
    assert read(written_out, content) == lines


def test_lines_of_damaged_content_are_refused() -> None:
    """A place where no text stands any more is an error that names the message, whatever stands there now."""
    content = encode_json({"content": 'They call it "the kiln".'})
    blob = lines_to_blob((make_line('it "the kiln"'),), "user", content)
    for damaged in (None, content.replace(b"kiln", b"\xff\xff\xff\xff"), content.replace(b'\\"the', b'x"the')):
        with pytest.raises(InvalidInputError, match="message 7"):
            read(blob, damaged)


def test_a_new_file_is_small(tmp_path: Path) -> None:
    """A store without a message takes less than 256 kB, though each of its tables and indexes has a page."""
    path = tmp_path / "new.db"
    open_database(str(path)).close()
    assert path.stat().st_size < 256_000
