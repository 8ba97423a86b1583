"""Pages of two servers over one PostgreSQL show the same."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Dashboard, serve_dashboard

from everfold.server.runtime import Runtime

pytestmark = pytest.mark.slow


@pytest.fixture
def dashboards(database_url: str, tmp_path: Path) -> Iterator[list[Dashboard]]:
    """Two servers over an empty database."""
    with ExitStack() as stack:
        folders = [tmp_path / name for name in ("one", "other")]
        for folder in folders:
            folder.mkdir()
        yield [stack.enter_context(serve_dashboard(folder, url=database_url)) for folder in folders]


@pytest.fixture
def pages(dashboards: list[Dashboard], chromium: Browser) -> Iterator[list[Page]]:
    """A page of each, signed in, with an open event stream."""
    with ExitStack() as stack:
        opened = [stack.enter_context(one.own_page(chromium)) for one in dashboards]
        for page in opened:
            expect(page.get_by_text("live", exact=True)).to_be_visible()
        yield opened


def test_two_pages_show_the_same_message(dashboards: list[Dashboard], pages: list[Page]) -> None:
    """What is appended at either server appears in the open log of a page of each, without a reload."""

    async def begin(runtime: Runtime) -> str:
        session = await runtime.engine.session(user="default")
        await session.append({"role": "user", "content": "Good day."})
        return session.id

    session_id = dashboards[0].run(begin)
    for page in pages:
        page.evaluate("place => { location.hash = place }", f"#sessions/{session_id}/log")
        expect(page.locator(".tab-body")).to_contain_text("Good day.")
    for number, (dashboard, page) in enumerate(zip(dashboards, pages, strict=True), 5):
        said = {"messages": [{"role": "user", "content": f"Berth {number} is free."}]}
        dashboard.post(page, f"api/sessions/{session_id}/messages", said)
        for shown in pages:
            expect(shown.locator(".tab-body")).to_contain_text(f"Berth {number} is free.")
            expect(shown.locator(".session-head")).to_contain_text(f"{number - 3} messages")
