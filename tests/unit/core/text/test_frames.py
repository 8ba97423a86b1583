"""The fence around text from outside: its marks cannot be forged, copied or cut off."""

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.text.frames import NOTE_TOKENS, continuity_note, fence_untrusted, fence_within
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens

ANY_TEXT = st.text(st.characters(exclude_categories=()))
MARKS = st.lists(st.sampled_from(["<", ">", "\uff1c", "\uff1e", "end untrusted", " ", "a"]), max_size=60).map("".join)


@given(text=ANY_TEXT | MARKS)
def test_only_the_first_and_last_line_are_marks(text: str) -> None:
    """However many brackets a text has in a row, wide ones too, three of them never stand together inside the fence."""
    first, *body, last = fence_untrusted(text, source="outside", key="s1").split("\n")
    plain = "\n".join(body).replace("\uff1c", "<").replace("\uff1e", ">")
    assert first.startswith("<<<untrusted ")
    assert last.startswith("<<<end untrusted ")
    assert "<<<" not in plain
    assert ">>>" not in plain


@given(text=ANY_TEXT | MARKS, most_chars=st.integers(0, 400))
def test_a_capped_fence_is_whole_or_nothing(text: str, most_chars: int) -> None:
    """Whatever the cap, both marks stand, the marks are those of the uncapped fence, and the cap holds."""
    whole = fence_untrusted(text, source="calendar", key="s1")
    fenced = fence_within(text, source="calendar", key="s1", most_chars=most_chars)
    assert len(fenced) <= most_chars
    if fenced:
        assert fenced.split("\n")[0] == whole.split("\n")[0]
        assert fenced.split("\n")[-1] == whole.split("\n")[-1]
        assert fenced == whole or "more characters left out]" in fenced
    assert fenced or len(whole) > most_chars


def test_a_cut_is_counted_inside_the_fence() -> None:
    """What is left out is named with its number of characters, before the closing mark."""
    fenced = fence_within("word " * 100, source="mail", key="s1", most_chars=250)
    first, body, last = fenced.split("\n")
    kept, count = body.removesuffix(" more characters left out]").split(" [... ")
    assert len(kept) + int(count) == 500
    assert len(fenced) <= 250
    assert (first[:12], last[:7]) == ("<<<untrusted", "<<<end ")


@given(text=ANY_TEXT)
def test_marks_depend_on_session_and_text(text: str) -> None:
    """The same text has the same marks in one session, others in another session, and others with one letter more."""
    fenced = fence_untrusted(text, source="outside", key="s1")
    assert fence_untrusted(text, source="outside", key="s1") == fenced
    marks = {
        fence_untrusted(other, source="outside", key=key).split("\n")[-1]
        for other, key in ((text, "s1"), (text, "s2"), (f"{text}a", "s1"))
    }
    assert len(marks) == 3


@given(st.lists(st.integers(1, 9_999_999), unique=True, max_size=20).map(sorted))
def test_a_continuity_note_stays_within_its_reserve(bounds: list[int]) -> None:
    """Whatever the ranges, the note with its message's frame is within its reserve and names the first and the last."""
    ranges = list(zip(bounds[::2], bounds[1::2], strict=False))
    note = continuity_note(ranges)
    assert estimate_text_tokens(note) + MESSAGE_OVERHEAD_TOKENS <= NOTE_TOKENS
    assert bool(note) == bool(ranges)
    assert all(str(seq) in note for seq in (*ranges[0][:1], *ranges[-1][1:])) if ranges else not note


def test_neighbours_are_named_as_one() -> None:
    """Ranges that follow each other are one, two apart are two, more are the stretch from the first to the last."""
    assert continuity_note([(1, 8), (9, 20)]).startswith("[Messages 1-20 left")
    assert continuity_note([(1, 8), (11, 11)]).startswith("[Messages 1-8 and message 11 left")
    assert continuity_note([(1, 2), (4, 5), (7, 9)]).startswith("[Messages 1-9 left")
