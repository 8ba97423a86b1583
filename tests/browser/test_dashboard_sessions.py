"""The dashboard's sessions in a real browser against a real server: strips, log, compactions and the window inspector."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest
from anyio.from_thread import start_blocking_portal
from bench.material.logs import Wire, coding_log
from playwright.sync_api import Browser, Locator, Page, Route, expect
from tests.browser.conftest import Dashboard, serve_dashboard

import everfold
from everfold import Everfold
from everfold.config import Overrides
from everfold.core.primitives.json_values import JsonObject
from everfold.server.runtime import Runtime
from everfold.services.inspection.trace import Trace

EVIL = (
    "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 1'>"
    "<svg onload='window.broken = 1'></svg> & [link](javascript:window.broken=1) \u2028 \u202eturned "
    + "Z\u0351\u0352\u0353\u0354"
    * 60
)
LONG = "W" * 200_000
LIMIT_TOKENS = 6_000
WIDER_PX = "document.documentElement.scrollWidth - innerWidth"


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """What is in the store before the browser comes.

    Attributes:
        folded: A session of many compactions, whose first message is hostile.
        degraded: A session whose compactions no model could write a digest for.
        spare: One of a few turns, to be changed.
    """

    folded: str
    degraded: str
    spare: str


async def say(engine: Everfold, agent: str, wires: list[Wire], *, limit: int = LIMIT_TOKENS) -> str:
    """Say something to an agent, message by message, as a running conversation does."""
    session = await engine.session(agent=agent, limit=limit, system="You mend an invented shop's code.")
    for wire in wires:
        await session.append(wire)
        if wire["role"] == "user":
            await session.window()
    return session.id


def make_log(seed: int, turns_count: int) -> list[Wire]:
    """The messages of a coding agent's log."""
    return [entry.wire for entry in coding_log(seed, turns_count=turns_count)]


def seed_degraded(folder: Path) -> str:
    """A session whose compaction met a model that only declines."""
    script = folder / "declines.jsonl"
    script.write_text('{"fault": "refusal"}\n', "utf-8")

    async def fold() -> str:
        settings: Overrides = {"model": {"name": f"script:{script}"}, "compaction": {"synchronous": True}}
        async with everfold.open(f"sqlite:///{folder / 'served.db'}", settings=settings) as engine:
            session_id = await say(engine, "trouble", make_log(5, turns_count=8), limit=16_000)
            session = await engine.session(id=session_id)
            await session.compact(keep_recent=1)
            assert any(one.state == "degraded" for one in await session.inspect.compactions())
            return session_id

    with start_blocking_portal() as portal:  # on a thread of its own: the browser's loop is running in this one
        return portal.call(fold)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store is."""
    return tmp_path_factory.mktemp("sessions")


@pytest.fixture(scope="module")
def degraded_id(folder: Path) -> str:
    """The session that is there before the server."""
    return seed_degraded(folder)


@pytest.fixture(scope="module")
def dashboard(folder: Path, degraded_id: str) -> Iterator[Dashboard]:
    """A server whose model writes good digests."""
    assert degraded_id
    script = folder / "model.jsonl"
    script.write_text('{"digest": "echo", "cost_usd": 0.002}\n', "utf-8")
    config = f'[model]\nname = "script:{script}"\n[compaction]\nsynchronous = true\n'
    with serve_dashboard(folder, config) as served:
        yield served


@pytest.fixture(scope="module")
def seeded(dashboard: Dashboard, degraded_id: str) -> Seeded:
    """Sessions to look at."""

    async def fill(runtime: Runtime) -> Seeded:
        hostile: list[Wire] = [{"role": "user", "content": EVIL}, {"role": "assistant", "content": f"I see. {EVIL}"}]
        long: list[Wire] = [{"role": "user", "content": LONG}, {"role": "assistant", "content": "That was long."}]
        engine = runtime.engine
        await engine.add_user(EVIL[:80])
        folded = await say(engine, "coder", [*hostile, *make_log(3, turns_count=14), *long])
        spare = await say(engine, "spare", make_log(7, turns_count=4), limit=16_000)
        return Seeded(folded=folded, degraded=degraded_id, spare=spare)

    return dashboard.run(fill)


@pytest.fixture(scope="module")
def trace(dashboard: Dashboard, seeded: Seeded) -> Trace:
    """What became of every message of the folded session, from the engine itself."""

    async def read(runtime: Runtime) -> Trace:
        return await (await runtime.engine.session(id=seeded.folded)).inspect.trace()

    return dashboard.run(read)


@pytest.fixture
def page(dashboard: Dashboard, chromium: Browser) -> Iterator[Page]:
    """A page that is signed in."""
    with dashboard.page(chromium) as signed_in:
        yield signed_in


def go(page: Page, place: str) -> None:
    """Go to an address of the dashboard."""
    page.evaluate("place => { location.hash = place }", place)


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait for what no locator can tell, as long as for one."""
    for _ in range(200):
        if holds():
            return
        page.wait_for_timeout(100)
    assert holds()


def strip(page: Page, row: int) -> Locator:
    """A row of the board of strips; the first one is now."""
    return page.locator(".strips canvas").nth(row)


def read_colours(page: Page, row: int, count: int) -> list[str]:
    """The fate that the middle of each message's cell has the colour of, for a strip that is fitted to the view."""
    return cast(
        "list[str]",
        strip(page, row).evaluate(
            """(canvas, [count, fates]) => {
              const style = getComputedStyle(document.documentElement), probe = document.createElement('canvas').getContext('2d');
              const named = fates.map(fate => {
                probe.fillStyle = style.getPropertyValue(`--${fate}`).trim();
                probe.fillRect(0, 0, 1, 1);
                return [fate, [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3)];
              });
              const pen = canvas.getContext('2d');
              return Array.from({length: count}, (_, at) => {
                const x = Math.floor((at + 0.45) * canvas.width / count), y = Math.floor(canvas.height * 0.4);
                const seen = [...pen.getImageData(x, y, 1, 1).data].slice(0, 3);
                const far = ([, colour]) => colour.reduce((sum, value, i) => sum + Math.abs(value - seen[i]), 0);
                return named.reduce((best, one) => (far(one) < far(best) ? one : best))[0];
              });
            }""",
            [count, ["fixed", "head", "kept", "running", "tail", "digest", "rollup", "quote", "folded_later", "open"]],
        ),
    )


def click_cell(page: Page, row: int, seq: int, count: int) -> None:
    """Click the cell of a message."""
    canvas = strip(page, row)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    page.mouse.click(box["x"] + (seq - 0.5) * box["width"] / count, box["y"] + 8)


def test_sessions_are_listed_filtered_and_opened(page: Page, seeded: Seeded) -> None:
    """The newest session comes first with its badge; a filter by agent leaves its own; Enter opens one."""
    go(page, "#sessions")
    rows = page.get_by_role("listbox", name="Sessions").get_by_role("option")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("spare")
    expect(rows.first).to_contain_text("current")
    page.get_by_label("Agent").select_option("coder")
    expect(rows).to_have_count(1)
    rows.first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(seeded.folded))
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("Sessions")


@pytest.mark.slow
def test_a_search_is_narrowed_by_role_and_time(page: Page) -> None:
    """A role and a time range leave the messages that they admit; a range of the past leaves none."""
    go(page, "#sessions")
    page.get_by_label("Search messages").fill("BUG")
    hits = page.get_by_role("list", name="Messages found").get_by_role("listitem")
    expect(hits.first).to_be_visible()
    page.get_by_label("Role").select_option("user")
    expect(hits.filter(has_text="assistant").first).to_have_count(0)
    expect(hits.first).to_contain_text("user")
    page.get_by_label("Said to").fill("2001-01-01")
    page.get_by_label("Said to").press("Enter")
    expect(page.get_by_text("Nothing found")).to_be_visible()


@pytest.mark.slow
def test_sessions_are_listed_by_time(page: Page) -> None:
    """The list shows the sessions that were stored in the range of the address; a range of the past leaves none."""
    go(page, "#sessions")
    rows = page.get_by_role("listbox", name="Sessions").get_by_role("option")
    expect(rows.first).to_be_visible()
    page.get_by_label("Stored to").fill("2001-01-01")
    page.get_by_label("Stored to").press("Enter")
    expect(page.get_by_text("No session matches these filters.")).to_be_visible()
    expect(page).to_have_url(re.compile("to=2001-01-01"))
    page.get_by_role("button", name="Show all").click()
    expect(rows.first).to_be_visible()


@pytest.mark.slow
def test_a_session_is_renamed_and_found_by_its_title(page: Page, seeded: Seeded) -> None:
    """A title is shown as text on the page and in the list, leads to the session, and gives way to the derived one."""
    go(page, f"#sessions/{seeded.folded}")
    heading = page.get_by_role("heading", level=1)
    derived = heading.text_content() or ""
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Title", exact=True).fill("<b>Moths</b> of the harbour")
    page.get_by_role("button", name="Save").click()
    expect(heading).to_contain_text("<b>Moths</b> of the harbour")
    go(page, "#sessions")
    page.get_by_label("Search messages").fill("OF the harb")
    titled = page.get_by_role("region", name="Sessions with this title").get_by_role("link")
    expect(titled).to_have_count(1)
    expect(titled).to_contain_text("<b>Moths</b> of the harbour")
    titled.click()
    expect(page).to_have_url(re.compile(seeded.folded))
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_label("Title", exact=True)).to_have_value("<b>Moths</b> of the harbour")
    page.get_by_label("Title", exact=True).fill("")
    page.get_by_role("button", name="Save").click()
    expect(heading).to_have_text(derived)


@pytest.mark.slow
def test_recall_is_explained(page: Page, seeded: Seeded, trace: Trace) -> None:
    """For a question each message that its words find is listed with what became of it, and leads to the log."""
    message = next(one for one in trace.messages.values() if one.view.role == "user" and "BUG-" in one.view.text)
    word = re.search(r"BUG-\d+", message.view.text)
    assert word
    go(page, f"#sessions/{seeded.folded}/recall")
    page.get_by_label("Question").fill(f"What was {word[0]} about?")
    page.get_by_role("button", name="Explain").click()
    rows = page.get_by_role("table", name="What became of each message").get_by_role("row")
    expect(rows.filter(has_text=word[0]).first).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="found by words")).to_be_visible()
    rows.nth(1).get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(rf"{seeded.folded}/log\?seq="))


def test_what_was_said_is_searched(page: Page, seeded: Seeded, trace: Trace) -> None:
    """A word of a message leads to that message in its log."""
    message = next(one for one in trace.messages.values() if one.view.role == "user" and "BUG-" in one.view.text)
    word = re.search(r"BUG-\d+", message.view.text)
    assert word
    go(page, "#sessions")
    page.get_by_label("Search messages").fill(word[0])
    hits = page.get_by_role("list", name="Messages found")
    expect(hits).to_contain_text(word[0])
    hits.get_by_role("link").filter(has_text=f"#{message.seq}").first.click()
    expect(page).to_have_url(re.compile(rf"{seeded.folded}/log\?seq={message.seq}"))
    expect(page.locator("#message-text")).to_contain_text(word[0])


@pytest.mark.slow
def test_strips_have_the_colours_of_the_fates(page: Page, seeded: Seeded, trace: Trace) -> None:
    """Each cell of each strip has the colour of what the engine says became of the message."""
    go(page, f"#sessions/{seeded.folded}")
    expect(page.locator(".strips canvas")).to_have_count(len(trace.compactions) + 1)
    count, newest = len(trace.now.fates), trace.compactions[-1].after.fates
    wait_until(page, lambda: read_colours(page, 0, count) == trace.now.fates)
    wait_until(page, lambda: read_colours(page, 1, count)[: len(newest)] == newest)


@pytest.mark.slow
@pytest.mark.parametrize("known", ["before", "after"])
def test_a_cell_shows_the_message_beside_its_digest(page: Page, seeded: Seeded, trace: Trace, known: str) -> None:
    """A click on a folded message shows its text, and the digest of its range with its own lines marked.

    It does the same when the compactions are loaded only after the click.
    """
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    if known == "after":
        page.route("**/compactions?*", hold)
    traced = trace.compactions[1]
    shown = next(one for one in reversed(traced.ranges) if one.kind == "digest" and one.digest_id)
    digest = trace.digests[shown.digest_id]
    seq = next(
        int(found) for found in re.findall(r"#(\d+)", digest.text) if traced.after.fates[int(found) - 1] == "digest"
    )
    go(page, f"#sessions/{seeded.folded}")
    expect(strip(page, 0)).to_be_visible()
    click_cell(page, len(trace.compactions) - 1, seq, len(trace.now.fates))
    panel = page.get_by_role("region", name=f"Message {seq}", exact=True)
    expect(panel).to_contain_text("after compaction 2")
    expect(panel.locator("#message-text")).to_contain_text(trace.messages[seq].view.text[:40].split("\n")[0])
    for route in held:
        route.continue_()
    expect(panel.locator("#digest-text")).to_contain_text(f"digest {digest.first_seq}-{digest.last_seq}")
    expect(panel.locator(".digest-line.of-it").first).to_contain_text(f"#{seq}")


@pytest.mark.slow
def test_the_log_jumps_to_a_message(page: Page, seeded: Seeded, trace: Trace) -> None:
    """An address with a number shows that message in its place, selected, and read whole beside the list."""
    seq = len(trace.now.fates) - 8
    go(page, f"#sessions/{seeded.folded}/log?seq={seq}")
    row = page.get_by_role("listbox", name="Messages of the log").locator("[aria-selected=true]")
    expect(row).to_contain_text(f"#{seq}")
    expect(row).to_be_in_viewport()
    expect(page.get_by_role("region", name=f"Message {seq}", exact=True)).to_be_visible()
    page.get_by_label("Message number").fill("3")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(row).to_contain_text("#3")
    expect(page).to_have_url(re.compile(r"seq=3$"))


def test_a_message_is_erased_after_a_question(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """An erase asks first, tells what went with it, and leaves a tombstone in the list and in the store."""
    go(page, f"#sessions/{seeded.spare}/log?seq=2")
    page.get_by_role("region", name="Message 2", exact=True).get_by_role("button", name="Erase…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.locator("#message-text")).to_be_visible()
    page.get_by_role("region", name="Message 2", exact=True).get_by_role("button", name="Erase…").click()
    dialog.get_by_role("button", name="Erase", exact=True).click()
    expect(page.locator(".toasts")).to_contain_text("Message 2 was erased")
    expect(page.get_by_role("listbox", name="Messages of the log").locator("[aria-selected=true]")).to_contain_text(
        "erased"
    )

    async def is_erased(runtime: Runtime) -> bool:
        session = await runtime.engine.session(id=seeded.spare)
        return 2 not in (await session.inspect.trace()).messages

    assert dashboard.run(is_erased)


def test_compacting_is_tried_dry_then_done(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """A dry run says what would be done and does nothing; then the same is done, and its compaction is listed."""

    async def count_compactions(runtime: Runtime) -> int:
        return len(await (await runtime.engine.session(id=seeded.spare)).inspect.compactions())

    before = dashboard.run(count_compactions)
    go(page, f"#sessions/{seeded.spare}/compactions")
    page.get_by_role("button", name="Compact now").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Newest messages to keep verbatim").fill("2")
    dialog.get_by_role("button", name="Dry run").click()
    expect(dialog).to_contain_text("Plan")
    expect(dialog).to_contain_text("folded")
    assert dashboard.run(count_compactions) == before
    dialog.get_by_role("button", name="Compact", exact=True).click()
    expect(dialog).to_contain_text("Result")
    page.keyboard.press("Escape")
    after = dashboard.run(count_compactions)
    assert after > before
    expect(page.locator("[data-compaction]")).to_have_count(after)
    newest = page.locator("[data-compaction]").first
    expect(newest).to_contain_text("by manual")
    if newest.get_by_role("button").first.get_attribute("aria-expanded") == "false":
        newest.get_by_role("button").first.click()
    expect(newest).to_contain_text("Cache break")
    expect(newest).to_contain_text("script")


@pytest.mark.slow
def test_a_degraded_compaction_is_retried(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """A digest that the model could not write is shown with the reason, and a retry with a working model completes it.

    Also where the answer to the retry comes when the page has long heard that it is done.
    """
    go(page, f"#sessions/{seeded.degraded}/compactions")
    compaction = page.locator("[data-compaction]").filter(has_text="degraded").first
    expect(compaction).to_be_visible()
    compaction_id = compaction.get_attribute("data-compaction")
    compaction = page.locator(f"[data-compaction='{compaction_id}']")
    if compaction.get_by_role("button").first.get_attribute("aria-expanded") == "false":
        compaction.get_by_role("button").first.click()
    expect(compaction).to_contain_text("refusal")

    def answer_late(route: Route) -> None:
        answer = route.fetch()
        expect(compaction.locator(".badge")).to_have_text("done")
        route.fulfill(response=answer)

    page.route("**/retry", answer_late)
    compaction.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("The retry was queued.")).to_be_visible()
    expect(compaction.get_by_role("status")).to_have_count(0)
    expect(compaction.locator(".badge")).to_have_text("done")
    expect(compaction.get_by_role("article", name="Provisional digest")).to_be_visible()

    async def read_state(runtime: Runtime) -> str:
        return (await runtime.engine.admin.get_compaction(str(compaction_id))).state

    assert dashboard.run(read_state) == "done"


@pytest.mark.slow
def test_a_running_compaction_is_cancelled(chromium: Browser, tmp_path: Path) -> None:
    """A compaction whose digest is being written is shown as running, and is cancelled after a question."""
    script = tmp_path / "slow.jsonl"
    script.write_text('{"digest": "echo", "secs": 600}\n', "utf-8")
    config = f'[model]\nname = "script:{script}"\n[server]\ndrain_secs = 0\n'
    with serve_dashboard(tmp_path, config) as served, served.page(chromium) as page:

        async def hold(runtime: Runtime) -> tuple[str, str, asyncio.Task[object]]:
            session_id = await say(runtime.engine, "slow", make_log(9, turns_count=5), limit=16_000)
            session = await runtime.engine.session(id=session_id)
            work = asyncio.create_task(session.compact(keep_recent=2))
            while not (found := await session.inspect.compactions()) or found[-1].state != "running":  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.05)
            return session_id, found[-1].id, work

        session_id, compaction_id, work = served.run(hold)
        go(page, f"#sessions/{session_id}/compactions")
        compaction = page.locator(f"[data-compaction='{compaction_id}']")
        expect(compaction.locator(".badge")).to_have_text(re.compile("running|pending"))
        compaction.get_by_role("button", name="Cancel…").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel the compaction").click()
        expect(compaction.locator(".badge")).to_have_text("cancelled")
        served.loop.call_soon_threadsafe(work.cancel)


def test_the_inspector_adds_up_to_the_report(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """Slices and parts have the tokens of the engine's own report, and what is sent is what the engine renders."""

    async def read(runtime: Runtime) -> tuple[int, dict[str, int], JsonObject]:
        window = await (await runtime.engine.session(id=seeded.folded)).window(preview=True)
        return (
            window.report.tokens,
            {str(name): size for name, size in window.report.by_slice.items()},
            window.render("anthropic"),
        )

    tokens, by_slice, request = dashboard.run(read)
    go(page, f"#sessions/{seeded.folded}/window")
    expect(page.locator("[data-slice]").first).to_be_visible()
    for name, size in by_slice.items():
        if size:
            expect(page.locator(f"[data-slice='{name}'] td").first).to_have_text(f"{size:,}")
    expect(page.locator("[data-sum]")).to_have_attribute("data-sum", str(sum(by_slice.values())))
    parts = page.locator(".part-tokens").all_text_contents()
    assert sum(int(part.replace(",", "")) for part in parts) == tokens == sum(by_slice.values())
    page.get_by_role("button", name="As sent: Anthropic").click()
    expect(page.locator(".as-sent .text")).to_contain_text('"messages"')
    page.evaluate("document.querySelectorAll('.as-sent .more button').forEach(button => button.click())")
    shown = page.locator(".as-sent .text").text_content() or ""
    assert json.dumps(request, indent=2, ensure_ascii=False).startswith(shown[:5000])


@pytest.mark.slow
def test_a_lower_limit_is_tried(page: Page, seeded: Seeded) -> None:
    """A preview at a lower limit fits it and writes nothing; one that no window fits says which would do."""
    go(page, f"#sessions/{seeded.folded}/window")
    field = page.get_by_label("Try a lower limit")
    field.fill("4000")
    field.press("Enter")
    expect(page.get_by_text("A preview at 4,000 tokens")).to_be_visible()
    expect(page.locator(".figures")).to_contain_text("4,000")
    field.fill("300")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("button", name="Reset the limit").click()
    expect(page.locator(".figures")).to_contain_text("6,000")


@pytest.mark.slow
def test_verify_says_that_all_holds(page: Page, seeded: Seeded) -> None:
    """A verification shows its problems, or that there are none, and how much it checked."""
    go(page, f"#sessions/{seeded.folded}/compactions")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("dialog")).to_contain_text("Sound.")
    expect(page.get_by_role("dialog")).to_contain_text("messages")


@pytest.mark.slow
def test_a_branch_is_made_from_a_message(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """A branch shares the past up to its message, and its page leads back to where it came from."""

    async def find_seq(runtime: Runtime) -> int:
        log = await (await runtime.engine.session(id=seeded.folded)).messages(1, 200)
        return next(message.seq for message in log[5:] if message.is_boundary)

    seq = dashboard.run(find_seq)
    go(page, f"#sessions/{seeded.folded}/log?seq={seq}")
    page.get_by_role("button", name="Branch from here").click()
    expect(page.get_by_text("previous session")).to_be_visible()
    expect(page).not_to_have_url(re.compile(seeded.folded))
    expect(page.locator(".session-head")).to_contain_text(f"{seq} messages")


@pytest.mark.slow
def test_sessions_follow_each_other(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """A new session becomes the current one and leads back to the one before, which can be resumed."""

    async def find_current(runtime: Runtime) -> str:
        return (await runtime.engine.session(agent="spare")).id

    go(page, f"#sessions/{seeded.spare}")
    page.get_by_role("button", name="New", exact=True).click()
    expect(page.get_by_text("No messages yet")).to_be_visible()
    assert dashboard.run(find_current) != seeded.spare
    page.get_by_role("link", name="previous session").click()
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".session-head")).to_contain_text("current")
    assert dashboard.run(find_current) == seeded.spare


@pytest.mark.slow
def test_what_happens_is_shown_as_it_happens(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """A compaction by another client adds its strip to a page that is open."""
    go(page, f"#sessions/{seeded.spare}")
    expect(page.get_by_role("slider", name="The log, now")).to_be_visible()
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    rows = page.get_by_role("slider", name=re.compile("The log, compaction"))  # a preview goes when the first one comes
    before = rows.count()

    async def compact(runtime: Runtime) -> None:
        session = await runtime.engine.session(id=seeded.spare)
        await session.append([{"role": "user", "content": "And the oven?"}, {"role": "assistant", "content": "Cold."}])
        assert await session.compact(keep_recent=1)

    dashboard.run(compact)
    expect(rows).to_have_count(before + 1)


def test_hostile_texts_stay_texts(page: Page, seeded: Seeded) -> None:
    """No view of a session runs what was said, or is pushed wider by it."""
    views = ("?seq=1", "/log?seq=1", "/log?seq=2", "/compactions", "/window")
    for view in views:
        go(page, f"#sessions/{seeded.folded}{view}")
        expect(page.locator(".tab-body").first).to_be_visible()
        page.wait_for_timeout(500)
        page.evaluate("document.querySelectorAll('.part-head').forEach(head => head.click())")
        page.wait_for_timeout(200)
        assert page.evaluate("window.broken") is None
        assert page.locator("main img, main script, main iframe").count() == 0
        assert page.evaluate(WIDER_PX) <= 0


@pytest.mark.slow
def test_the_strips_are_walked_by_keyboard(page: Page, seeded: Seeded, trace: Trace) -> None:
    """Arrow keys move over messages and compactions and describe each; Enter opens a message; Tab moves on."""
    go(page, f"#sessions/{seeded.folded}")
    strip(page, 0).focus()
    page.keyboard.press("Home")
    under = page.locator(".strip-under")
    expect(under).to_contain_text("#1")
    page.keyboard.press("ArrowRight")
    expect(under).to_contain_text("#2")
    expect(under).to_contain_text("assistant: I see.")
    page.keyboard.press("ArrowDown")
    expect(under).to_contain_text(f"compaction {trace.compactions[-1].compaction.ordinal}")
    expect(strip(page, 1)).to_be_focused()
    assert "message 2" in (strip(page, 1).get_attribute("aria-valuetext") or "")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Message 2", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Strips").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("listbox", name="Messages of the log")).to_be_visible()
    expect(page.get_by_role("tab", name="Log")).to_be_focused()


@pytest.mark.slow
def test_a_phone_shows_all_of_a_session(dashboard: Dashboard, chromium: Browser, seeded: Seeded) -> None:
    """At a phone's width no view runs over its side, and a tap on a cell reads the message."""
    with dashboard.own_page(chromium, has_touch=True) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        for view in ("", "/log", "/compactions", "/window"):
            go(page, f"#sessions/{seeded.folded}{view}")
            expect(page.locator(".tab-body").first).to_be_visible()
            page.wait_for_timeout(400)
            assert page.evaluate(WIDER_PX) <= 0
        go(page, f"#sessions/{seeded.folded}")
        canvas = strip(page, 0)
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + 10)
        panel = page.locator(".message-panel")
        expect(panel).to_be_visible()
        expect(panel).to_be_in_viewport()


def test_a_read_only_api_key_is_offered_no_writes(dashboard: Dashboard, chromium: Browser, seeded: Seeded) -> None:
    """With a read-only API key a session can be read in full, and no button changes it."""

    async def make_key(runtime: Runtime) -> str:
        return (await runtime.engine.admin.api_keys.make("reader", "admin", is_read_only=True)).secret

    with replace(dashboard, secret=dashboard.run(make_key)).page(chromium) as page:
        go(page, f"#sessions/{seeded.folded}/log?seq=3")
        expect(page.locator("#message-text")).to_be_visible()
        go(page, f"#sessions/{seeded.degraded}/compactions")
        expect(page.get_by_role("button", name="Verify")).to_be_visible()
        expect(page.locator("[data-compaction]").first).to_be_visible()
        for verb in ("New", "Erase…", "Compact now…", "Retry", "Branch from here"):
            expect(page.get_by_role("button", name=verb, exact=True)).to_have_count(0)
        go(page, "#chat/coder")
        expect(page.get_by_text("This API key is read-only")).to_be_visible()


@pytest.mark.slow
def test_a_long_log_is_drawn_from_its_runs(page: Page, seeded: Seeded) -> None:
    """A strip of 100,000 messages in 30,000 runs is drawn to its end, and its last message can be walked to."""
    count = 100_000
    runs = [[fate, size] for _ in range(count // 10) for fate, size in (("rollup", 6), ("kept", 1), ("quote", 3))]
    strips = [{"compaction_id": None, "ordinal": None, "trigger": None, "at": None, "last_seq": count, "runs": runs}]
    page.route("**/strips?*", lambda route: route.fulfill(json={"last_seq": count, "strips": strips}))
    go(page, f"#sessions/{seeded.folded}")
    strip(page, 0).focus()
    page.keyboard.press("End")
    expect(page.locator(".strip-under")).to_contain_text("#100,000")
    page.get_by_role("button", name="12 px").click()
    expect(strip(page, 0)).to_be_in_viewport()
    drawn = "canvas => [...canvas.getContext('2d').getImageData(canvas.width - 30, 10, 1, 1).data][3]"
    wait_until(page, lambda: strip(page, 0).evaluate(drawn) == 255)
