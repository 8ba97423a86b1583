"""The pages can be found, hold together, and stay short."""

import re
from pathlib import Path

import pytest
from tests.docs_site import OUTSIDE, list_navigation, list_places, move_links

import everfold

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"
PROSE = [
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
    *sorted(
        page
        for page in DOCS.rglob("*.md")
        if page.parent.name not in {"adr", "reference"} and page.name != "contents.md"
    ),
]
"""Every page that tells something, those of the reference, the decisions and the list of pages apart."""

MOST_WORDS = 15_000
README_LINES = 60
LOOP_LINES = 15


def count_words(text: str) -> int:
    """The words of a page without code blocks, comments, the targets of links and the names of tests."""
    text = re.sub(r"(?ms)^```.*?^```$|<!--.*?-->|`tests/[^`]*`", "", text)
    return len(re.findall(r"[^\W_][\w'./`-]*", re.sub(r"\]\([^)]*\)", "]", text)))


def test_the_prose_stays_short() -> None:
    """All pages together hold no more words than can be read in an hour."""
    counts = {str(page.relative_to(PROJECT)): count_words(page.read_text("utf-8")) for page in PROSE}
    assert sum(counts.values()) <= MOST_WORDS, sorted(counts.items(), key=lambda it: -it[1])


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Read it, [then](a/b.md) don't.", 4),
        ("`memory.review = true` is one", 4),
        ("a\n\n```text\nb c d\n```\n\n<!-- e f -->\ng", 2),
        ("| key | `a.b` |\n| --- | --- |", 2),
        ("- **Proof**: `tests/a.py::test_b`,\n  `tests/c.py::test_d`", 1),
    ],
)
def test_counts_words(text: str, count: int) -> None:
    """Words of text, tables and code in a line count; blocks, comments, marks and targets do not."""
    assert count_words(text) == count


def test_the_readme_fits_a_screen() -> None:
    """The first page is short, and so is the program that it shows."""
    text = (PROJECT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= README_LINES
    loop = re.search(r"(?ms)^```python run model\n(.*?)^```$", text)
    assert loop
    assert len(loop[1].splitlines()) <= LOOP_LINES


def test_every_page_is_in_the_contents() -> None:
    """Every page but the contents and the decisions below the first is listed there, once."""
    listed = [path for _, pages in list_navigation() for _, path in pages]
    pages = {page for page in DOCS.rglob("*.md") if page.parent.name != "adr"} - {DOCS / "contents.md"}
    assert pages <= set(listed), "add a line to docs/contents.md"
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(list_places())


def test_every_public_name_is_on_the_page_of_python() -> None:
    """The Python reference has every public name, those of the blocking face and the module of errors apart."""
    text = (DOCS / "reference" / "python.md").read_text("utf-8")
    named = re.findall(r"^::: everfold\.(\w+)$", text, re.MULTILINE)
    assert sorted(named) == sorted(name for name in everfold.__all__ if name[:4] != "Sync" and name != "errors")


def test_links_follow_their_pages() -> None:
    """A link is led to the place of its file on the site; one to a file that is no page loses its target."""
    places = list_places()
    page = DOCS / "how-to" / "serve.md"
    text = "[a](api.md#x) [b](../../CONTRIBUTING.md) [c](../../Makefile) [d](https://x.y) [e](#z)\n```sh run\n[f](api.md)\n```\n"
    assert move_links(text, page, places) == (
        "[a](api.md#x) [b](../contributing.md) [c](#) [d](https://x.y) [e](#z)\n```sh\n[f](api.md)\n```\n"
    )
    assert all((PROJECT / name).exists() for name in OUTSIDE)
