"""Every page of the dashboard for people without a mouse or without eyes: axe-core finds nothing serious, and Tab goes everywhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize
from tests.browser.conftest import SCREEN, Dashboard, serve_dashboard
from tests.browser.test_dashboard_pages import CONFIG, Seeded, go, seed
from tests.support.sizes import some

pytestmark = pytest.mark.slow

AXE = Path(__file__).parent.parent / "data" / "axe" / "axe.min.js"
PHONE: ViewportSize = {"width": 390, "height": 800}
FIND_SERIOUS = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter(found => ["serious", "critical"].includes(found.impact))
    .map(found => `${found.id}: ${found.nodes[0].html.slice(0, 200)}`)"""
WATCH_FOCUS = """() => {
    window.reached = new Set();
    document.addEventListener("focusin", event => window.reached.add(event.target));
}"""
STAND_AT_TOP = """() => {
    document.activeElement.blur();
    getSelection().collapse(document.body, 0);
}"""
WAIT_UNTIL_STILL = """() => new Promise(resolve => {
    let timer = 0;
    const wait = () => { clearTimeout(timer); timer = setTimeout(end, 500); };
    const watcher = new MutationObserver(wait);
    const end = () => {
        if (document.querySelector("[aria-busy='true']")) return wait();
        watcher.disconnect();
        resolve();
    };
    watcher.observe(document.body, {subtree: true, childList: true});
    wait();
})"""
IS_BACK = "() => document.activeElement === document.body"
LIST_MISSED = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter(node => node.tabIndex >= 0 && !node.disabled && !node.closest("fieldset:disabled") && node.checkVisibility()
        && !(node.type === "radio" && !node.checked) && !window.reached.has(node))
    .map(node => node.outerHTML.slice(0, 120))"""
MOST_TABS = 400
ALL, EVEN, ODD = slice(None), slice(0, None, 2), slice(1, None, 2)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A server with settings in which compactions and memory are at work."""
    with serve_dashboard(tmp_path_factory.mktemp("access"), CONFIG) as served:
        yield served


@pytest.fixture(scope="module")
def places(dashboard: Dashboard) -> list[str]:
    """Every page, each with something on it."""
    seeded: Seeded = dashboard.run(seed)
    user, folded = f"users/{seeded.user_id}", f"sessions/{seeded.folded}"
    tabs = ("memory", "sessions", "extractions", "dreams", "quarantine", "files", "audit")
    return [
        "home",
        *(f"{user}/{tab}" for tab in tabs),
        "sessions",
        "sessions?q=kiln",
        *(f"{folded}{place}" for place in ("?seq=3", "/log?seq=3", "/compactions", "/window", "/recall?q=kiln")),
        f"sessions/{seeded.formatted}/log?seq=1",
        "agents/shop",
        "chat/shop",
        "system",
    ]


def look(page: Page, places: list[str]) -> list[str]:
    """What is serious on these pages."""
    found = list[str]()
    page.evaluate(AXE.read_text("utf-8"))
    for place in places:
        go(page, place)
        found += [f"{place}: {one}" for one in page.evaluate(FIND_SERIOUS)]
    return found


@pytest.mark.parametrize(
    ("size", "scheme", "every"),
    [(SCREEN, "light", ALL), (SCREEN, "dark", some(ALL, EVEN)), (PHONE, "light", some(ALL, ODD))],
    ids=["light", "dark", "phone"],
)
def test_nothing_serious_is_found(
    dashboard: Dashboard, places: list[str], chromium: Browser, size: ViewportSize, scheme: str, every: slice
) -> None:
    """No page has a serious violation: names, roles, contrasts and structure are right in both colours and on a phone.

    By day each page is looked at in the dark or on a phone.
    """
    with dashboard.own_page(chromium, viewport=size, color_scheme=scheme, bypass_csp=True) as page:  # for axe's styles
        assert look(page, places[every]) == []


def test_tab_goes_everywhere(dashboard: Dashboard, places: list[str], chromium: Browser) -> None:
    """From the top of every page, by day of every second one, Tab reaches every control that can be reached, and leads out."""
    with dashboard.own_page(chromium) as page:
        for place in places[some(ALL, ODD)]:
            go(page, place)
            page.evaluate(WAIT_UNTIL_STILL)  # a list that is replaced takes the focus with it
            page.evaluate(STAND_AT_TOP)
            page.evaluate(WATCH_FOCUS)
            for _ in range(MOST_TABS):
                page.keyboard.press("Tab")
                if page.evaluate(IS_BACK):
                    break
            assert (place, page.evaluate(LIST_MISSED)) == (place, [])
