"""The dynamic suffix: what is asked about comes back from the folded past, last in each request, within the budget."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from tests.support.proofs import find_suffix

import everfold
from everfold import Everfold, Session
from everfold.core.text.tokens import estimate_text_tokens
from everfold.testing.kit.builders import assistant, calls, result, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = [pytest.mark.anyio, pytest.mark.moves_prefix]
FACT = "The spare key of the boathouse hangs behind the blue lantern in the shed."
QUESTION = "Where does the spare key of the boathouse hang?"
NOTES = "\n".join(f"- Row {number}: the bay is calm near pier {number * 7}." for number in range(40))
"""More lines than the digest has room for."""
LIMIT = 4_000


@asynccontextmanager
async def opened(url: str, **sections: Mapping[str, object]) -> AsyncIterator[Everfold]:
    """An engine with default settings, but for what is given."""
    settings = {"compaction": {"synchronous": True, "enabled": False}, **sections}
    async with everfold.open(url, settings=settings, clock=FakeClock(), ids=CountingIds()) as engine:
        yield engine


async def fill(session: Session, count: int, *, first: int = 0) -> None:
    """Exchanges about nothing that lasts."""
    for number in range(first, first + count):
        await session.append(user(f"How is the weather on day {number}, and does the wind blow?"))
        await session.append(assistant(f"On day {number} it is calm. " + "The clouds drift over the bay. " * 6))


async def folded(engine: Everfold, *, tools: list[dict[str, object]] | None = None) -> Session:
    """A session whose beginning, with the fact at the end of a long list, is folded, and whose digest has lost it."""
    session = await engine.session(limit=LIMIT, tools=tools)
    await fill(session, 3)
    await session.append(assistant(f"{NOTES}\n{FACT}"))
    await fill(session, 22, first=3)
    await session.window()
    await session.compact(keep_recent=6)
    window = await session.window()
    assert "lantern" not in str(window.render("openai")).replace(find_suffix(window), "")
    return session


async def test_what_is_asked_about_comes_back(url: str) -> None:
    """An agent without structured memory is shown the folded message that answers, last, in a frame without ids."""
    async with opened(url) as engine:
        session = await folded(engine)
        await session.append(user(QUESTION))
        window = await session.window()
        suffix = find_suffix(window)
        assert "behind the blue lantern" in suffix
        assert "#7 assistant, 20" in suffix
        assert session.id not in suffix
        assert "untrusted" not in suffix
        assert suffix in str(window.render("openai")["messages"][-1]).replace("\\n", "\n")  # type: ignore[index,call-overload]  # a list
        assert any(line.startswith("recall: message") for line in window.report.memory)


@pytest.mark.parametrize("text", ["ok, thanks!", "Do it again.", "Which vaccine did the zebra get?"])
async def test_nothing_comes_back_for_nothing(url: str, text: str) -> None:
    """A prompt without content, and one that nothing fits, bring no suffix."""
    async with opened(url) as engine:
        session = await folded(engine)
        await session.append(user(text))
        assert find_suffix(await session.window()) == ""


async def test_off_brings_nothing(url: str) -> None:
    """With `recall.enabled = false` the window has no suffix and no reserve for one."""
    async with opened(url, recall={"enabled": False}) as engine:
        session = await folded(engine)
        await session.append(user(QUESTION))
        window = await session.window()
        assert find_suffix(window) == ""
        assert window.report.fixed_tokens == 0


async def test_what_the_window_shows_does_not_come_back(url: str) -> None:
    """A message of the tail, and a folded one whose words a newer message repeats, are not recalled."""
    async with opened(url) as engine:
        session = await folded(engine)
        await session.append([user(FACT), assistant("Noted.")])
        await session.append(user(QUESTION))
        assert "lantern" not in find_suffix(await session.window())


STEP = [calls("a"), result("a", "fine")]


async def test_every_step_of_a_turn_has_the_same_suffix(url: str) -> None:
    """The suffix has the same bytes on each step of a turn, always last; a preview shows the same."""
    async with opened(url) as engine:
        session = await folded(engine)
        await session.append(user(QUESTION))
        first = find_suffix(await session.window())
        for _ in range(3):
            await session.append(STEP)
            assert find_suffix(await session.window(preview=True)) == first
            window = await session.window()
            assert find_suffix(window) == first != ""
            assert window.report.cache_breaks == ()
        await session.append(assistant("Behind the lantern."))
        await session.append(user("ok"))
        assert find_suffix(await session.window()) == ""


async def test_a_new_handle_recalls_what_the_old_one_recalls(url: str) -> None:
    """A handle that comes to a turn at a later step, with less space free, shows the window of the handle before it."""
    async with opened(url) as engine:
        session = await engine.session(limit=LIMIT)
        for number in range(12):
            await session.append(user(f"What of boathouse {number}?"))
            await session.append(assistant(f"The key of boathouse {number} hangs on hook {number * 7}. " * 6 + NOTES))
        await session.compact(keep_recent=2)
        await fill(session, 16, first=40)
        await session.append(user("On which hook does the key of each boathouse hang?"))
        first = find_suffix(await session.window())
        assert "hangs on hook" in first
        for _ in range(9):
            await session.append([calls("a"), result("a", "The clouds drift over the bay. " * 6)])
            window = await session.window()
            if find_suffix(window) != first:
                break
            again = await engine.session(id=session.id)
            assert await again.window(preview=True) == window


async def test_a_suffix_that_fits_no_longer_is_dropped_whole(url: str) -> None:
    """A step that leaves the suffix no space drops it for the rest of the turn, which is reported once; no window is over."""
    async with opened(url, compaction={"synchronous": True, "enabled": False, "suffix_ratio": 0.0}) as engine:
        session = await folded(engine)
        await session.append(user(QUESTION))
        own = "It is noon at the harbour. " * 20
        window = await session.window(suffix=own)
        first, reasons, shown = find_suffix(window), list[str](), list[str]()
        assert "lantern" in first
        for _ in range(30):
            await session.append([calls("a"), result("a", "The clouds drift over the bay. " * 6)])
            window = await session.window(suffix=own)
            assert window.report.tokens <= window.report.budget_tokens
            if any(one.reason.startswith("compaction") for one in window.report.cache_breaks):
                break
            shown.append(find_suffix(window))
            reasons += [one.reason for one in window.report.cache_breaks]
        dropped_at = next(at for at, text in enumerate(shown) if text != first)
        assert set(shown[:dropped_at]) == {first}
        assert all(text and text in own for text in shown[dropped_at:])
        assert reasons == ["suffix"]


async def test_the_suffix_takes_free_space(url: str) -> None:
    """Beyond its reserve the suffix takes what the window leaves free, up to a fifth of the budget and no more."""
    async with opened(url) as engine:
        session = await folded(engine)
        long = "It is noon at the harbour. " * 400
        window = await session.window(suffix=long)
        reserve, budget = window.report.fixed_tokens, window.report.budget_tokens
        assert reserve < window.report.by_slice["suffix"] <= budget // 5
        await fill(session, 12, first=40)
        window = await session.window(suffix=long)
        assert window.report.tokens <= budget
        assert estimate_text_tokens(find_suffix(window)) >= reserve // 2
