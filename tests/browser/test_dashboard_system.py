"""The dashboard's frame, and its pages of agents and of the system, in a real browser against a real server."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Dashboard

pytestmark = pytest.mark.slow

_WIDER_PX = "document.documentElement.scrollWidth - innerWidth"
_HOLD_FRAMES = """
const waiting = [], { fetch: ask, requestAnimationFrame: draw, setTimeout: wait } = window;
let isHeld = false;
window.fetch = async (...given) => { const answer = await ask(...given); isHeld ||= answer.url.endsWith("/me"); return answer; };
window.requestAnimationFrame = then => isHeld ? waiting.push(then) : draw(then);
window.setTimeout = (then, ...given) => isHeld ? waiting.push(then) : wait(then, ...given);
window.release = () => { isHeld = false; waiting.splice(0).forEach(then => then(0)); };
"""
"""A browser that draws nothing between the sign-in check and `release()`, like one on a busy machine."""
_GO_AND_HEAR = """place => new Promise(heard => {
    addEventListener("hashchange", heard, { once: true });
    location.hash = place;
})"""


@pytest.fixture
def page(dashboard: Dashboard, chromium: Browser) -> Iterator[Page]:
    """A page that is signed in."""
    with dashboard.page(chromium) as signed_in:
        yield signed_in


def go(page: Page, place: str) -> None:
    """Go to an address of the dashboard."""
    page.evaluate("place => { location.hash = place }", place)


def test_a_key_signs_in_and_out(dashboard: Dashboard, chromium: Browser) -> None:
    """A wrong API key is refused at its field; a valid one opens Home; signing out ends the session in the browser too."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(dashboard.url)
        field = page.get_by_label("Key")
        field.fill("ef_wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Invalid API key")).to_be_visible()
        expect(field).to_have_attribute("aria-invalid", "true")
        field.fill(dashboard.secret)
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("#home"))
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Key")).to_be_visible()
        page.reload()
        expect(page.get_by_label("Key")).to_be_visible()


def test_the_first_view_is_small_and_asks_nobody_else(dashboard: Dashboard, chromium: Browser) -> None:
    """What a browser fetches for the first view is under 300 kB, from this server alone."""
    with chromium.new_context() as context:
        page = context.new_page()
        sizes: dict[str, int] = {}
        page.on("response", lambda answer: sizes.update({answer.url: int(answer.headers.get("content-length", 0))}))
        page.goto(dashboard.url)
        page.get_by_label("Key").fill(dashboard.secret)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Newest sessions").wait_for()
        assert len(sizes) > 8
        assert sum(sizes.values()) < 300_000
        assert all(url.startswith(dashboard.url) for url in sizes)


def test_colours_turn_and_are_kept(page: Page) -> None:
    """The button goes from the system's colours to light and dark, and a reload keeps them."""
    button = page.get_by_role("button", name="Colours")
    colours = []
    for _ in range(2):
        button.click()
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours[0] != colours[1]
    page.reload()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == colours[1]


def test_shortcuts_go_from_page_to_page(page: Page) -> None:
    """`g` and a letter go to a page, `?` shows the shortcuts and Esc hides them, and `/` reaches the search."""
    for letter, place in (("a", "agents"), ("y", "system"), ("h", "home"), ("u", "users")):
        page.keyboard.press("g")
        page.keyboard.press(letter)
        expect(page).to_have_url(re.compile(f"#{place}$"))
        expect(page.get_by_role("link", name=place.title(), exact=True)).to_have_attribute("aria-current", "page")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_label("Search users by name")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Search users by name")).to_be_focused()


@pytest.mark.parametrize("place", ["", "#users"])
def test_an_address_is_followed_from_the_first_picture_on(dashboard: Dashboard, chromium: Browser, place: str) -> None:
    """An address opened before the first frame is drawn is shown, however busy the machine is."""
    with dashboard.own_page(chromium) as page:
        page.evaluate("place => history.replaceState(null, '', location.pathname + place)", place)
        page.add_init_script(_HOLD_FRAMES)
        page.reload()
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
        page.evaluate(_GO_AND_HEAR, "#system")
        page.evaluate("release()")
        expect(page.get_by_role("link", name="System", exact=True)).to_have_attribute("aria-current", "page")
        expect(page.get_by_role("heading", name="System", level=1)).to_be_visible()


def test_an_agent_is_configured(dashboard: Dashboard, page: Page) -> None:
    """A change is saved in the settings file, which keeps its comments; an invalid value is reported at its field."""
    go(page, "#agents/shop")
    limit = page.get_by_label("Context limit")
    expect(limit).to_have_value("16000")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    limit.fill("-5")
    page.get_by_role("button", name="Save").click()
    expect(limit).to_have_attribute("aria-invalid", "true")
    error = page.locator(f"#{limit.get_attribute('id')}-error")
    expect(error).to_contain_text("greater than 0")
    limit.fill("24000")
    page.get_by_label("Summarization").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    written = dashboard.config.read_text("utf-8")
    assert "# speaks politely" in written
    assert "context_limit = 24000" in written
    assert 'memory_system = "summarization"' in written


def test_the_memory_systems_stay_visible_after_another_page(page: Page) -> None:
    """The style of the page Sessions moves nothing on the page Agents: both memory systems stay inside their card."""
    go(page, "#sessions")
    expect(page.get_by_label("Search messages")).to_be_visible()
    go(page, "#agents/shop")
    card = page.locator(".card", has=page.get_by_role("radiogroup", name="Memory system")).bounding_box()
    choices = page.get_by_role("radiogroup", name="Memory system").bounding_box()
    assert card
    assert choices
    assert card["y"] <= choices["y"]
    assert choices["y"] + choices["height"] <= card["y"] + card["height"]


def test_a_setting_of_compaction_is_refused_at_its_field(page: Page) -> None:
    """An override that contradicts others is reported beside that override, and nothing is saved."""
    go(page, "#agents/shop")
    page.get_by_role("button", name="Add a setting").click()
    page.get_by_role("combobox", name="Setting").fill("trigger_ratio")
    value = page.get_by_label("Value", exact=True)
    value.fill("7")
    page.get_by_role("button", name="Save").click()
    expect(value).to_have_attribute("aria-invalid", "true")
    value.fill("0.85")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    page.get_by_text("Effective settings").click()
    expect(page.locator("dt", has_text="trigger ratio").locator("+ dd")).to_have_text("0.85 this agent")


def test_a_key_is_made_shown_once_and_revoked(dashboard: Dashboard, page: Page, chromium: Browser) -> None:
    """The secret of a new API key is shown once and works; revoking it signs its browser out."""
    go(page, "#system")
    page.get_by_role("button", name="Create an API key").click()
    page.get_by_label("Name").fill("for a <b>test</b>")
    page.get_by_role("button", name="Create", exact=True).click()
    secret = page.locator("[data-secret]").inner_text()
    assert secret.startswith("ef_")
    page.get_by_role("button", name="Done").click()
    assert secret not in page.content()
    with chromium.new_context() as context:
        other = context.new_page()
        other.goto(dashboard.url)
        other.get_by_label("Key").fill(secret)
        other.keyboard.press("Enter")
        expect(other.get_by_role("navigation", name="Pages")).to_be_visible()
        page.get_by_role("button", name="Revoke for a <b>test</b>").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(page.get_by_role("row", name="for a <b>test</b>")).to_contain_text("revoked")
        other.reload()
        expect(other.get_by_label("Key")).to_be_visible()


def test_the_system_shows_what_waits_and_what_holds(page: Page) -> None:
    """Figures, compactions, spend, sources and settings are there, each setting with its place; nothing is wider than the page."""
    go(page, "#system")
    expect(page.get_by_role("list", name="Figures")).to_contain_text("ready")
    expect(page.get_by_text("No pending or failed compactions")).to_be_visible()
    expect(page.get_by_text("No sources", exact=True)).to_be_visible()
    expect(page.get_by_role("row", name="memory.system")).to_contain_text("file")
    assert page.evaluate(_WIDER_PX) <= 0


def test_an_unknown_page_says_so(page: Page) -> None:
    """An address that leads nowhere has words and a way back."""
    go(page, "#nowhere/at/all")
    expect(page.get_by_text("Page not found")).to_be_visible()
