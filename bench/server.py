"""The server: what HTTP adds to the engine, how long a page of a list takes when there is much, and the first view."""

import asyncio
import shutil
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import everfold
from bench.measuring import Times
from bench.memory_filling import USER
from bench.opening import INLINE_SETTINGS, temporary_folder
from bench.report import Row
from bench.server_filling import FULL, QUICK, Size, fill_server
from bench.serving import Address, serving

TITLE = "HTTP beside the engine, one client's work beside another, lists of many, the dashboard's first view"
TURNS_COUNT = 200
PAGES_COUNT = 60
VIEWS_COUNT = 7
LIMIT = 16_000
MOST_ADDED_MS = 3.0
MOST_PAGE_MS = 50.0
MOST_DELAY_MS = 100.0
MOST_VIEW_KB = 300.0
MOST_USABLE_MS = 1_000.0
WARM_SECS = 3.0
"""How long after its start a server is asked for lists: in its first second it loads what only answers need."""
USABLE = "css=.user-row, .user-name"
"""What stands in the page once users are listed."""


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """All of it; the lists and the view share a server."""
    size = QUICK if is_quick else FULL
    with temporary_folder() as folder:
        rows = asyncio.run(_measure_added(folder, 40 if is_quick else TURNS_COUNT))
        rows += _measure_delay(folder, is_quick=is_quick)
        filled = folder / "many.db"
        fill_server(filled, size)
        with serving(filled) as address:
            time.sleep(WARM_SECS)
            rows += _measure_lists(address, size, 15 if is_quick else PAGES_COUNT)
            rows += _measure_view(address, 3 if is_quick else VIEWS_COUNT)
    note = (
        "Added: the same turns, alternately through a real server on loopback (one keep-alive connection of the standard "
        "library's client, as what a larger client costs is not the API's) and through the engine in this process, each over a file of its own, rendered and not told part by part; a request also checks its key and has an id, a span and a "
        "count. Delay: a client that asks `/health/live` every 5 ms while another, with memory on, appends as much as one "
        "request may, and a message of 400,000 characters, and takes a window after each. "
        f"Lists: {size.users_count:,} users, {size.users_count * 100 + size.long_count:,} messages, "
        f"{size.items_count:,} items and {size.audit_count:,} entries of the audit of one user; whole answers, read to "
        "their end. First view: a new Chromium context that is signed in, nothing cached; bytes as they came over the "
        "wire, and the time from the navigation until users are listed."
    )
    return rows, [note]


# --- what HTTP adds


async def _measure_added(folder: Path, turns_count: int) -> list[Row]:
    direct = {"append": Times(), "window": Times()}
    asked = {"append": Times(), "window": Times()}
    with serving(folder / "asked.db") as address:
        async with everfold.open(f"sqlite:///{folder / 'direct.db'}", settings=INLINE_SETTINGS) as engine:
            session = await engine.session(user="ada", limit=LIMIT)
            with address.client() as client:
                made = client.post("/api/users", json={"name": "ada"}).json()["id"]
                path = (
                    "/api/sessions/"
                    + client.post("/api/sessions", json={"user": made, "agent": "default", "limit": LIMIT}).json()["id"]
                )
            with closing(address.connect()) as http:
                for number in range(turns_count):
                    wires = _make_turn(number)
                    with direct["append"].one():
                        await session.append(wires)
                    with _timed(asked["append"], address):
                        _require(address.post(http, f"{path}/messages", {"messages": wires}), 201)
                    with direct["window"].one():
                        (await session.window()).render("openai")
                    with _timed(asked["window"], address):
                        _require(address.post(http, f"{path}/window", {"parts": False}), 200)
    rows = []
    for name in ("append", "window"):
        inside, outside = direct[name].median_us / 1e3, asked[name].median_us / 1e3
        rows += [
            Row(figure=f"{name} through the engine", value=inside, unit="ms"),
            Row(figure=f"{name} over HTTP", value=outside, unit="ms"),
            Row(figure=f"HTTP adds to {name}, medians", value=outside - inside, unit="ms", most=MOST_ADDED_MS),
            Row(figure=f"{name} through the engine, processor", value=direct[name].processor_us / 1e3, unit="ms"),
            Row(figure=f"{name} over HTTP, the server's processor", value=asked[name].processor_us / 1e3, unit="ms"),
        ]
    return rows


@contextmanager
def _timed(times: Times, address: Address) -> Iterator[None]:
    """Time what is inside, with the processor time of the server."""
    processor, started = address.processor_secs(), time.perf_counter()
    yield
    times.add(time.perf_counter() - started, address.processor_secs() - processor)


def _make_turn(number: int) -> list[dict[str, str]]:
    asked = f"My berth is number {number}. What of the wind over the hills today, and of the tide at noon?"
    return [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": f"The wind is calm at hour {number}. " * 6},
    ]


def _require(status: int, expected: int) -> None:
    if status != expected:
        raise RuntimeError(f"the server answered {status}, expected {expected}")


# --- one client's work beside another


def _measure_delay(folder: Path, *, is_quick: bool) -> list[Row]:
    """How long the server takes to say that it lives while another client keeps it at work."""
    texts = [f"Note {number}: pump {number % 97} of lock {number % 13} ran on Friday." for number in range(1_000)]
    large = "The pump of lock 7 ran for 12 minutes, and then it stopped.\n" * (400_000 // 60)
    bodies = [[{"role": "user", "content": text} for text in texts], [{"role": "user", "content": large}]]
    with serving(folder / "delay.db", more_settings='\n[memory]\nsystem = "structured"\n') as address:
        with address.client() as client:
            user = client.post("/api/users", json={"name": "ada"}).json()["id"]
            made = client.post("/api/sessions", json={"user": user, "agent": "default", "limit": LIMIT}).json()["id"]

        def work() -> None:
            with closing(address.connect()) as http:
                for messages in bodies * (1 if is_quick else 3):
                    _require(address.post(http, f"/api/sessions/{made}/messages", {"messages": messages}), 201)
                    _require(address.post(http, f"/api/sessions/{made}/window", {"parts": False}), 200)

        with closing(address.connect()) as health, ThreadPoolExecutor(1) as other:
            idle = [address.time_health(health) for _ in range(50)]
            working, waits = other.submit(work), list[float]()
            while not working.done():
                waits.append(address.time_health(health))
                time.sleep(0.005)
            working.result()
    return [
        Row(figure="`/health/live` of an idle server, median", value=statistics.median(idle) * 1e3, unit="ms"),
        Row(figure="`/health/live` beside a client's work, median", value=statistics.median(waits) * 1e3, unit="ms"),
        Row(
            figure=f"`/health/live` beside a client's work, the longest of {len(waits):,}",
            value=max(waits) * 1e3,
            unit="ms",
            most=MOST_DELAY_MS,
            digits=0,
        ),
    ]


# --- lists of many


def _measure_lists(address: Address, size: Size, pages_count: int) -> list[Row]:
    rows = []
    with address.client() as http:
        for name, path, queries in _list_pages(http, size, pages_count):
            times = Times()
            for query in queries:
                with _timed(times, address):
                    answer = http.get(path, params=query)
                _require(answer.status_code, 200)
            rows.append(Row(figure=f"{name}: median", value=times.median_us / 1e3, unit="ms", digits=1))
            rows.append(Row(figure=f"{name}: p95", value=times.p95_us / 1e3, unit="ms", most=MOST_PAGE_MS, digits=1))
            processor = times.processor_us / 1e3
            rows.append(Row(figure=f"{name}: the server's processor, median", value=processor, unit="ms", digits=1))
    return rows


def _list_pages(http: Any, size: Size, count: int) -> Iterator[tuple[str, str, list[dict[str, str | int]]]]:
    """What is asked, and so many queries of it."""
    newest = http.get("/api/sessions", params={"user": USER}).json()["sessions"]
    long = max(newest, key=lambda session: session["messages_count"])["id"]
    middle = size.long_count // 2
    yield "users, first page of 100", "/api/users", [{"limit": 100}] * count
    yield "users by a name within", "/api/users", [{"q": f"{number:03}", "limit": 50} for number in range(count)]
    yield "sessions, newest 100", "/api/sessions", [{"limit": 100}] * count
    yield "sessions of one user", "/api/sessions", [{"user": USER}] * count
    yield (
        "messages, 100 amid a long log",
        f"/api/sessions/{long}/messages",
        [{"first": middle + number, "last": middle + number + 99} for number in range(count)],
    )
    yield "items, first page of 100", f"/api/users/{USER}/items", [{"limit": 100}] * count
    yield "audit, first page of 100", f"/api/users/{USER}/memory/audit", [{"limit": 100}] * count
    yield "topics", f"/api/users/{USER}/memory", [{}] * count
    yield "system", "/api/system", [{}] * count


# --- the first view


def _measure_view(address: Address, views_count: int) -> list[Row]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return [Row(figure="first view", value="not measured: no chromium")]
    sizes, secs = [], []
    with _browser(chromium) as browser:
        for _ in range(views_count + 1):
            bytes_count, taken = _view(browser, address)
            sizes.append(bytes_count)
            secs.append(taken)
    kilobytes = statistics.median(sizes[1:]) / 1_000
    return [
        Row(figure="first view, transferred", value=kilobytes, unit="kB", most=MOST_VIEW_KB, digits=0),
        Row(figure="first view, until users are listed", value=statistics.median(secs[1:]) * 1e3, unit="ms", most=MOST_USABLE_MS, digits=0),
    ]  # fmt: skip


@contextmanager
def _browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        try:
            yield browser
        finally:
            browser.close()


def _view(browser: Any, address: Address) -> tuple[int, float]:
    """The bytes of a first view, and how long it takes."""
    context = browser.new_context()
    try:
        context.add_cookies([{"name": "everfold_key", "value": address.secret, "url": address.url}])
        page = context.new_page()
        sizes: list[int] = []
        devtools = context.new_cdp_session(page)
        devtools.send("Network.enable")
        devtools.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
        started = time.perf_counter()
        page.goto(f"{address.url}#users")
        page.wait_for_selector(USABLE)
        taken = time.perf_counter() - started
        page.wait_for_timeout(500)
        return sum(sizes), taken
    finally:
        context.close()
