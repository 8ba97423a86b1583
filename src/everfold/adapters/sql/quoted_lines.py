"""Extract lines as a column: a quote is named by its place in the JSON of its message, which the row has beside it.

A line quotes its message word for word, and all lines of a message together are most of it. So a row says where in the
stored bytes a quote begins and how long it is there. A quote that does not stand there as it is (in an attachment, in the
arguments of a call) is written out, and so is each of a long message, so that its lines are read without all of it.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final, cast

from everfold.adapters.sql.database import SqlValue
from everfold.adapters.sql.packed_messages import unpack_message
from everfold.core.primitives.json_values import dump_json
from everfold.core.primitives.origins import Origin
from everfold.core.statements.extracts import ExtractLine, from_json, to_json

LONG_BYTES: Final = 8_192
"""Quotes of longer messages are written out: there they are a seventh of it. Source: our measurement, 6 logs of coding agents."""
_COLUMNS: Final = 5
_QUOTE: Final = 3


def lines_to_blob(lines: Sequence[ExtractLine], origin: Origin, content: bytes) -> bytes | None:
    """Extract lines as a blob, given their message's JSON; a line of another origin names it. None for none."""
    return _write([to_json(line, origin) for line in lines], content) if lines else None


def lines_from_blob(
    blob: object, content: object, *, seq: int, origin: Origin, said_at: datetime
) -> tuple[ExtractLine, ...]:
    """The lines that `lines_to_blob` wrote, given the same JSON, which may be None where it is longer than `LONG_BYTES`.

    Raises:
        InvalidInputError: the blob, or the JSON that it points into, is damaged.
    """
    if blob is None:
        return ()
    plain = unpack_message(content)
    return tuple(
        from_json(
            [*row[:_QUOTE], _read_quote(row[_QUOTE], plain), *row[_QUOTE + 1 : _COLUMNS]],
            seq=seq,
            origin=cast("Origin", row[_COLUMNS]) if len(row) > _COLUMNS else origin,
            said_at=said_at,
        )
        for row in _load(unpack_message(blob))
    )


def sql_quote_lines(*values: SqlValue) -> SqlValue:
    """The blob of a message's lines as migrations call for it: of one with its quotes written out, and the JSON."""
    blob, content = map(unpack_message, values)
    return _write(_load(blob), content) if isinstance(blob, bytes) and isinstance(content, bytes) else values[0]


def _load(blob: object) -> list[list[object]]:
    return cast("list[list[object]]", json.loads(cast("bytes", blob).decode("utf-8", "surrogatepass")))


def _write(rows: list[list[object]], content: bytes) -> bytes:
    if len(content) <= LONG_BYTES:
        for row in rows:
            spelled = dump_json(row[_QUOTE])[1:-1]
            if isinstance(row[_QUOTE], str) and (begin := content.find(spelled)) >= 0:
                row[_QUOTE] = [begin, len(spelled)]
    return dump_json(rows)


def _read_quote(quote: object, content: object) -> object:
    """A quote that is written out, or else the one that its place has; what stands there as no text stays a place."""
    if not isinstance(quote, list) or not isinstance(content, bytes):
        return quote
    try:
        begin, count = quote
        spelled = content[begin : begin + count]
        return str(json.loads(b'"%b"' % spelled)) if b"\\" in spelled else spelled.decode("utf-8", "surrogatepass")
    except (TypeError, ValueError):
        return quote
