"""What holds for all pages of the dashboard alike: their styles, their tables, and texts that are formatted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.browser.conftest import Dashboard, serve_dashboard
from tests.browser.hostile import HOSTILE, RUNNING
from tests.support.sizes import every

from everfold.server.runtime import Runtime
from everfold.services.sessions import search_users

CONFIG = """\
[compaction]
synchronous = true

[memory]
system = "structured"

[agents.shop]
context_limit = 3000
"""
PLACES = ("users", "sessions", "agents", "chat", "system")
FORMATTED = """\
# The kiln

1. Fill it with **forty mugs**.
2. Fire at `1220` degrees.

- [x] done

| glaze | price |
| --- | --: |
| fennel | 17 |

```python
print("<b>hot</b>")
```

[the manual](https://kiln.example/manual) and [not this](javascript:window.hacked=1) ![a picture](https://kiln.example/a.png)
"""
STYLES = """() => [...document.querySelectorAll(".main *")].map(node => {
    const style = getComputedStyle(node);
    return [node.tagName, node.getAttribute("class"), style.display, style.position, style.fontSize, style.padding, style.margin, style.gap].join(" ");
})"""
PHONE = {"width": 390, "height": 800}


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """What the store holds.

    Attributes:
        folded: A session with compactions.
        formatted: A session whose messages are Markdown, harmless and hostile.
        user_id: The user of both, who has a memory.
    """

    folded: str
    formatted: str
    user_id: str


async def seed(runtime: Runtime) -> Seeded:
    """Two users, one with a folded session and a memory."""
    engine = runtime.engine
    ada, ben = [await engine.add_user(name) for name in ("Ada", "Ben")]
    session = await engine.session(user=ada.id, agent="shop")
    for number in range(60):
        await session.append(
            {"role": "user", "content": f"Remember: glaze {number} is fired at {900 + number} degrees."}
        )
        await session.append({"role": "assistant", "content": f"Glaze {number} is noted for the kiln. " * 4})
        await session.window()
    await (await engine.memory(user=ada.id, agent="shop")).dream()
    other = await engine.session(user=ben.id, agent="shop")
    await other.append({"role": "user", "content": "Is the kiln free on Monday?"})
    formatted = await engine.session(user=ada.id, agent="writer")
    await formatted.append({"role": "assistant", "content": FORMATTED})
    for text in HOSTILE:
        await formatted.append({"role": "assistant", "content": f"**bold**\n\n{text}\n\n- {text}\n\n> {text}"})
    return Seeded(folded=session.id, formatted=formatted.id, user_id=ada.id)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A server with settings in which compactions and memory are at work."""
    with serve_dashboard(tmp_path_factory.mktemp("pages"), CONFIG) as served:
        yield served


@pytest.fixture(scope="module")
def seeded(dashboard: Dashboard) -> Seeded:
    """What the store holds."""
    return dashboard.run(seed)


@pytest.fixture
def page(dashboard: Dashboard, chromium: Browser) -> Iterator[Page]:
    """A page that is signed in; no text of a message may run on it."""
    with dashboard.page(chromium) as signed_in:
        yield signed_in
        assert signed_in.evaluate("window.hacked") is None


def turn_to(page: Page, place: str) -> None:
    """Go to an address of the dashboard, whether or not a page is there."""
    page.evaluate("place => { location.hash = place }", place)


def go(page: Page, place: str) -> None:
    """Go to an address of the dashboard, and wait until everything there is loaded."""
    turn_to(page, place)
    expect(page.get_by_role("navigation", name="Pages").locator("[aria-current]")).to_have_attribute(
        "href", f"#{place.lstrip('#').split('/')[0].split('?')[0]}"
    )
    expect(page.locator(".main h1:visible, .main h2:visible, .chat-head:visible").first).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)


def read_styles(page: Page) -> list[str]:
    """The styles of everything that a page shows, once it shows all of it."""
    styles: list[str] = []
    while (seen := page.evaluate(STYLES)) != styles:
        styles = seen
        page.wait_for_timeout(500)
    return styles


@pytest.mark.parametrize(
    "place", ["system", *(pytest.param(it, marks=pytest.mark.slow) for it in ("agents/shop", "users/default/memory"))]
)
def test_no_page_changes_the_style_of_another(page: Page, seeded: Seeded, place: str) -> None:
    """A page has the same styles when it is opened first and after every other page was visited."""
    assert seeded
    page.goto(f"{page.url.split('#')[0]}#{place}")
    page.reload()
    go(page, place)
    first = read_styles(page)
    for other in PLACES:
        go(page, other)
    go(page, place)
    assert read_styles(page) == first


def test_a_search_over_all_users_finds_everyone(page: Page, seeded: Seeded) -> None:
    """With all users chosen, messages of each user are found, and each hit names its user."""
    assert seeded
    go(page, "sessions")
    page.get_by_label("Search messages").fill("kiln")
    hits = page.get_by_role("list", name="Messages found")
    expect(hits.get_by_text("Ben", exact=True)).to_have_count(1)
    expect(hits.get_by_text("Ada", exact=True).first).to_be_visible()
    expect(page.get_by_text("of all 3 users")).to_be_visible()
    page.get_by_label("User", exact=True).fill("Ben")
    page.get_by_role("option", name="Ben").click()
    expect(hits.get_by_role("listitem")).to_have_count(1)


@pytest.mark.slow
def test_a_search_over_all_users_goes_on_until_it_is_stopped(
    page: Page, seeded: Seeded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One user after the other is looked through by itself; stopped, what was found stays, and the search can go on."""
    assert seeded
    monkeypatch.setattr(search_users, "USERS_PER_LOOK", 1)
    monkeypatch.setattr(search_users, "LOOKS_PER_SEARCH", 1)
    held = list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/search/messages?*cursor=*", hold)
    go(page, "sessions")
    page.get_by_label("Search messages").fill("kiln")
    expect(page.get_by_text(re.compile("of the first 1 user$"))).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    page.unroute("**/api/search/messages?*cursor=*")
    page.get_by_role("button", name="Search more users").click()
    expect(page.get_by_text("of all 3 users")).to_be_visible()
    expect(page.get_by_role("list", name="Messages found").get_by_text("Ben", exact=True)).to_have_count(1)
    page.get_by_label("Search messages").fill("kiln porpoise")
    expect(page.get_by_text("No message holds all of these words.")).to_be_visible()


@pytest.mark.parametrize("place", every(2, ["constructor", "toString", "harbour"]))
def test_an_unknown_page_is_not_found(page: Page, place: str) -> None:
    """An address that names no page says so, also where every object of JavaScript has something of that name."""
    turn_to(page, f"#{place}")
    expect(page.get_by_text("Page not found")).to_be_visible()
    expect(page).to_have_title("Everfold")


@pytest.mark.usefixtures("seeded")
@pytest.mark.parametrize("day", every(3, ["12026-01-01", "0000-01-01", "2031-13-01", "tomorrow"]))
def test_a_range_ignores_what_is_no_day(page: Page, day: str) -> None:
    """A list and a search whose address holds something else than a day show what they would show without it."""
    for place, shown in (
        (f"#sessions?from={day}&to={day}", "Sessions"),
        (f"#sessions?from={day}&q=Monday", "Messages found"),
    ):
        turn_to(page, place)
        expect(page.get_by_label(shown, exact=True)).to_contain_text("Monday")


@pytest.mark.usefixtures("seeded")
def test_a_range_ends_with_the_last_year(page: Page) -> None:
    """A field for a day takes a year of four digits, and the last such day of all is a bound like another."""
    turn_to(page, "#sessions?to=9999-12-31")
    expect(page.get_by_role("listbox", name="Sessions")).to_contain_text("Monday")
    for name in ("Stored from", "Stored to"):
        expect(page.get_by_label(name)).to_have_attribute("max", "9999-12-31")


def test_a_page_that_fails_keeps_the_frame(page: Page) -> None:
    """Where a page cannot be drawn, it says so; others are still reached, and it is drawn again when that works."""
    go(page, "#sessions")
    page.route("**/api/home*", lambda route: route.fulfill(json={}))
    turn_to(page, "#home")
    problem = page.get_by_role("alert").filter(has_text="The page failed")
    expect(problem).to_be_visible()
    turn_to(page, "#sessions")
    expect(page.get_by_role("listbox", name="Sessions")).to_be_visible()
    expect(problem).to_have_count(0)
    turn_to(page, "#home")
    expect(problem).to_be_visible()
    page.unroute_all()
    problem.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("list", name="Figures")).to_be_visible()


@pytest.mark.slow
def test_a_log_is_searched_beside_what_others_say(page: Page, dashboard: Dashboard) -> None:
    """The search of a log finds its only message with a word, which a hundred messages of another session say better."""

    async def say(runtime: Runtime) -> str:
        said, other = [await runtime.engine.session(agent="clerk", beside=True) for _ in range(2)]
        await said.append(
            {"role": "user", "content": f"{'We spoke of weather, boats and tea. ' * 4} And of the locker."}
        )
        for number in range(110):
            await other.append({"role": "user", "content": f"My locker is {number}."})
        return said.id

    go(page, f"#sessions/{dashboard.run(say)}/log")
    page.get_by_label("Search this session").fill("locker")
    found = page.get_by_role("list", name="Messages found").get_by_role("listitem")
    expect(found).to_have_count(1)
    found.get_by_role("button").click()
    expect(page.get_by_role("region", name="Message 1", exact=True)).to_contain_text("And of the locker.")


def test_a_reset_asks_first(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """Reset changes nothing until it is confirmed; then an empty session is the current one."""

    async def count(runtime: Runtime) -> int:
        return len(await runtime.engine.list_sessions(user=seeded.user_id, agent="writer"))

    go(page, f"sessions/{seeded.formatted}")
    page.get_by_role("button", name="Reset…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert dashboard.run(count) == 1
    page.get_by_role("button", name="Reset…").click()
    page.get_by_role("dialog").get_by_role("button", name="Reset", exact=True).click()
    expect(page.get_by_text("0 messages")).to_be_visible()
    assert dashboard.run(count) == 2


@pytest.mark.slow
def test_a_compaction_says_what_became_of_its_messages(page: Page, seeded: Seeded) -> None:
    """Each compaction of the list says how many messages it folded, before it is opened."""
    go(page, f"sessions/{seeded.folded}/compactions")
    rows = page.locator(".compaction-head")
    expect(rows.nth(1)).to_be_visible()
    for row in rows.all():
        expect(row).to_contain_text("folded")


@pytest.mark.slow
def test_a_topic_names_its_items(page: Page, seeded: Seeded) -> None:
    """A topic lists the statements that it was made from, once its evidence is opened."""
    go(page, f"users/{seeded.user_id}/memory")
    page.get_by_role("region", name="Topics").locator(".topic").first.click()
    page.get_by_role("dialog").get_by_text("as evidence").click()
    items = page.get_by_role("dialog").get_by_role("list").filter(has=page.locator("a"))
    expect(items.first).to_contain_text("degrees")


@pytest.mark.slow
def test_tables_keep_their_values_on_a_phone(dashboard: Dashboard, seeded: Seeded, chromium: Browser) -> None:
    """At 390 pixels every value of every table is within the page, with the title of its column."""
    with dashboard.own_page(chromium, viewport=PHONE) as page:
        for place in ("system", f"users/{seeded.user_id}/extractions"):
            go(page, place)
            expect(page.locator("td").first).to_be_visible()
            widest = page.evaluate(
                "() => Math.max(...[...document.querySelectorAll('td, .table-box')].map(node => node.getBoundingClientRect().right))"
            )
            assert widest <= PHONE["width"]
            assert page.evaluate(
                "() => [...document.querySelectorAll('.table-box')].every(node => node.scrollWidth <= node.clientWidth)"
            )
        facts = page.locator("td[data-title=Facts]").first
        assert facts.evaluate("node => getComputedStyle(node, '::before').content") == '"Facts"'


@pytest.mark.slow
def test_markdown_is_formatted(page: Page, seeded: Seeded) -> None:
    """A message's Markdown is shown as headings, lists, tables and code, and as it was written on demand."""
    go(page, f"sessions/{seeded.formatted}/log?seq=1")
    text = page.locator("#message-text")
    expect(text.get_by_role("heading", name="The kiln")).to_be_visible()
    expect(text.locator("ol li strong")).to_have_text("forty mugs")
    expect(text.locator("td.number")).to_have_text("17")
    expect(text.locator("pre")).to_have_text('print("<b>hot</b>")')
    expect(text.get_by_role("link")).to_have_count(2)
    expect(text.get_by_role("link").first).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(text.locator("img")).to_have_count(0)
    text.get_by_role("button", name="Show as written").click()
    expect(text).to_contain_text("**forty mugs**")


@pytest.mark.slow
def test_hostile_markdown_stays_text(page: Page, seeded: Seeded) -> None:
    """No message runs a script, makes a foreign element, or links to anything but web and mail."""
    for seq in range(2, len(HOSTILE) + 2):
        go(page, f"sessions/{seeded.formatted}/log?seq={seq}")
        expect(page.locator("#message-text strong").first).to_have_text("bold")
        text = page.locator("#message-text")
        assert text.locator("img, script, iframe, svg, style, [onerror], [onload], details, form").count() == 0
        for link in text.get_by_role("link").all():
            assert (link.get_attribute("href") or "").startswith(("http://", "https://", "mailto:"))
    go(page, f"sessions/{seeded.formatted}/log?seq=2")
    expect(page.locator("#message-text")).to_contain_text(RUNNING[0])


def test_home_tells_what_is_stored_and_saved(page: Page, seeded: Seeded) -> None:
    """Home has the figures, a chart with its table, and the newest sessions by title, which lead to them."""
    go(page, "home")
    figures = page.get_by_role("list", name="Figures")
    expect(figures).to_contain_text("messages stored")
    expect(figures).to_contain_text("input tokens saved")
    chart = page.get_by_role("region", name="Input tokens")
    expect(chart.get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(r"whole conversation [\d.]+K, sent [\d.]+K")
    )
    chart.get_by_text("As a table").click()
    expect(chart.get_by_role("row")).to_have_count(2)
    sessions = page.get_by_role("region", name="Newest sessions")
    sessions.get_by_role("link", name="Is the kiln free on Monday?").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Is the kiln free on Monday?")
    expect(page).to_have_url(re.compile(r"#sessions/ses_"))
    assert seeded.folded


@pytest.mark.slow
def test_home_follows_what_happens(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """A session that begins elsewhere appears on the open page."""
    assert seeded
    go(page, "home")

    async def speak(runtime: Runtime) -> None:
        session = await runtime.engine.session(agent="porter")
        await session.append({"role": "user", "content": "Where do I put the crates?"})

    dashboard.run(speak)
    expect(page.get_by_role("link", name="Where do I put the crates?")).to_be_visible()


@pytest.mark.slow
def test_a_user_has_their_sessions_and_an_audit(page: Page, seeded: Seeded) -> None:
    """The page of a user lists that user's sessions alone, and what was read and written of their memory."""
    go(page, f"users/{seeded.user_id}/sessions")
    sessions = page.get_by_role("region", name="Sessions of this user")
    expect(sessions.get_by_text("Remember: glaze 0 is fired")).to_be_visible()
    expect(sessions.get_by_text("Is the kiln free on Monday?")).to_have_count(0)
    go(page, f"users/{seeded.user_id}/audit")
    table = page.get_by_role("table", name="Audit of this memory")
    expect(table.get_by_role("row").filter(has_text="extract").first).to_be_visible()
    page.get_by_label("Action").select_option("dream")
    expect(table.get_by_role("row").filter(has_text="extract")).to_have_count(0)
    expect(table.get_by_role("row").filter(has_text="dreamer").first).to_be_visible()


def test_an_agent_is_made(page: Page, dashboard: Dashboard, seeded: Seeded) -> None:
    """A new agent gets its section in the settings file and its page; a name that is taken is refused at its field."""
    assert seeded
    go(page, "agents")
    page.get_by_role("button", name="New").click()
    form = page.get_by_role("dialog", name="New agent")
    form.get_by_label("Name").fill("shop")
    expect(form.get_by_text("An agent with this name exists.")).to_be_visible()
    form.get_by_label("Name").fill("night porter")
    form.get_by_label("Memory system").select_option("structured")
    form.get_by_label("Instructions").fill("You open the door.")
    form.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="night porter", level=1)).to_be_visible()
    written = dashboard.config.read_text("utf-8")
    assert '[agents."night porter"]' in written
    assert 'instructions = "You open the door."' in written
