"""Pages of a message's text, and their parts."""

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.log.pages import count_pages, cut_page, split_page
from everfold.core.log.visible import PAGE_CHARS
from everfold.core.text.tokens import estimate_text_tokens

TEXTS = st.one_of(
    st.text(max_size=400), st.text(alphabet="ab \n", max_size=900), st.text(alphabet="日本語", max_size=300)
)


@given(TEXTS, st.integers(1, 60))
def test_the_parts_are_the_page(page: str, cap_tokens: int) -> None:
    """Joined, the parts of a page are the page, and none but a single character is above the cap."""
    parts = split_page(page, cap_tokens)
    assert "".join(parts) == page
    assert parts
    assert all(estimate_text_tokens(part) <= cap_tokens or len(part) == 1 for part in parts)


@given(st.text(max_size=50), st.integers(0, 900))
def test_the_pages_are_the_text(line: str, times: int) -> None:
    """Joined, the pages of a text are the text, each of the length that the visible form counts in."""
    text = line * times
    pages = [cut_page(text, page) for page in range(1, count_pages(text) + 1)]
    assert "".join(pages) == text
    assert all(len(page) == PAGE_CHARS for page in pages[:-1])
    assert cut_page(text, len(pages) + 1) == ""
