"""The tools of an agent whose session is not stored yet."""

import everfold


async def test_what_is_noted_before_the_session_is_stored_is_the_users() -> None:
    """An entry noted with the tools of a session that nothing was appended to is the named user's."""
    async with everfold.open("memory://") as engine:
        early = await engine.session(user="ada", create=False)
        done = await early.tools().call("memory_add", {"statement": "Ada has two cats.", "tier": "user"})
        assert (done.text, [user.name for user in await engine.list_users()]) == ("Done.", ["ada"])
        assert [item.statement for item in await (await engine.memory(user="ada")).items()] == ["Ada has two cats."]


async def test_reading_before_anything_was_said_says_so() -> None:
    """The history tool of such a session answers that nothing was said yet, and names no id that is stored nowhere."""
    async with everfold.open("memory://") as engine:
        early = await engine.session(user="ada", create=False)
        answer = await early.tools().call("history_read", {"first": 1})
        assert answer.text == "Not done: there is no message 1; nothing was said in this conversation yet."
