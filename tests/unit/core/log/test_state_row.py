"""The row that the state of a session is stored in."""

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.log.calibration import Calibration
from everfold.core.log.growth import Growth
from everfold.core.log.state import Awaited, OpenStep, SessionState, state_from_bytes, state_to_bytes

AT = datetime(2026, 2, 3, 14, 5, 6, 789, tzinfo=UTC)

st_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
st_texts = st.lists(st_text, max_size=4).map(tuple)
st_number = st.integers(0, 10**12)
st_moment = st.none() | st.integers(-(10**9), 10**15).map(lambda micros: AT + timedelta(microseconds=micros))


def _fields_of(kind: object, strategy: st.SearchStrategy[object]) -> dict[str, st.SearchStrategy[object]]:
    return {field.name: strategy for field in fields(SessionState) if field.type == kind}


st_state = st.builds(
    SessionState,
    open_step=st.none() | st.builds(OpenStep, first_seq=st_number, pending=st_texts, answered=st_texts),
    awaited=st.lists(st.builds(Awaited, st_text, st_number, st_number, st.booleans()), max_size=2).map(tuple),
    cache_breaks=st.lists(st.tuples(st_text, st_number), max_size=2).map(tuple),
    calibration=st.builds(Calibration, factor=st.floats(0.5, 2.0), samples_count=st_number),
    growth=st.builds(Growth, tokens=st.floats(0, 1e9), at=st_moment, digest_secs=st.floats(0, 1e3)),
    compaction_id=st_text,
    **_fields_of(int, st_number),
    **_fields_of(tuple[str, ...], st_texts),
    **_fields_of(datetime | None, st_moment),
)


@given(state=st_state)
def test_a_state_reads_back_equal(state: SessionState) -> None:
    """The stored bytes are JSON and hold every field but the revision, every code point of a text and every microsecond."""
    content = state_to_bytes(state)
    json.loads(content.decode("utf-8", "surrogatepass"))
    assert state_from_bytes(content, revision=state.revision) == state


def test_a_row_with_moments_as_text_is_read() -> None:
    """A stored state may give its moments as text and say outright what is as in a new session."""
    content = (
        b'{"last_seq":2,"closed_calls":["c"],"said_before":[],"compaction_id":"","pending_compactions":[],"awaited":[],"cache_breaks":[],'
        b'"open_step":null,"calibration":[1.0,0],"growth":[5.0,"2026-02-03T14:05:06.000789+00:00",0.0],'
        b'"active_at":"2026-02-03T14:05:06.000789+00:00","away_since":null}'
    )
    growth = Growth(tokens=5.0, at=AT)
    expected = SessionState(revision=4, last_seq=2, closed_calls=("c",), growth=growth, active_at=AT)
    assert state_from_bytes(content, revision=4) == expected
