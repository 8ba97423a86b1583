"""The first minutes with the dashboard: the demo, a link that signs in, and the preview of a session that nothing folds."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.browser.conftest import SCREEN, Dashboard, serve_dashboard

from everfold.server.runtime import Runtime
from everfold.testing.kit.builders import talk


@pytest.mark.slow
def test_the_demo_is_one_click_away(chromium: Browser, tmp_path: Path) -> None:
    """On an empty dashboard one button loads the demo and opens its session, whose strips show folded messages."""
    with serve_dashboard(tmp_path) as dashboard, dashboard.page(chromium) as page:
        page.get_by_role("link", name="Sessions", exact=True).click()
        page.get_by_role("button", name="Load the demo").click()
        expect(page).to_have_url(re.compile(r"#sessions/ses_"))
        expect(page.get_by_role("slider", name="The log, now")).to_be_visible()
        expect(page.get_by_text("482 messages").first).to_be_visible()
        page.get_by_role("link", name="Sessions", exact=True).click()
        expect(page.get_by_role("button", name="Load the demo")).to_have_count(0)


@pytest.mark.parametrize("is_known", [True, False])
def test_a_link_signs_in(chromium: Browser, dashboard: Dashboard, *, is_known: bool) -> None:
    """The link of a first start opens the page that it names, signed in, and the API key is not left in the address."""
    secret = dashboard.secret if is_known else "ef_nobody"
    with chromium.new_context(viewport=SCREEN) as context:
        page = context.new_page()
        page.goto(f"{dashboard.url}#sign-in?key={secret}&to=agents")
        shown = page.get_by_role("navigation", name="Pages") if is_known else page.get_by_label("API key")
        expect(shown).to_be_visible()
        expect(page).to_have_url(f"{dashboard.url}#agents")


@pytest.mark.slow
def test_a_session_that_nothing_folds_has_a_preview(chromium: Browser, dashboard: Dashboard) -> None:
    """A session without a compaction shows how it would fold at 8,000 tokens, labelled as a preview, and stays as it is."""

    async def say(runtime: Runtime) -> str:
        session = await runtime.engine.session(agent="clerk", limit=128_000)
        await session.append([*talk(400)])
        return session.id

    session_id = dashboard.run(say)
    with dashboard.page(chromium) as page:
        page.goto(f"{dashboard.url}#sessions/{session_id}")
        expect(page.get_by_role("status").filter(has_text="Nothing is folded yet")).to_contain_text("8,000 tokens")
        expect(page.get_by_role("slider", name="The log, preview at 8,000 tokens")).to_be_visible()

    async def count(runtime: Runtime) -> int:
        return len(await (await runtime.engine.session(id=session_id)).inspect.compactions())

    assert dashboard.run(count) == 0


@pytest.mark.slow
def test_a_short_session_is_previewed_at_the_limit_that_folds_it(chromium: Browser, dashboard: Dashboard) -> None:
    """Where nothing would fold at 8,000 tokens, the preview is at a lower limit, so that it shows a fold."""

    async def say(runtime: Runtime) -> str:
        session = await runtime.engine.session(agent="short", limit=128_000)
        log = [
            {"role": "user" if n % 2 == 0 else "assistant", "content": f"Boat {n}: " + "blue sail, " * 20}
            for n in range(60)
        ]
        await session.append(log)
        return session.id

    with dashboard.page(chromium) as page:
        page.goto(f"{dashboard.url}#sessions/{dashboard.run(say)}")
        expect(page.get_by_role("status").filter(has_text="Nothing is folded yet")).to_contain_text("would fold at")
        expect(page.get_by_role("slider", name=re.compile("The log, preview at [24],000 tokens"))).to_be_visible()


@pytest.mark.slow
def test_a_long_session_is_previewed_on_request(chromium: Browser, dashboard: Dashboard) -> None:
    """A session that takes seconds to preview shows its log at once, and its preview after a click."""

    async def say(runtime: Runtime) -> str:
        session = await runtime.engine.session(agent="long", limit=1_000_000)
        for first in range(0, 5200, 400):
            # said by an assistant, so that memory looks at none of them
            await session.append([{"role": "assistant", "content": f"Boat {first + n}."} for n in range(400)])
        return session.id

    with dashboard.page(chromium) as page:
        page.goto(f"{dashboard.url}#sessions/{dashboard.run(say)}")
        expect(page.get_by_role("slider", name="The log, now")).to_be_visible()
        expect(page.get_by_role("slider", name=re.compile("preview"))).to_have_count(0)
        page.get_by_role("button", name="Preview at 8,000 tokens").click()
        expect(page.get_by_role("slider", name="The log, preview at 8,000 tokens")).to_be_visible()


def test_files_are_imported_by_a_button(chromium: Browser, tmp_path: Path) -> None:
    """Chosen files are sent, stored and counted; what was not stored is named; the first session opens with its preview."""
    fixtures = Path(__file__).parents[1] / "data" / "transcripts"
    with serve_dashboard(tmp_path) as dashboard, dashboard.page(chromium) as page:
        page.goto(f"{dashboard.url}#sessions")
        page.get_by_role("button", name="Import…").first.click()
        files = [fixtures / "chatgpt.json", fixtures / "broken" / "unknown_format.json"]
        page.get_by_label("Files").set_input_files(files)
        page.get_by_role("button", name="Import", exact=True).click()
        expect(page.get_by_role("status").filter(has_text="3 sessions with 10 messages were stored")).to_be_visible()
        page.get_by_text("1 file was not stored").click()
        expect(page.get_by_text("an object with `recipe`")).to_be_visible()
        page.get_by_role("button", name="Open the first session").click()
        expect(page).to_have_url(re.compile(r"#sessions/ses_"))
        expect(page.get_by_text("6 messages").first).to_be_visible()
