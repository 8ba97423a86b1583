"""A real Chromium for the pages that Everfold writes, and a real server for its dashboard."""

import asyncio
import shutil
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
import uvicorn
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, ViewportSize, expect, sync_playwright
from tests.support.sizes import some

from everfold.ports.system import Clock
from everfold.server.app import make_app
from everfold.server.opening import open_runtime
from everfold.server.runtime import Runtime

T = TypeVar("T")

READY_SECS: Final = 300
PATIENCE_MS: Final = 60_000
"""How long a page may take for anything: a machine that does other things beside is slow."""
SCREEN: Final[ViewportSize] = {"width": 1280, "height": 800}
expect.set_options(timeout=PATIENCE_MS)
CONFIG: Final = """\
# the settings of a small shop
[compaction]
synchronous = true

[memory]
system = "structured"

[agents.shop]
# speaks politely
context_limit = 16000
instructions = "You help in a shop."
"""


def find_chromium() -> str | None:
    """The machine's Chromium. By day the one that has no windows at all, which takes a third less of the processor."""
    names = some(("chromium", "chromium-browser"), ("chromium-headless-shell", "chromium", "chromium-browser"))
    return next(filter(None, map(shutil.which, names)), None)


# Closed with each module: the sync interface keeps an event loop running, and no async test may meet it.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The machine's Chromium, without a window; a test that needs it is skipped where it is missing."""
    path = find_chromium()
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


@dataclass(frozen=True, kw_only=True)
class Dashboard:
    """A server of the real app on a free port of this machine, in a thread of its own.

    Attributes:
        url: Where the dashboard is.
        secret: Of a key that may do everything.
        config: The settings file.
        runtime: What is served; use it on the server's own loop only, with `run`.
        loop: The server's own.
        spare: Pages that tests are done with, for others: a new one takes Chromium a second.
    """

    url: str
    secret: str
    config: Path
    runtime: Runtime
    loop: asyncio.AbstractEventLoop
    spare: list[Page] = field(default_factory=list)

    def run(self, act: Callable[[Runtime], Awaitable[T]]) -> T:
        """Have the server's own loop do something with what is served."""

        async def doing() -> T:
            return await act(self.runtime)

        return asyncio.run_coroutine_threadsafe(doing(), self.loop).result(READY_SECS)

    def post(self, page: Page, path: str, body: object) -> None:
        """Send something as the page would; again, where the server has just closed the connection kept from the last time."""
        headers = {"Origin": self.url[:-1]}
        assert page.context.request.post(f"{self.url}{path}", data=body, headers=headers, max_retries=3).ok

    @contextmanager
    def page(self, chromium: Browser) -> Iterator[Page]:
        """A page that is signed in, maybe one that another test is done with; for what can be undone.

        A script that fails, or does what it may not, fails the test.
        """
        page = self.spare.pop() if self.spare else chromium.new_context(viewport=SCREEN).new_page()
        with self._signed_in(page):
            yield page
        for other in page.context.pages:
            if other != page:
                other.close()
        page.unroute_all()
        page.context.set_offline(offline=False)
        page.evaluate("localStorage.clear()")
        page.goto("about:blank")
        page.set_viewport_size(SCREEN)
        page.context.clear_cookies()
        self.spare.append(page)

    @contextmanager
    def own_page(self, chromium: Browser, **options: Any) -> Iterator[Page]:
        """A page of the test's own, with options of a browser's context, that is signed in."""
        with (
            chromium.new_context(**{"viewport": SCREEN, **options}) as context,
            self._signed_in(context.new_page()) as it,
        ):
            yield it

    @contextmanager
    def _signed_in(self, page: Page) -> Iterator[Page]:
        faults = list[str]()

        def note_error(error: Error) -> None:
            faults.append(str(error))

        def note_line(line: ConsoleMessage) -> None:
            if "Security Policy" in line.text:
                faults.append(line.text)

        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", note_error)
        page.on("console", note_line)
        self.post(page, "api/login", {"api_key": self.secret})
        page.goto(self.url)
        page.get_by_role("navigation", name="Pages").wait_for()
        yield page
        page.remove_listener("pageerror", note_error)
        page.remove_listener("console", note_line)
        assert faults == []


class _Serving(threading.Thread):
    """A thread that serves a store until `end`."""

    def __init__(self, folder: Path, config: str, clock: Clock | None = None, url: str | None = None) -> None:
        super().__init__(name="dashboard")
        self._clock = clock
        self._url, self._config = url or f"sqlite:///{folder / 'served.db'}", folder / "everfold.toml"
        self._config.write_text(config, "utf-8")
        self._begun = threading.Event()
        self._problem: BaseException | None = None
        self._served: Dashboard | None = None
        self._server: uvicorn.Server | None = None

    def begin(self) -> Dashboard:
        """Serve, and tell where."""
        self.start()
        assert self._begun.wait(READY_SECS)
        if self._served is None:
            raise self._problem or AssertionError("the server did not begin")
        return self._served

    def end(self) -> None:
        """End it, and raise what it failed on."""
        if self._served is not None and self._server is not None:
            self._served.loop.call_soon_threadsafe(self._served.runtime.stopping.set)
            self._server.should_exit = True
        self.join(READY_SECS)
        if self._problem is not None:
            raise self._problem

    def run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as problem:  # noqa: BLE001 - it is raised again where the test waits
            self._problem = problem
        finally:
            self._begun.set()

    async def _serve(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            async with open_runtime(self._url, config=self._config, clock=self._clock) as runtime:
                keys = runtime.engine.admin.api_keys
                key = await keys.ensure_first() or await keys.make("another server", "admin")
                options = uvicorn.Config(
                    make_app(runtime), log_config=None, lifespan="off", timeout_graceful_shutdown=1
                )
                self._server = uvicorn.Server(options)
                self._served = Dashboard(
                    url=f"http://127.0.0.1:{listening.getsockname()[1]}/",
                    secret=key.secret,
                    config=self._config,
                    runtime=runtime,
                    loop=asyncio.get_running_loop(),
                )
                self._begun.set()  # it listens already: who comes now waits until it answers
                await self._server.serve(sockets=[listening])


@contextmanager
def serve_dashboard(
    folder: Path, config: str = CONFIG, *, clock: Clock | None = None, url: str | None = None
) -> Iterator[Dashboard]:
    """Serve a store, a new file unless one is given, with these settings; by the machine's clock, unless one is given."""
    serving = _Serving(folder, config, clock, url)
    try:
        yield serving.begin()
    finally:
        serving.end()


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A server with a new store, for all tests of a module."""
    with serve_dashboard(tmp_path_factory.mktemp("dashboard")) as served:
        yield served
