"""What a window says of an item of its frozen snapshot that was edited since."""

import pytest
from tests.services.memory.test_memory_in_sessions import opened, say, shown

from everfold import Everfold, Session
from everfold.core.memory.items import Item
from everfold.testing.kit.fakes import FakeClock

pytestmark = pytest.mark.anyio

NUTS, NONE = "Ada is allergic to nuts.", "Ada is not allergic to anything."
GONE = f"- no longer so: {NUTS}"


async def _remember(engine: Everfold) -> tuple[Session, Item]:
    """A session whose first window is still to come, and the item that its snapshot will hold."""
    first = await engine.session(user="ada")
    await say(first, "Hello.")
    item = await (await engine.memory(user="ada")).add(NUTS, tier="user")
    return await first.new(), item


async def test_an_edited_item_stands_beside_no_old_wording(url: str) -> None:
    """Until the next snapshot the window says that the old wording fell; where an edit is taken back it says nothing."""
    async with opened(url) as engine:
        session, item = await _remember(engine)
        memory = await engine.memory(user="ada")
        before = await say(session, "Hello.")
        await memory.edit(item.id, NONE)
        after = await say(session, "And today?")
        assert shown(after, "snapshot") == shown(before, "snapshot") != ""
        lines = shown(after, "suffix").splitlines()
        assert [line.partition(" (")[0] for line in lines[1:]] == [GONE, f"- {NONE}"]
        await memory.edit(item.id, "Ada eats everything.")
        again = shown(await say(session, "And now?"), "suffix")
        assert again.count("no longer so") == again.count(GONE) == 1
        assert "- Ada eats everything." in again
        await memory.edit(item.id, NUTS)
        assert shown(await say(session, "Go on."), "suffix") == ""


async def test_what_an_agent_replaces_is_no_longer_so(url: str) -> None:
    """An entry that the agent itself replaced is not shown in both wordings."""
    async with opened(url) as engine:
        session = await engine.session(user="ada")
        await say(session, "Hello.")
        await session.tools().call("memory_add", {"statement": "The server is box one."})
        second = await session.new()
        assert "box one" in shown(await say(second, "Hello."), "snapshot")
        done = await second.tools().call(
            "memory_replace", {"old_text": "box one", "statement": "The server is box two."}
        )
        assert done.text
        suffix = shown(await say(second, "And now?"), "suffix")
        assert "- no longer so: The server is box one." in suffix
        assert "- The server is box two." in suffix


async def test_an_old_wording_is_known_to_another_process(file_url: str) -> None:
    """An engine that did not make the snapshot says what fell of it all the same, with the same bytes on every step."""
    clock = FakeClock()
    async with opened(file_url, clock=clock) as engine:
        session, item = await _remember(engine)
        await say(session, "Hello.")
    async with opened(file_url, clock=clock) as engine:
        await (await engine.memory(user="ada")).edit(item.id, NONE)
        window = await say(await engine.session(id=session.id), "And today?")
        assert GONE in shown(window, "suffix")
        assert shown(await (await engine.session(id=session.id)).window(), "suffix") == shown(window, "suffix")
