"""The report page in a browser: it stands alone, says what the certificates say, and all of it can be read."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from anyio.from_thread import start_blocking_portal
from bench.material.logs import coding_log
from playwright.sync_api import Browser, Page, expect

import everfold
from everfold.adapters.transcripts import Conversation, TranscriptMessage
from everfold.cli.replays.replaying import play
from everfold.cli.replays.report_page import write_report
from everfold.core.compaction.record import Compaction
from everfold.core.log.messages import Message
from everfold.core.primitives.json_values import JsonObject

pytestmark = pytest.mark.slow

EVIL = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 1'> & \u2028 \ud800 \U0001f3fa"
GROUPS = {"fixed": {"fixed"}, "head": {"head"}, "kept": {"kept", "running"}, "folded": {"digest", "rollup", "quote"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    path: Path
    messages: list[Message]
    compactions: list[Compaction]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The page of a replayed log whose first message and whose name try to break out of it."""
    folder = tmp_path_factory.mktemp("report")
    wires = [{"role": "user", "content": EVIL}, *(entry.wire for entry in coding_log(3, turns_count=9))]
    messages = tuple(
        TranscriptMessage(wire=cast("JsonObject", wire), wire_format="openai", line=line)
        for line, wire in enumerate(wires, 1)
    )

    async def write() -> Report:
        async with everfold.open(f"sqlite:///{folder}/log.db") as engine:
            session = await engine.session(limit=6000)
            conversation = Conversation(name="Shop <b id=broken>& co</b>", messages=messages)
            replayed = await play(session, conversation, provider="openai", advance=lambda _done, _note: None)
            await write_report(folder / "report.html", session, replayed)
            return Report(
                path=folder / "report.html",
                messages=await session.messages(1, len(wires)),
                compactions=await session.inspect.compactions(),
            )

    # On a thread of its own: the browser's loop is running in this one.
    with start_blocking_portal() as portal:
        return portal.call(write)


@pytest.fixture
def opened(page: Page, report: Report) -> Page:
    """The page, opened; anything that it complains of or asks the network for is a failure."""
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.on("request", lambda request: faults.append(request.url) if request.url != report.path.as_uri() else None)
    page.goto(report.path.as_uri())
    expect(page.locator("canvas").first).to_be_visible()
    page.wait_for_timeout(200)
    assert faults == []
    return page


def hover(page: Page, row: int, seq: int) -> None:
    """Point at the cell of one message in one row."""
    page.get_by_role("button", name="12 px").click()
    page.evaluate("([row, seq]) => everfold.choose(row, seq, {reveal: true})", [row, seq])
    page.locator("canvas").nth(row).scroll_into_view_if_needed()
    page.evaluate("everfold.choose(0, 1)")
    place = page.evaluate("([row, seq]) => everfold.cell(row, seq)", [row, seq])
    page.mouse.move(place["x"], place["y"])


def test_loads_without_complaint(opened: Page, report: Report) -> None:
    """The page loads without an error or a request beyond itself, and has a row for each compaction and one for now."""
    expect(opened.locator("canvas")).to_have_count(len(report.compactions) + 1)
    expect(opened.get_by_role("heading", level=1)).to_contain_text("Shop <b id=broken>& co</b>")


def test_nothing_that_was_said_becomes_markup(opened: Page, report: Report) -> None:
    """A message that closes the script, a name with tags and a lone surrogate are text and nothing else."""
    opened.evaluate("everfold.choose(0, 1, {force: true})")
    expect(opened.locator("#message-text")).to_contain_text("<img src=x onerror='window.broken = 1'>")
    assert opened.evaluate("window.broken") is None
    assert opened.locator("script").count() == 2
    assert "<img" not in report.path.read_text("utf-8")


def test_strips_are_what_the_certificates_say(opened: Page, report: Report) -> None:
    """In each row every message of the compaction's range has the fate of its group in the certificate."""
    assert len(report.compactions) > 2
    for row, compaction in enumerate(report.compactions):
        assert compaction.certificate
        for covered in compaction.certificate.covered:
            fate = opened.evaluate("([row, seq]) => everfold.fate(row, seq)", [row, covered.seq])
            assert fate in GROUPS[covered.group]
            if fate == "digest":
                assert (
                    opened.evaluate("([row, seq]) => everfold.digest(row, seq)", [row, covered.seq])
                    == covered.digest_id
                )


def test_pointing_at_a_cell_shows_its_message(opened: Page, report: Report) -> None:
    """The message under the pointer is shown with its number, role, tokens and text."""
    for row, seq in ((1, 5), (2, 20), (len(report.compactions), len(report.messages) - 3)):
        hover(opened, row, seq)
        message = report.messages[seq - 1]
        expect(opened.locator("#panel h2").first).to_contain_text(f"Message {seq}")
        expect(opened.locator("#panel .meta").first).to_contain_text(message.view.role)
        shown = opened.locator("#message-text").text_content() or ""
        assert message.view.text[:300] in shown


def test_a_digest_leads_to_its_messages(opened: Page, report: Report) -> None:
    """A folded message leads to its digest, and the digest leads to each message in it."""
    certificate = report.compactions[0].certificate
    assert certificate
    folded = [covered.seq for covered in certificate.covered if covered.group == "folded"]
    opened.evaluate("seq => everfold.choose(0, seq, {force: true})", folded[0])
    opened.get_by_role("button", name="Read the digest").last.click()
    expect(opened.locator("#digest-text")).to_contain_text(f"{certificate.first_seq}-{certificate.last_seq}")
    originals = opened.locator(".originals button")
    expect(originals).to_have_count(len(folded))
    originals.nth(1).click()
    expect(opened.locator("#panel h2").first).to_contain_text(f"Message {folded[1]}")


def test_everything_is_reached_by_keyboard(opened: Page) -> None:
    """Arrow keys walk over messages and compactions, Enter opens the digest, and the strips say what they are."""
    opened.locator("canvas").nth(1).focus()
    opened.keyboard.press("Home")
    expect(opened.locator("#panel h2").first).to_contain_text("Message 1")
    opened.keyboard.press("ArrowRight")
    expect(opened.locator("#panel h2").first).to_contain_text("Message 2")
    opened.keyboard.press("ArrowUp")
    expect(opened.locator("#panel .meta").first).to_contain_text("after compaction 1")
    seq = opened.evaluate("[...everfold.data.messages.keys()].find(i => everfold.fate(0, i + 1) === 'digest') + 1")
    opened.evaluate("seq => everfold.choose(0, seq, {force: true})", seq)
    opened.locator("canvas").nth(0).press("Enter")
    expect(opened.locator("#digest-text")).to_be_visible()
    for canvas in opened.locator("canvas").all():
        assert canvas.get_attribute("aria-label")


def test_a_compaction_tells_its_figures(opened: Page, report: Report) -> None:
    """The label of a row opens the figures of the compaction's report."""
    last = report.compactions[-1].report
    assert last
    opened.locator("button.label").last.click()
    expect(opened.locator("#panel")).to_contain_text(f"{last.folded_count} messages")
    expect(opened.locator("#panel")).to_contain_text(f"{last.resent_tokens:,} token")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(chromium: Browser, report: Report, scheme: str) -> None:
    """The page follows the reader's colour scheme, and its text stands out from the ground in both."""
    with chromium.new_context(offline=True, color_scheme="dark" if scheme == "dark" else "light") as context:
        page = context.new_page()
        page.goto(report.path.as_uri())
        luminance = (
            "key => getComputedStyle(document.body)[key].match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0) / 765"
        )
        ground, ink = (page.evaluate(luminance, key) for key in ("backgroundColor", "color"))
        assert (ground < 0.2 and ink > 0.8) if scheme == "dark" else (ground > 0.8 and ink < 0.2)


def test_fits_a_phone(chromium: Browser, report: Report) -> None:
    """On a narrow screen nothing runs over its side, and a tap opens the message in a sheet that can be closed."""
    with chromium.new_context(offline=True, viewport={"width": 375, "height": 740}, has_touch=True) as context:
        page = context.new_page()
        page.goto(report.path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        page.locator("canvas").nth(1).scroll_into_view_if_needed()
        place = page.evaluate("everfold.cell(1, 3)")
        page.touchscreen.tap(place["x"], place["y"])
        expect(page.locator("#message-text")).to_be_visible()
        page.get_by_role("button", name="Close").click()
        expect(page.locator("#panel")).to_be_hidden()
