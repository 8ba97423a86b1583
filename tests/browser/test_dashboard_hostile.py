"""Untrusted texts in every place of the dashboard that shows one."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Dashboard
from tests.browser.hostile import HOSTILE, HUGE, RUNNING

from everfold.core.memory.items import Item, ItemStatus
from everfold.core.memory.records import MemoryChange, MemoryVersion
from everfold.core.memory.topics import Topic
from everfold.core.primitives.ids import AgentId, UserId
from everfold.errors import EverfoldError
from everfold.server.runtime import Runtime
from everfold.testing.kit.memory_builders import change, dream, evidence, item, put, topic

pytestmark = pytest.mark.slow

SHOP = AgentId("shop")
WIDER_PX = """() => Math.max(
    document.documentElement.scrollWidth - innerWidth,
    ...[...document.querySelectorAll(".main, .detail, .dialog-body, .rail")].map(node => node.scrollWidth - node.clientWidth))"""


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A user of whom nothing harmless is known."""

    user_id: UserId
    name: str
    item_id: str
    topic_name: str


async def seed(runtime: Runtime) -> Victim:
    """Hostile names, bindings, statements, topics, dreams and API keys, stored without the checks that quarantine some."""
    engine, store = runtime.engine, runtime.engine._store
    user = await engine.add_user(HOSTILE[0], bindings=["web:<img src=x onerror=window.hacked=1>"])
    for name in HOSTILE[1:]:
        with suppress(EverfoldError):  # what the engine refuses no page has to show
            await engine.add_user(name)
    texts = (*HOSTILE, HUGE)
    items = [_know(user.id, number, text) for number, text in enumerate(texts)]
    topics = [_write(user.id, number, text) for number, text in enumerate(texts)]
    await put(store, *items, *topics)
    made = dream("drm_1", *topics, user_id=user.id, agent_id=SHOP)
    await change(
        store,
        MemoryChange(user_id=user.id, agent_id=SHOP, expected=MemoryVersion(), dream=replace(made, problem=RUNNING[0])),
    )
    for name in RUNNING:
        await engine.admin.api_keys.make(name[:100], "admin")
    return Victim(user_id=user.id, name=user.name, item_id=items[-1].id, topic_name=topics[0].name)


def _know(user_id: UserId, number: int, text: str) -> Item:
    """An item with this text; every second one is quarantined."""
    status: ItemStatus = "quarantined" if number % 2 else "active"
    quote = evidence(text[:5_000], session_id="ses_gone", seq=number + 1)
    return item(f"itm_{number}", text, quote, user_id=user_id, agent_id=SHOP, status=status)


def _write(user_id: UserId, number: int, text: str) -> Topic:
    """A topic with it as its name, its line and what it says."""
    name = text[:3_000].replace("/", "|")  # a path could not name it
    written = topic(f"top_{number}", name, user_id=user_id, agent_id=SHOP, content=f"{text}\n{text[::-1]}")
    return replace(written, summary=text[:20_000])


@pytest.fixture(scope="module")
def victim(dashboard: Dashboard) -> Victim:
    """What the store holds."""
    return dashboard.run(seed)


@pytest.fixture
def page(dashboard: Dashboard, victim: Victim, chromium: Browser) -> Iterator[Page]:
    """A page that is signed in and shows the victim; nothing may run on it to its end."""
    with dashboard.page(chromium) as signed_in:
        go(signed_in, "users", victim.user_id)
        yield signed_in
        assert signed_in.evaluate("window.hacked") is None


def go(page: Page, *parts: str, query: str = "") -> None:
    """Go to an address of the dashboard, each part encoded."""
    page.evaluate(
        "([parts, query]) => { location.hash = parts.map(encodeURIComponent).join('/') + query }", [parts, query]
    )


def require_harmless(page: Page) -> None:
    """Nothing ran, nothing is wider than its place, and no element is there that we did not make."""
    page.wait_for_timeout(400)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(WIDER_PX) <= 0
    assert (
        page.locator(
            "iframe, object, embed, img, math, form[action], [onerror], [onload], a[href^='javascript']"
        ).count()
        == 0
    )


def test_names_are_shown_as_text(page: Page, victim: Victim) -> None:
    """Hostile names stand in the rail and as a heading word for word."""
    expect(page.get_by_role("option").filter(has_text=victim.name)).to_be_visible()
    go(page, "users", victim.user_id, "memory")
    expect(page.get_by_role("heading", level=1).filter(has_text=victim.name)).to_be_visible()
    require_harmless(page)


def test_no_tab_of_a_user_runs_a_text_or_breaks(page: Page, victim: Victim) -> None:
    """Every tab shows what is known, of any make and length, harmlessly."""
    for tab in ("memory", "extractions", "dreams", "quarantine"):
        go(page, "users", victim.user_id, tab)
        expect(page.get_by_role("tab", selected=True)).to_have_attribute("data-tab", tab)
        expect(page.locator(".loading")).to_have_count(0)
        require_harmless(page)


def test_a_line_of_a_megabyte_is_shown_in_parts(page: Page, victim: Victim) -> None:
    """Of a huge statement 20,000 characters are laid out, with a way to more; the dialog stays as wide as it is."""
    go(page, "users", victim.user_id, "memory", query=f"?item={victim.item_id}")
    text = page.locator(".item-text")
    expect(text).to_be_visible()
    assert len(text.inner_text()) == 20_000
    shown = page.get_by_role("dialog", name="Item")
    shown.get_by_role("button", name="Show all").first.click()
    shown.get_by_role("button", name=re.compile("more characters")).first.click()
    assert len(text.inner_text()) == 40_000
    require_harmless(page)


def test_topics_open_harmlessly(page: Page, victim: Victim) -> None:
    """A topic's name, line and content are text, whatever they are."""
    for number in range(len(HOSTILE)):
        go(page, "users", victim.user_id, "memory")
        page.get_by_role("region", name="Topics").locator(".topic").nth(number).click()
        expect(page.get_by_role("dialog").locator(".topic-content")).to_be_visible()
        require_harmless(page)


def test_a_dream_of_hostile_topics_is_a_diff_of_text(page: Page, victim: Victim) -> None:
    """Before and after are compared line by line, and stay text."""
    go(page, "users", victim.user_id, "dreams", query="?dream=drm_1")
    expect(page.get_by_role("dialog", name="Dream").locator(".change").first).to_be_visible()
    require_harmless(page)


def test_the_system_page_shows_hostile_keys_as_text(page: Page) -> None:
    """Names of API keys are text."""
    go(page, "system")
    expect(page.get_by_role("row").filter(has_text=RUNNING[0])).to_be_visible()
    require_harmless(page)


def test_deleting_asks_for_a_hostile_name_as_text(page: Page, victim: Victim) -> None:
    """The name that is to be typed stands there as text, and the id does as well."""
    go(page, "users", victim.user_id, "memory")
    page.get_by_role("button", name="Delete all").click()
    asked = page.get_by_role("dialog")
    expect(asked).to_contain_text(victim.name)
    asked.get_by_label("Type this to confirm").fill(victim.user_id)
    expect(asked.get_by_role("button", name="Delete all")).to_be_enabled()
    require_harmless(page)


def test_a_phone_holds_hostile_texts(dashboard: Dashboard, victim: Victim, chromium: Browser) -> None:
    """At 390 pixels nothing is wider than the page."""
    with dashboard.own_page(chromium, viewport={"width": 390, "height": 800}) as page:
        for tab in ("memory", "quarantine"):
            go(page, "users", victim.user_id, tab)
            page.get_by_role("tabpanel").wait_for()
            require_harmless(page)
        go(page, "users", victim.user_id, "dreams", query="?dream=drm_1")
        expect(page.get_by_role("dialog", name="Dream").locator(".change").first).to_be_visible()
        require_harmless(page)
