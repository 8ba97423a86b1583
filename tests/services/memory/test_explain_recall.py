"""Why recall gives a message, or does not."""

import pytest

import everfold
from everfold import Session

pytestmark = pytest.mark.anyio


async def _talk(session: Session, *, limit: int = 2000) -> None:
    """A conversation that folds, in which one message names the berth of the Kestrel."""
    await session.append({"role": "user", "content": "Let us talk about boats."})
    await session.append({"role": "assistant", "content": "The Kestrel lies at berth 17, next to the crane."})
    for number in range(120):
        await session.append({"role": "user", "content": f"Sail {number} of the other boats is white, is it not?"})
        await session.append({"role": "assistant", "content": f"Sail {number} is white, and so is its cover."})
    await session.window(limit=limit)


async def test_what_is_recalled_is_what_a_turn_gets() -> None:
    """A message that is explained as recalled is in the next request's recall, and one that is not is not."""
    async with everfold.open("memory://", settings={"compaction": {"synchronous": True}}) as engine:
        session = await engine.session(limit=2000)
        await _talk(session)
        question = "Where does the Kestrel lie, which berth, and is sail 17 white?"
        told = await session.inspect.explain_recall(question)
        assert told.state == "on"
        await session.append({"role": "user", "content": question})
        report = (await session.window()).report
    recalled = {one.seq for one in told.reasons if one.verdict == "recalled"}
    assert recalled
    assert recalled == {int(line.split(",")[0].split()[-1]) for line in report.memory if line.startswith("recall: ")}
    assert {one.seq: one.verdict for one in told.reasons}[2] == "quoted"


async def test_every_message_that_words_find_has_a_reason() -> None:
    """Messages come with their place, a share of the best score, the missing words and a reason; the newest are shown."""
    async with everfold.open("memory://", settings={"compaction": {"synchronous": True}}) as engine:
        session = await engine.session(limit=2000)
        await _talk(session)
        told = await session.inspect.explain_recall("Is the sail of the other boats white?")
        assert [one.place for one in told.reasons] == sorted(one.place for one in told.reasons)
        assert max(one.share for one in told.reasons) == 1
        assert all(one.excerpt for one in told.reasons)
        newest = [one for one in told.reasons if one.seq > 235]
        assert newest
        assert {one.verdict for one in newest} == {"in_window"}
        assert len(told.reasons) > sum(one.verdict == "recalled" for one in told.reasons)


async def test_a_turn_that_recalls_nothing_says_why() -> None:
    """Recall that is off, a question without content and a session that is not folded are told apart."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=128_000)
        await session.append({"role": "user", "content": "The Kestrel lies at berth 17."})
        assert (await session.inspect.explain_recall("Where is the Kestrel?")).state == "nothing_folded"
        assert (await session.inspect.explain_recall("ok")).state == "asks_nothing"
    async with everfold.open("memory://", settings={"recall": {"enabled": False}}) as engine:
        session = await engine.session(limit=128_000)
        await session.append({"role": "user", "content": "The Kestrel lies at berth 17."})
        assert (await session.inspect.explain_recall("Where is the Kestrel?")).state == "off"
