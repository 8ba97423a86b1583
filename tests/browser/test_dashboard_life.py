"""The whole life of a fact, as its owner sees it in a real browser: said, folded, dreamed, seen, corrected, undone, erased."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Dashboard, serve_dashboard

from everfold.server.runtime import Runtime

FACT = "Remember that my locker is number 4711."
ANSWER = "I have written that down."
AGENT = "shop"
ROUNDS = 6


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[Dashboard]:
    """A server with an agent that remembers, and whose model follows a script."""
    script = tmp_path / "answers.jsonl"
    script.write_text(json.dumps({"text": ANSWER}) + "\n", "utf-8")
    config = (
        '[compaction]\nsynchronous = true\n[memory]\nsystem = "structured"\n'
        f'[agents.{AGENT}]\nmodel = "script:{script}"\ninstructions = "You help in a shop."\n'
    )
    with serve_dashboard(tmp_path, config) as served:
        yield served


def go(page: Page, place: str) -> None:
    """Go to a page of the dashboard."""
    page.evaluate("place => { location.hash = place }", f"#{place}")


def say(page: Page, text: str, count: int) -> None:
    """Say something in the chat, and wait until so many answers are there."""
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")
    answers = page.get_by_role("log", name="Conversation").get_by_role("article", name=re.compile("assistant, message"))
    expect(answers).to_have_count(count)
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def chat(page: Page) -> str:
    """Say the fact and other things to the agent, and give the id of the session."""
    go(page, f"chat/{AGENT}")
    expect(page.get_by_label("Message", exact=True)).to_be_enabled()
    with page.expect_request(re.compile("/api/sessions/ses_[^/]+")) as asked:
        say(page, FACT, 1)
    for number in range(2, ROUNDS + 1):
        say(page, f"How is the weather on day {number}?", number)
    found = re.search("ses_[^/?]+", asked.value.url)
    assert found
    return found[0]


def fold(page: Page, session_id: str) -> None:
    """Compact the session, so that all but its end is folded."""
    go(page, f"sessions/{session_id}/compactions")
    page.get_by_role("button", name="Compact now").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Newest messages to keep verbatim").fill("2")
    dialog.get_by_role("button", name="Compact", exact=True).click()
    expect(dialog).to_contain_text("Result")
    page.keyboard.press("Escape")
    expect(page.locator("[data-compaction]")).to_have_count(1)


def dream(page: Page, user_id: str) -> None:
    """Have what was said consolidated."""
    go(page, f"users/{user_id}/dreams")
    page.get_by_label("Agent").select_option(AGENT)
    page.get_by_role("button", name="Dream now").click()
    expect(page.get_by_role("dialog").locator(".diff-line.come").first).to_be_visible()
    page.keyboard.press("Escape")


def test_the_whole_life_of_a_fact(dashboard: Dashboard, chromium: Browser) -> None:
    """What is said in a chat is folded, dreamed, seen with why, corrected and undone; erased, no place has it any more."""

    async def default_id(runtime: Runtime) -> str:
        return (await runtime.engine.get_user()).id

    user_id = dashboard.run(default_id)
    with dashboard.page(chromium) as page:
        session_id = chat(page)
        fold(page, session_id)
        dream(page, user_id)

        go(page, f"users/{user_id}/memory")
        topics = page.get_by_role("region", name="Topics")
        expect(topics).to_contain_text("1 item")
        topics.get_by_role("link", name=re.compile("1 item")).click()
        expect(page.get_by_role("dialog")).to_contain_text("4711")
        page.keyboard.press("Escape")
        page.get_by_role("region", name="Items").get_by_role("link", name=re.compile("4711")).click()
        shown = page.get_by_role("dialog")
        shown.get_by_role("button", name="Edit").click()
        shown.get_by_label("Statement").fill("The locker is number 4712.")
        shown.get_by_role("button", name="Save").click()
        expect(shown.locator(".item-text")).to_have_text("The locker is number 4712.")
        shown.get_by_role("button", name="Undo").click()
        expect(shown.locator(".item-text")).to_contain_text("4711")

        why = shown.get_by_role("region", name="Why").get_by_role("link", name="Message 1")
        assert why.get_attribute("href") == f"#sessions/{session_id}/log?seq=1"
        why.click()
        said = page.get_by_role("region", name="Message 1", exact=True)
        expect(said).to_contain_text("4711")
        said.get_by_role("button", name="Erase…").click()
        page.get_by_role("dialog").get_by_role("button", name="Erase", exact=True).click()
        expect(page.locator(".toasts")).to_contain_text("Message 1 was erased")

        for place in ("memory", "dreams", "quarantine"):
            go(page, f"users/{user_id}/{place}")
            expect(page.get_by_role("main")).to_be_visible()
            page.wait_for_timeout(500)
            expect(page.locator("body")).not_to_contain_text("4711")

    async def places(runtime: Runtime) -> list[str]:
        return [f"{found.kind} {found.id}" for found in await runtime.engine.admin.verify_erased(words=["4711"])]

    assert dashboard.run(places) == []
