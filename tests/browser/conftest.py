"""A real Chromium for the pages that Everfold writes."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright


# Closed with each module: the sync interface keeps an event loop running, and no async test may meet it.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The machine's Chromium, without a window; a test that needs it is skipped where it is missing."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no chromium on this machine: `make browser` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """An empty page that cannot reach the network: what Everfold writes must stand on its own."""
    with chromium.new_context(offline=True) as context:
        yield context.new_page()
