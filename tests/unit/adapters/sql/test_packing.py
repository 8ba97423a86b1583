"""Rows that are packed, and older revisions as what changed after them."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.adapters.sql.packing import pack_row, unpack_revisions, unpack_row
from everfold.core.memory.rows import item_to_bytes
from everfold.testing.kit.memory_builders import item

ROWS = st.one_of(
    st.binary(max_size=60).map(lambda tail: b"{" + tail),
    st.text(max_size=3_000).map(lambda said: item_to_bytes(replace(item("itm_1"), statement=said))),
)


@given(ROWS, ROWS)
def test_a_packed_row_reads_as_it_was(row: bytes, newer: bytes) -> None:
    """Any row comes back byte for byte, with and without the one after it, and takes no more room than it did."""
    for after in (b"", newer, newer * 40):
        packed = pack_row(row, after)
        assert unpack_row(packed, after) == row
        assert len(packed) <= len(row)
        assert pack_row(packed, after) == packed


@given(st.lists(ROWS, min_size=1, max_size=6))
def test_revisions_read_as_they_were(rows: list[bytes]) -> None:
    """All revisions of one thing come back in their order, also where some were stored as plain rows."""
    packed = [pack_row(row, newer) for row, newer in pairwise(rows)]
    assert unpack_revisions(packed, pack_row(rows[-1])) == rows
    assert unpack_revisions(rows[:-1], rows[-1]) == rows


@pytest.mark.parametrize("moved", [{"shelf": "archive"}, {"status": "superseded"}, {"confidence": 0.9}])
def test_an_older_revision_takes_what_changed(moved: dict[str, object]) -> None:
    """A revision that differs in one field is stored in a tenth of its row, however long what it says is."""
    older = replace(item("itm_1"), statement="The kiln of the north pier was loaded at dawn. " * 20)
    newer = replace(older, revision=2, **moved)  # type: ignore[arg-type]  # fields of an item
    row = item_to_bytes(older)
    assert len(pack_row(row, item_to_bytes(newer))) * 10 < len(row)
