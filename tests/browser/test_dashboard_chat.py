"""The dashboard's chat in a real browser against a real server and models that follow scripts."""

import json
import re
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import Dashboard, serve_dashboard
from tests.forks import Forks
from tests.server.processes import COMMAND

from everfold.core.log.messages import Message
from everfold.server.runtime import Runtime

EVIL = "<img src=x onerror='window.broken = 1'><script>window.broken = 1</script> [x](javascript:window.broken=1) \u202eturned"
LONG = "V" * 30_000
SLOW_WORDS = " ".join(f"word{number}" for number in range(80))
SCRIPTS: Mapping[str, Sequence[Mapping[str, object]]] = {
    "plain": [{"text": "The kiln is warm.", "word_secs": 0.02}],
    "slow": [{"text": SLOW_WORDS, "word_secs": 0.1}],
    "tools": [
        {"text": "I look.", "calls": [{"tool": "read_kiln", "args": {"kiln": "north"}}]},
        {"text": "It is 900 degrees warm."},
    ],
    "fails": [{"fault": "unavailable"}],
    "small": [{"text": "It was fired at nine hundred degrees, as the book of the kiln says. " * 20}],
    "hostile": [{"text": f"{EVIL} {LONG}"}],
}
TOOLS = '''
def read_kiln(kiln: str) -> str:
    """Tell how warm a kiln is."""
    return f"The kiln {kiln} has 900 degrees. <b onclick='window.broken = 1'>hot</b>"
'''
TURNS_BEFORE = 6
WIDER_PX = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A server with an agent for each script."""
    folder = tmp_path_factory.mktemp("chat")
    (folder / "kiln_tools.py").write_text(TOOLS, "utf-8")
    sys.path.insert(0, str(folder))
    config = "[compaction]\nsynchronous = true\n"
    for name, steps in SCRIPTS.items():
        script = folder / f"{name}.jsonl"
        script.write_text("".join(json.dumps(step) + "\n" for step in steps), "utf-8")
        tools = 'tools = ["kiln_tools:read_kiln"]\n' if name == "tools" else ""
        limit = "context_limit = 4000\n" if name == "small" else ""
        config += f'[agents.{name}]\nmodel = "script:{script}"\ninstructions = "You mind a kiln."\n{limit}{tools}'
    try:
        with serve_dashboard(folder, config) as served:
            yield served
    finally:
        sys.path.remove(str(folder))


@pytest.fixture
def page(dashboard: Dashboard, chromium: Browser) -> Iterator[Page]:
    """A page that is signed in."""
    with dashboard.page(chromium) as signed_in:
        yield signed_in


def open_chat(page: Page, agent: str) -> None:
    """Go to the chat with an agent."""
    page.evaluate("place => { location.hash = place }", f"#chat/{agent}")
    expect(page.get_by_label("Message", exact=True)).to_be_enabled()


def await_end(page: Page) -> None:
    """Wait until the answer that the page shows has ended: its words are shown before they are stored."""
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def say(page: Page, text: str) -> None:
    """Type something and send it."""
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def read_log(dashboard: Dashboard, agent: str) -> list[Message]:
    """What the store has of the conversation with an agent."""

    async def read(runtime: Runtime) -> list[Message]:
        session = await runtime.engine.session(agent=agent)
        last_seq = (await session.inspect.state()).last_seq
        return await session.messages(1, last_seq) if last_seq else []

    return dashboard.run(read)


def test_an_answer_streams_and_is_stored(page: Page, dashboard: Dashboard) -> None:
    """What is said and what is answered appears as it comes, is in the store, and is in the window beside it."""
    open_chat(page, "plain")
    say(page, "How is the kiln?")
    flow = page.get_by_role("log", name="Conversation")
    expect(flow).to_contain_text("How is the kiln?")
    expect(flow.get_by_role("article", name=re.compile("assistant, message"))).to_contain_text("The kiln is warm.")
    await_end(page)
    texts = [message.view.text for message in read_log(dashboard, "plain")]
    assert texts == ["How is the kiln?", "The kiln is warm."]
    window = page.get_by_role("complementary", name="What the model sees")
    expect(window).to_contain_text("How is the kiln?")
    expect(window).to_contain_text("The kiln is warm.")
    page.reload()
    expect(flow).to_contain_text("The kiln is warm.")


@pytest.mark.slow
def test_an_answer_is_cut(page: Page, dashboard: Dashboard) -> None:
    """The button Stop ends an answer; its text up to then is stored and shown as stopped, also after a reload."""
    open_chat(page, "slow")
    say(page, "Count.")
    flow = page.get_by_role("log", name="Conversation")
    expect(flow).to_contain_text("word3")
    page.get_by_role("button", name="Stop").click()
    expect(flow.locator(".is-stopped")).to_contain_text("word3")
    await_end(page)
    last = read_log(dashboard, "slow")[-1]
    assert last.view.role == "assistant"
    assert "word3" in last.view.text
    assert "word79" not in last.view.text
    page.reload()
    expect(flow.locator(".is-stopped")).to_contain_text("Stopped:")


@pytest.mark.slow
def test_tools_are_shown_with_what_they_answer(page: Page, dashboard: Dashboard) -> None:
    """A call of a tool is a line of its own that opens to its arguments and its answer."""
    open_chat(page, "tools")
    say(page, "How warm?")
    flow = page.get_by_role("log", name="Conversation")
    expect(flow).to_contain_text("It is 900 degrees warm.")
    tool = flow.locator("details.tool")
    expect(tool).to_have_count(1)
    tool.locator("summary").click()
    expect(tool).to_contain_text("north")
    expect(tool).to_contain_text("The kiln north has 900 degrees. <b onclick")
    await_end(page)
    assert [message.view.role for message in read_log(dashboard, "tools")] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.slow
def test_a_failed_answer_is_tried_again(page: Page, dashboard: Dashboard) -> None:
    """An unreachable model is shown as a problem; another model then answers the message, which is stored once."""
    open_chat(page, "fails")
    say(page, "Are you there?")
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("cannot be reached")
    model = page.get_by_label("Model", exact=True)
    model.fill(f"script:{dashboard.config.parent / 'plain.jsonl'}")
    model.press("Enter")
    failure.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("log", name="Conversation")).to_contain_text("The kiln is warm.")
    expect(failure).to_have_count(0)
    await_end(page)
    assert [message.view.text for message in read_log(dashboard, "fails")] == ["Are you there?", "The kiln is warm."]


@pytest.mark.slow
def test_compactions_are_notes_in_the_flow(page: Page, dashboard: Dashboard) -> None:
    """A compaction during an answer is shown between the messages, with its figures."""

    async def fill(runtime: Runtime) -> None:
        session = await runtime.engine.session(agent="small")
        answer = str(SCRIPTS["small"][0]["text"])
        for _ in range(TURNS_BEFORE):
            await session.append([{"role": "user", "content": "Go on."}, {"role": "assistant", "content": answer}])

    dashboard.run(fill)
    open_chat(page, "small")
    flow = page.get_by_role("log", name="Conversation")
    notes = flow.locator(".note-compacted")
    for turn in range(TURNS_BEFORE, TURNS_BEFORE + 12):
        say(page, f"Tell me of firing {turn}, please.")
        expect(flow.get_by_role("article", name=f"assistant, message {2 * turn + 2}", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Send")).to_be_visible()
        if notes.count():
            break
    expect(notes.first).to_contain_text("compacted (trigger")


def test_hostile_answers_stay_texts(page: Page) -> None:
    """Neither what is said nor what a model answers runs, becomes markup, or widens the page."""
    open_chat(page, "hostile")
    say(page, EVIL)
    flow = page.get_by_role("log", name="Conversation")
    expect(flow.get_by_role("article", name=re.compile("assistant, message"))).to_contain_text("<img src=x")
    assert page.evaluate("window.broken") is None
    assert page.locator("main img, main script").count() == 0
    assert page.evaluate(WIDER_PX) <= 0


@pytest.mark.slow
def test_a_new_session_begins_empty(page: Page, dashboard: Dashboard) -> None:
    """A new session shows nothing of the old one, and what is said next goes there."""
    open_chat(page, "plain")
    flow = page.get_by_role("log", name="Conversation")
    before = len(read_log(dashboard, "plain"))
    say(page, "Is it warm?")
    expect(flow.get_by_role("article", name=f"assistant, message {before + 2}", exact=True)).to_be_visible()
    page.get_by_role("button", name="New session").click()
    expect(flow).to_contain_text("Chat with plain")
    say(page, "And now?")
    expect(flow).to_contain_text("The kiln is warm.")
    await_end(page)
    assert read_log(dashboard, "plain")[0].view.text == "And now?"


@pytest.mark.slow
def test_a_phone_chats(dashboard: Dashboard, chromium: Browser) -> None:
    """At a phone's width one can talk and be answered, nothing runs over the side, and the window opens below."""
    with dashboard.own_page(chromium, has_touch=True) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        open_chat(page, "plain")
        say(page, "From a phone")
        expect(page.get_by_role("log", name="Conversation")).to_contain_text("The kiln is warm.")
        assert page.evaluate(WIDER_PX) <= 0
        page.get_by_role("button", name="Window").click()
        expect(page.get_by_role("complementary", name="What the model sees")).to_contain_text("From a phone")
        assert page.evaluate(WIDER_PX) <= 0


@contextmanager
def serving(folder: Path, port: int, forks: Forks) -> Iterator[list[str]]:
    """A server in a process of its own, killed at the end; what it says."""
    arguments = ("serve", "--db", str(folder / "killed.db"), "--port", str(port))
    with forks.talking(COMMAND, *arguments, folder=folder, with_errors=True) as process:
        said: list[str] = []
        assert process.stdout
        for line in process.stdout:
            said.append(line)
            if "dashboard is at" in line:
                break
        yield said


def find_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.slow
def test_the_page_goes_on_after_the_server_was_killed(chromium: Browser, tmp_path: Path, command_forks: Forks) -> None:
    """After a server killed during an answer restarts, the page shows the unanswered message and can have it answered."""
    script, port = tmp_path / "slow.jsonl", find_port()
    script.write_text(json.dumps(SCRIPTS["slow"][0]), "utf-8")
    (tmp_path / "everfold.toml").write_text(f'[agents.default]\nmodel = "script:{script}"\n', "utf-8")
    with chromium.new_context() as context:
        page = context.new_page()
        with serving(tmp_path, port, command_forks) as said:
            secret = re.search(r"ef_\S+", "".join(said))
            assert secret
            page.goto(f"http://127.0.0.1:{port}/#chat")
            page.get_by_label("Key").fill(secret[0])
            page.keyboard.press("Enter")
            say(page, "Count to eighty.")
            expect(page.get_by_role("log", name="Conversation")).to_contain_text("word2")
        expect(page.get_by_text("The server cannot be reached")).to_be_visible()
        script.write_text(json.dumps(SCRIPTS["plain"][0]), "utf-8")
        with serving(tmp_path, port, command_forks):
            flow = page.get_by_role("log", name="Conversation")
            expect(page.get_by_text("The server cannot be reached")).to_have_count(0)
            expect(flow).to_contain_text("Count to eighty.")
            expect(flow).to_contain_text("The last message has no answer")
            page.get_by_role("button", name="Answer").click()
            expect(flow).to_contain_text("The kiln is warm.")
            expect(page.get_by_role("button", name="Answer")).to_have_count(0)
