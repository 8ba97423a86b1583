"""Pages are looked at in a browser that runs them and reaches nothing."""

from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, expect


def test_runs_a_page_from_a_file(page: Page, tmp_path: Path) -> None:
    """A page that lies in a file is shown, and its script has run."""
    path = tmp_path / "page.html"
    path.write_text("<p id=a>before</p><script>a.textContent = 'after \u2026 折'</script>", "utf-8")
    page.goto(path.as_uri())
    expect(page.locator("#a")).to_have_text("after \u2026 折")


def test_reaches_no_network(page: Page) -> None:
    """A page that needs something from elsewhere fails to get it."""
    with pytest.raises(Error, match="ERR_INTERNET_DISCONNECTED"):
        page.goto("http://192.0.2.1/")
