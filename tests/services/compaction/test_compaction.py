"""Compaction: when it is due, what it keeps, what it folds, and what a window shows of it."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from itertools import pairwise
from typing import Literal, cast

import pytest
from bench.material.logs import one_turn_of_steps
from tests.support.proofs import flatten_request, list_all_compactions
from tests.support.sizes import some

import everfold
from everfold import Everfold, Session, Window
from everfold.core.compaction.record import Compaction
from everfold.core.log.budget import UsableBudget
from everfold.core.log.calibration import LEAST_SAMPLE_TOKENS
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.entries import MessageEntry, RangeEntry, TextEntry
from everfold.core.windows.parts import list_parts
from everfold.errors import BudgetUnsatisfiableError, InvalidInputError
from everfold.testing.judges.requests import check_openai_request, check_window_rules
from everfold.testing.kit.builders import (
    RUN_OUT_SECS,
    append_wires,
    assistant,
    budget_of,
    calls,
    plan_next_compaction,
    result,
    talk,
    user,
)
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio
LIMIT = 4000
FRAMES = 1.03
"""A plan knows the frames around what it keeps only nearly; so far may the window stay above the target."""


def open_with(url: str, **compaction: object) -> AbstractAsyncContextManager[Everfold]:
    """An engine whose sessions compact in their own way."""
    return everfold.open(url, settings={"compaction": compaction}, clock=FakeClock(), ids=CountingIds())


def words(count: int, word: str) -> str:
    """A text of so many different words."""
    return " ".join(f"{word}{number}" for number in range(count))


async def budget(session: Session) -> UsableBudget:
    """The shares of a session's limit as they are now."""
    return budget_of(session.settings, await session.inspect.state())


async def triggers(session: Session) -> list[str]:
    """Why each compaction of a session fired."""
    return [compaction.plan.trigger for compaction in await list_all_compactions(session)]


def shown(window: Window) -> dict[int, str]:
    """The messages that a window shows, and why."""
    found: dict[int, str] = {}
    for entry in window.entries:
        if isinstance(entry, MessageEntry):
            found[entry.message.seq] = entry.slice
        elif isinstance(entry, RangeEntry):
            found |= {message.seq: "kept" for message in entry.kept}
    return found


def body_tokens(window: Window) -> int:
    """A window less its fixed part, by the fixed estimate."""
    return window.estimate.tokens - window.estimate.by_slice["fixed"] - window.estimate.by_slice["suffix"]


def said(window: Window) -> str:
    """All that a window says."""
    return str(window.render("openai"))


def list_texts(request: JsonObject) -> list[str]:
    """The text parts of a request's user messages, in order."""
    messages = cast("list[dict[str, list[dict[str, str]]]]", request["messages"])
    parts = [part for message in messages if isinstance(message["content"], list) for part in message["content"]]
    return [part["text"] for part in parts if "text" in part]


class Watcher:
    """Appends to a session and tells, from the sizes of its messages alone, what its next window would have held."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.compactions_count = 0
        self.tokens = 0

    async def turn(self, *wires: Mapping[str, object]) -> tuple[int, list[Compaction], Window]:
        """Append, and give the tokens before the window, the events that it made, and the window."""
        seqs = await self.session.append(list(wires))
        new = await self.session.messages(seqs[0], seqs[-1])
        due = self.tokens + sum(message.tokens for message in new)
        window = await self.session.window()
        compactions = await self.session.inspect.compactions(after_ordinal=self.compactions_count)
        self.compactions_count += len(compactions)
        self.tokens = body_tokens(window)
        return due, compactions, window


# --- kept messages


async def test_a_short_kept_answer_stands_with_its_question(engine: Everfold) -> None:
    """The assistant's own words that it answers stand over it, count for it, and leave with the message they are of."""
    session = await engine.session(limit=16_000)
    question = "Which jacket shall I pack for Bergen?"
    await session.append([user("Help me pack for Bergen."), assistant(f"Gladly. {question}"), user("The blue one.")])
    await session.append(
        [wire for number in range(12) for wire in (assistant(words(60, f"a{number}x")), user("Go on."))]
    )
    await session.compact(keep_recent=4)
    window = await session.window()
    line = f'[Answers the assistant\'s message 2: "{question}"]'
    assert shown(window)[3] == "kept"
    for provider in ("openai", "anthropic"):
        texts = list_texts(window.render(provider))
        assert texts[texts.index(line) + 1] == "The blue one."
    (part,) = [part for part in list_parts(window) if part.first_seq == 3]
    assert part.text == f"{line}\nThe blue one."
    assert sum(part.tokens for part in list_parts(window)) == window.report.tokens
    assert (await session.verify()).is_sound
    await session.erase(2)
    erased = await session.window()
    assert shown(erased)[3] == "kept"
    assert question not in said(erased)
    assert sum(part.tokens for part in list_parts(erased)) == erased.report.tokens
    assert (await session.verify()).is_sound


# --- triggers


async def test_tokens(engine: Everfold) -> None:
    """A compaction fires exactly when the window less its fixed part reaches the trigger, and folds to the target."""
    session = await engine.session(limit=LIMIT, system="Be brief.")
    watcher, shares = Watcher(session), await budget(session)
    fired = 0
    for turn in range(some(160, 80)):
        due, compactions, _ = await watcher.turn(*talk(1, first=turn + 1))
        assert bool(compactions) == (due >= shares.trigger_tokens), (turn, due, shares)
        if compactions:
            fired += 1
            wanted = "overflow" if due > shares.hard_limit_tokens else "tokens"
            assert [compaction.plan.trigger for compaction in compactions] == [wanted]
            assert compactions[0].plan.tokens_before == due
            assert watcher.tokens <= shares.target_tokens
            assert compactions[0].report
            assert compactions[0].report.tokens_after == watcher.tokens
    assert fired > some(4, 2)
    assert (await session.verify()).is_sound


async def test_overflow(engine: Everfold) -> None:
    """What would pass the force ratio is compacted at once, as an overflow, until it fits."""
    session = await engine.session(limit=LIMIT)
    watcher, shares = Watcher(session), await budget(session)
    due, compactions, window = await watcher.turn(*talk(40))
    assert due > shares.hard_limit_tokens
    assert compactions[0].plan.trigger == "overflow"
    assert body_tokens(window) < shares.trigger_tokens


async def test_only_overflow_when_disabled(url: str) -> None:
    """With compaction switched off nothing folds up to the force ratio, and past it an overflow does."""
    async with open_with(url, enabled=False) as engine:
        session = await engine.session(limit=LIMIT)
        watcher, shares = Watcher(session), await budget(session)
        for turn in range(60):
            due, compactions, _ = await watcher.turn(*talk(1, first=turn + 1))
            assert bool(compactions) == (due > shares.hard_limit_tokens)
        assert set(await triggers(session)) == {"overflow"}


async def test_turns(url: str) -> None:
    """Turns compact when more than backstop and slack lie above the watermark, down to the backstop."""
    async with open_with(url, turn_backstop=10, turn_slack=3, min_fold_tokens=0) as engine:
        session = await engine.session(limit=128_000)
        watcher, above = Watcher(session), 0
        for turn in range(60):
            _, compactions, window = await watcher.turn(*talk(1, first=turn + 1))
            above += 1
            assert [compaction.plan.trigger for compaction in compactions] == (["turns"] if above > 13 else []), (
                turn,
                above,
            )
            above = 10 if compactions else above
            asked = [seq for seq in shown(window) if seq > window.report.compacted_through and seq % 2]
            assert len(asked) == above


async def test_rows(url: str) -> None:
    """Messages compact when more than window and headroom lie above the watermark, down to the window."""
    async with open_with(url, row_window=20, row_headroom=4, min_fold_tokens=0) as engine:
        session = await engine.session(limit=128_000)
        await session.append(user("go"))
        watcher, above = Watcher(session), 1
        for step in range(60):
            _, compactions, _ = await watcher.turn(assistant(f"Step {step} is done."))
            above += 1
            assert [compaction.plan.trigger for compaction in compactions] == (["rows"] if above > 24 else []), (
                step,
                above,
            )
            above = 20 if compactions else above


async def test_rows_per_digest(url: str) -> None:
    """No event takes more messages than its bound, so a long import becomes several in one pass."""
    async with open_with(url, rows_per_digest=10) as engine:
        session = await engine.session(limit=LIMIT)
        await session.append(talk(60))
        await session.window()
        sizes = [len(compaction.plan.groups) for compaction in await list_all_compactions(session)]
        assert len(sizes) > 5
        assert max(sizes) <= 10
        assert (await session.verify()).is_sound


async def test_min_fold(url: str) -> None:
    """No automatic fold but an overflow is smaller than the least one; it waits until there is enough to fold."""
    async with open_with(url, row_window=4, row_headroom=0, min_fold_tokens=300) as engine:
        session = await engine.session(limit=128_000)
        least = (await budget(session)).min_fold_tokens
        assert least == 300
        watcher = Watcher(session)
        for turn in range(80):
            await watcher.turn(user(f"And {turn}?"), assistant(f"It is {turn}."))
        compactions = await list_all_compactions(session)
        assert compactions
        sizes = []
        for compaction in compactions:
            passed = await session.messages(compaction.plan.first_seq, compaction.plan.last_seq)
            sizes.append(sum(message.tokens for message in passed))
        assert min(sizes) >= least
        assert max(sizes) < least + 40


async def test_manual(engine: Everfold) -> None:
    """A compaction that is asked for fires whatever the tokens, and one with nothing to fold does nothing."""
    session = await engine.session(limit=128_000)
    await session.append(talk(10))
    assert await session.window()
    assert await triggers(session) == []
    done = await session.compact(keep_recent=4)
    assert [fold.report.trigger for fold in done] == ["manual"]
    assert await triggers(session) == ["manual"]
    assert await session.compact(keep_recent=4) == []
    empty = await session.new()
    assert await empty.compact() == []


async def test_hysteresis(engine: Everfold) -> None:
    """After a compaction the window has room again: on small turns none follows another at once."""
    session = await engine.session(limit=8000)
    watcher = Watcher(session)
    turns = [turn for turn in range(some(160, 130)) if (await watcher.turn(*talk(1, first=turn + 1)))[1]]
    assert len(turns) > 3
    assert min(after - before for before, after in pairwise(turns)) >= 5


@pytest.fixture
async def early_engine(url: str) -> AsyncIterator[Everfold]:
    """An engine with a trigger that is far below the hard limit, so that a window can be between them."""
    async with open_with(url, trigger_ratio=0.8, suffix_ratio=0.1, min_fold_tokens=0) as opened:
        yield opened


async def tight_session(engine: Everfold) -> Session:
    """A session whose head and running message, made for a larger limit, fill the window up to its trigger."""
    session = await engine.session(limit=16_000)
    await session.append([user(words(415, "head")), assistant("ok"), user(words(4000, "paste"))])
    return await engine.session(limit=LIMIT)


def step(number: int) -> list[Mapping[str, object]]:
    """A step of some 250 tokens."""
    return [calls("a"), result("a", words(46, f"step{number}x"))]


async def test_latch(early_engine: Everfold) -> None:
    """Two compactions that stay above the trigger silence the next; an overflow fires; being below it ends the silence."""
    session = await tight_session(early_engine)
    watcher, shares = Watcher(session), await budget(session)
    watcher.tokens = body_tokens(await session.window(preview=True))
    stuck, seen = 0, []
    for number in range(14):
        due, compactions, _ = await watcher.turn(*step(number))
        wanted = (
            "overflow"
            if due > shares.hard_limit_tokens
            else "tokens"
            if due >= shares.trigger_tokens and stuck < 2
            else ""
        )
        assert [compaction.plan.trigger for compaction in compactions][:1] == ([wanted] if wanted else []), (
            number,
            due,
            stuck,
        )
        for compaction in compactions:
            assert compaction.report
            stuck = stuck + 1 if compaction.report.tokens_after >= shares.trigger_tokens else 0
        seen.append(wanted or ("silent" if due >= shares.trigger_tokens else ""))
        assert (await session.inspect.state()).stuck_count == stuck
    assert {"tokens", "overflow", "silent"} <= set(seen)
    assert stuck >= 2
    while stuck:
        await watcher.turn(*talk(1))
        stuck = (await session.inspect.state()).stuck_count
    assert watcher.tokens < shares.trigger_tokens
    before = len(await triggers(session))
    for turn in range(30):
        await watcher.turn(*talk(1, first=turn + 1))
    assert "tokens" in (await triggers(session))[before:]


async def test_latch_ends_below_the_trigger(early_engine: Everfold) -> None:
    """A latched session whose limit was raised is below the trigger again, and compacts when that is due."""
    session = await tight_session(early_engine)
    number = 0
    while (await session.inspect.state()).stuck_count < 2:
        await session.append(step(number))
        await session.window()
        number += 1
    session = await early_engine.session(limit=6000)
    await session.window()
    assert (await session.inspect.state()).stuck_count == 0
    before = len(await triggers(session))
    for turn in range(30):
        await session.append(talk(1, first=turn + 1))
        await session.window()
    assert "tokens" in (await triggers(session))[before:]


async def test_a_full_window_names_its_slices(early_engine: Everfold) -> None:
    """A window that stays above its trigger with nothing left to fold names the slices that fill it."""
    session = await tight_session(early_engine)
    for number in range(6):
        await session.append(step(number))
        window = await session.window()
    shares = await budget(session)
    assert body_tokens(window) >= shares.trigger_tokens
    assert {"head", "running"} <= set(window.report.full_slices)


# --- what is asked for


@pytest.mark.parametrize("keep_recent", [1, 2, 3, 7, 16])
async def test_keep_recent(engine: Everfold, keep_recent: int) -> None:
    """The newest messages that were to stay do, word for word, and all the others are decided about."""
    session = await engine.session(limit=128_000)
    await session.append(talk(10))
    await session.compact(keep_recent=keep_recent)
    window = await session.window()
    assert window.report.compacted_through == 20 - keep_recent
    tail = [seq for seq, reason in shown(window).items() if reason == "tail"]
    assert tail == list(range(21 - keep_recent, 21))


async def test_keep_recent_never_splits_a_step(engine: Everfold) -> None:
    """A bound inside a step leaves the whole step."""
    session = await engine.session(limit=128_000)
    await session.append([*talk(2), calls("a", "b"), result("a", "1"), result("b", "2"), assistant("done")])
    await session.compact(keep_recent=2)
    assert (await session.window()).report.compacted_through == 4


@pytest.mark.parametrize("keep_recent", [0, -3])
async def test_keep_recent_of_none(engine: Everfold, keep_recent: int) -> None:
    """At least one message must stay."""
    session = await engine.session()
    with pytest.raises(InvalidInputError, match="at least 1"):
        await session.compact(keep_recent=keep_recent)


async def test_keep_recent_is_a_setting(url: str) -> None:
    """Without a number, the setting's holds."""
    async with open_with(url, keep_recent=3) as engine:
        session = await engine.session(limit=128_000)
        await session.append(talk(10))
        await session.compact()
        assert (await session.window()).report.compacted_through == 17


async def test_focus(engine: Everfold) -> None:
    """A digest with a focus holds lines about it that one without has no room for, and no more tokens."""
    session = await engine.session(limit=LIMIT)
    for number in range(40):
        place = "lighthouse" if number in {9, 17, 23} else f"harbour {number}"
        await session.append(assistant(f"The keeper of the {place} moved ledger LX-{number:03} to /srv/room{number}."))
    plain, focused = [
        (await session.compact(keep_recent=2, focus=focus, dry_run=True))[0].digests[0]
        for focus in (None, "the lighthouse")
    ]
    about = re.compile("lighthouse")
    assert len(about.findall(focused.text)) > len(about.findall(plain.text))
    assert focused.tokens <= max(plain.tokens * 1.1, plain.tokens + 20)
    await session.compact(keep_recent=2, focus="the lighthouse")
    assert len(about.findall(said(await session.window()))) >= len(about.findall(focused.text))
    assert (await list_all_compactions(session))[0].plan.focus == "the lighthouse"


async def test_dry_run(engine: Everfold) -> None:
    """A dry run tells what the compaction will do, and writes nothing."""
    session = await engine.session(limit=LIMIT)
    await session.append(talk(20))
    before = await session.inspect.state()
    planned = await session.compact(keep_recent=4, dry_run=True)
    assert planned
    assert await session.inspect.state() == before
    assert await list_all_compactions(session) == []
    done = await session.compact(keep_recent=4)
    assert [fold.report for fold in planned] == [fold.report for fold in done]
    assert [[one.text for one in fold.digests] for fold in planned] == [
        [one.text for one in fold.digests] for fold in done
    ]
    assert [fold.layout.held for fold in planned] == [fold.layout.held for fold in done]


async def test_preview(url: str) -> None:
    """A preview shows the window that would be shown, however many events that takes, and writes nothing."""
    async with open_with(url, rows_per_digest=20) as engine:
        session = await engine.session(limit=LIMIT)
        await session.append(talk(60))
        before = await session.inspect.state()
        preview = await session.window(preview=True)
        assert await session.inspect.state() == before
        assert await list_all_compactions(session) == []
        window = await session.window()
        assert len(await list_all_compactions(session)) > 1
        assert preview.render("openai") == window.render("openai")
        assert preview.report == window.report
        assert await session.compact(dry_run=True, keep_recent=4) is not None


# --- what stays


async def test_head_stays(engine: Everfold) -> None:
    """The first user message stays at the beginning of every window, word for word."""
    session = await engine.session(limit=LIMIT)
    await session.append([assistant("Welcome."), user("My name is Ida and I run the north pier."), assistant("Hello.")])
    for turn in range(60):
        await session.append(talk(1, first=turn + 1))
        window = await session.window()
        if window.report.compacted_through >= 2:
            assert shown(window)[2] == "head"
            assert "My name is Ida and I run the north pier." in said(window)
    assert window.report.compacted_through > 80


async def test_running_turn(engine: Everfold) -> None:
    """The running turn's user message stays while its completed steps fold; above the cap only quotes of it outlive its turn."""
    session = await engine.session(limit=LIMIT)
    await session.append(talk(2))
    [seq] = await session.append(user(words(3000, "paste")))
    visible = ""
    for number in range(40):
        await session.append([calls("a"), result("a", words(30, f"step{number}x"))])
        window = await session.window()
        entry = next(e for e in window.entries if isinstance(e, MessageEntry) and e.message.seq == seq)
        assert entry.slice in {"tail", "running"}
        text = next(text for text in strings(window.render("openai")) if text.startswith("paste0 paste1"))
        assert visible in {"", text}
        visible = text
    assert window.report.compacted_through > seq + 40
    assert shown(window)[seq] == "running"
    await session.append([assistant("done"), *talk(2, first=9)])
    await session.compact(keep_recent=2)
    window = await session.window()
    assert seq not in shown(window)
    assert "paste2999" in visible
    assert "paste2999" not in said(window)
    assert (await session.verify()).is_sound


def strings(value: object) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)


async def test_one_turn_of_many_steps(engine: Everfold) -> None:
    """A turn of hundreds of steps folds step by step; its user message stays shown, and every window is valid and in budget."""
    steps_count = some(600, 200)
    session = await engine.session(limit=8000)
    wires = [entry.wire for entry in one_turn_of_steps(7, steps_count=steps_count)]
    for at in range(0, len(wires), 150):
        await session.append(wires[at : at + 150])
        window = await session.window()
        assert shown(window)[1] in {"tail", "head", "running"}
        assert window.report.tokens <= window.report.budget_tokens
        request = window.render("openai")
        assert check_openai_request(request) == []
        assert check_window_rules(request, kind="openai") == []
    assert shown(window)[1] in {"head", "running"}
    assert window.report.compacted_through > 2 * steps_count
    assert sum(wire["role"] == "assistant" for wire in wires) == steps_count + 1
    assert (await session.verify()).is_sound


@pytest.mark.parametrize("origin", ["user", "external", "assistant", "system"])
async def test_keep_mark(engine: Everfold, origin: Literal["user", "external", "assistant", "system"]) -> None:
    """`[[keep]]` pins what the user said, and nothing that anybody else wrote."""
    session = await engine.session(limit=LIMIT)
    await session.append(talk(2))
    text = "[[keep]] The gate code is 4471."
    wire = assistant(text) if origin == "assistant" else user(text)
    [seq] = await session.append(wire, origin=origin)
    pinned = (await session.messages(seq, seq))[0].keep
    assert pinned == (origin == "user")
    await session.append(assistant("Noted."))
    for turn in range(60):
        await session.append(talk(1, first=turn + 1))
        await session.window()
    window = await session.window()
    assert window.report.compacted_through > seq
    assert (seq in shown(window)) == (origin == "user")


async def test_keep_share(engine: Everfold) -> None:
    """Pinned messages stay within their share, newest first; the oldest leave it."""
    session = await engine.session(limit=LIMIT)
    await session.append(talk(1))
    pins = []
    for number in range(30):
        pins += await session.append(user(f"[[keep]] Gate {number} has the code {number * 37} and opens at {number}."))
        await session.append(assistant("Noted."))
        await session.window()
    await session.append(talk(12))
    window = await session.window()
    await session.compact(keep_recent=2)
    window = await session.window()
    shares = await budget(session)
    layout = session._live.layout
    held = [message for message in layout.held if message.hold == "pin"]
    assert held
    assert sum(message.tokens for message in held) <= shares.pinned_tokens
    newest = pins[-len(held) :]
    assert [message.seq for message in held] == newest
    assert set(newest) <= set(shown(window))


@pytest.mark.parametrize("keep_recent", [2, 30, 60])
async def test_pins_stay_beside_what_a_caller_keeps(engine: Everfold, keep_recent: int) -> None:
    """Where the newest step raises the target, messages that are to be kept for now push no pinned one out."""
    session = await engine.session(limit=32_000)
    await session.append(talk(1))
    for number in range(6):
        await session.append([user(f"[[keep]] Box {number} goes by van {number % 3}."), assistant("Noted.")])
    for number in range(40):
        await session.append(
            [user(f"Detail {number}?"), assistant(f"Shelf {number} goes to the cellar, behind the boxes. ")]
        )
    await session.append(
        [user("Which vans leave?"), assistant(" ".join(f"Van {number} leaves." for number in range(500)))]
    )
    await session.configure(limit=6_500)
    await session.compact(keep_recent=keep_recent)
    text = str((await session.window()).render("openai"))
    assert [number for number in range(6) if f"[[keep]] Box {number} goes" in text] == list(range(6))


async def test_system_messages_in_the_middle(engine: Everfold) -> None:
    """System messages in the middle are kept in their place within the pinned share, the oldest folding first."""
    session = await engine.session(limit=LIMIT)
    notes = []
    for number in range(40):
        await session.append(talk(1, first=number + 1))
        notes += await session.append({"role": "system", "content": f"From now on rule {number} holds at every berth."})
        await session.window()
    await session.compact(keep_recent=2)
    window = await session.window()
    shares = await budget(session)
    past = [seq for seq in notes if seq <= window.report.compacted_through]
    kept = [seq for seq in past if seq in shown(window)]
    assert kept
    assert kept == past[-len(kept) :]
    assert len(kept) < len(past)
    held = [message for message in session._live.layout.held if message.seq in kept]
    assert {message.hold for message in held} == {"system"}
    assert sum(message.tokens for message in held) <= shares.pinned_tokens
    order = [seq for seq in shown(window) if shown(window)[seq] == "kept"]
    assert order == sorted(order)


# --- the limit of one call


async def test_lower_limit(engine: Everfold) -> None:
    """A lower limit for one call compacts for that call and fits it; a higher one than the session's is refused."""
    session = await engine.session(limit=16_000)
    await session.append(talk(60))
    whole = await session.window()
    lower = await session.window(limit=4000)
    assert lower.report.limit_tokens == 4000
    assert lower.report.tokens <= lower.report.budget_tokens < whole.report.tokens
    assert session.settings.limit_tokens == 16_000
    with pytest.raises(InvalidInputError, match="a call may only lower it"):
        await session.window(limit=16_001)
    for limit in (0, -4):
        with pytest.raises(InvalidInputError, match="positive whole number"):
            await session.window(limit=limit)
    assert (await session.verify()).is_sound


async def test_lower_limit_changes_no_visible_form(engine: Everfold) -> None:
    """The visible form of a message is the session's own, whatever limit a call has."""
    session = await engine.session(limit=16_000)
    await session.append([*talk(10), user(words(4000, "paste")), assistant("ok")])
    forms = [
        next(text for text in strings((await session.window(limit=limit)).render("openai")) if "paste0" in text)
        for limit in (16_000, 6000, 16_000)
    ]
    assert forms[0] == forms[1] == forms[2]


async def test_a_limit_that_cannot_work(engine: Everfold) -> None:
    """A limit in which nothing fits is refused before anything begins, and names the smallest that works."""
    session = await engine.session(limit=16_000, system="Be brief. " * 100)
    await session.append([*talk(10), assistant(words(400, "list"))])
    before = await session.inspect.state()
    with pytest.raises(BudgetUnsatisfiableError) as caught:
        await session.window(limit=1200)
    assert await session.inspect.state() == before
    assert await list_all_compactions(session) == []
    smallest = caught.value.smallest_limit_tokens
    assert 1200 < smallest < 16_000
    with pytest.raises(BudgetUnsatisfiableError):
        await session.window(limit=smallest - 1, preview=True)
    window = await session.window(limit=smallest)
    assert window.report.tokens <= window.report.budget_tokens


# --- the dynamic suffix


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("ending", ["user", "assistant", "result"])
async def test_volatile_suffix(engine: Everfold, provider: Literal["openai", "anthropic"], ending: str) -> None:
    """The dynamic suffix is the last content of the request, is not stored, and leaves the prefix as it was."""
    session = await engine.session(limit=LIMIT, system="Be brief.")
    await session.append(talk(2))
    wires: dict[str, list[JsonObject]] = {
        "user": [user("And now?")],
        "assistant": [user("And now?"), assistant("Now it is done.")],
        "result": [user("And now?"), calls("a"), result("a", "found")],
    }
    await session.append(wires[ending])
    plain = flatten_request((await session.window()).render(provider))
    before = await session.inspect.state()
    window = await session.window(suffix="It is half past eleven.")
    flat = flatten_request(window.render(provider))
    assert "It is half past eleven." in flat[-1][1]
    assert flat[:-1] == plain
    assert isinstance(window.entries[-1], TextEntry)
    assert await session.inspect.state() == before
    assert flatten_request((await session.window()).render(provider)) == plain
    assert await session.search("eleven") == []
    another = flatten_request((await session.window(suffix="It is one o'clock.")).render(provider))
    assert another[:-1] == plain


async def test_volatile_suffix_is_cut(engine: Everfold) -> None:
    """A suffix larger than the space for it is cut to that, so that the window stays within its budget."""
    session = await engine.session(limit=LIMIT)
    await session.append(talk(2))
    shares = await budget(session)
    window = await session.window(suffix=words(3000, "delta"))
    used = window.report.by_slice["suffix"]
    assert shares.most_suffix_tokens * 0.8 < used <= shares.most_suffix_tokens
    assert window.report.tokens <= window.report.budget_tokens
    assert said(window).count("delta0 delta1") == 1
    for nothing in ("", None):
        assert (await session.window(suffix=nothing)).report.by_slice["suffix"] == 0


# --- calibration


async def test_calibration(file_url: str) -> None:
    """What a provider counts divides the budget, for good, and changes no message's visible form."""
    async with everfold.open(file_url, ids=CountingIds()) as engine:
        session = await engine.session(limit=8000)
        await session.append([*talk(10), user(words(2000, "paste")), assistant("ok")])
        window = await session.window()
        assert window.report.tokens > LEAST_SAMPLE_TOKENS
        forms = [(message.tokens, message.cuts) for message in await session.messages(1, 22)]
        for _ in range(8):
            window = await session.window()
            await session.observe_usage(window, counted_tokens=int(window.estimate.tokens * 1.4))
        factor = (await session.inspect.state()).calibration.factor
        assert factor == pytest.approx(1.4, abs=0.06)
        after = await session.window()
        assert after.estimate.budget_tokens == int((8000 - 960) / factor)
        assert after.report.budget_tokens == 8000 - 960
        assert [(message.tokens, message.cuts) for message in await session.messages(1, 22)] == forms
    async with everfold.open(file_url) as engine:
        session = await engine.session()
        assert (await session.inspect.state()).calibration.factor == factor
        assert (await session.window()).estimate.budget_tokens == after.estimate.budget_tokens
        assert [(message.tokens, message.cuts) for message in await session.messages(1, 22)] == forms


async def test_calibration_compacts(engine: Everfold) -> None:
    """A window that fits our estimate and not the provider's count is compacted once the count is known."""
    session = await engine.session(limit=8000)
    watcher, shares = Watcher(session), await budget(session)
    turn = 0
    while watcher.tokens < shares.trigger_tokens - 300:
        await watcher.turn(*talk(1, first=(turn := turn + 1)))
    assert await triggers(session) == []
    window = await session.window()
    await session.observe_usage(window, counted_tokens=window.report.tokens * 2)
    window = await session.window()
    assert len(await triggers(session)) == 1
    assert body_tokens(window) <= (await budget(session)).target_tokens * FRAMES


async def test_usage_that_says_nothing(engine: Everfold) -> None:
    """A count of nothing, or of a request too small to mean anything, changes no calibration."""
    session = await engine.session(limit=8000)
    await session.append(user("hello"))
    window = await session.window()
    await session.observe_usage(window, counted_tokens=300)
    await session.append(talk(20))
    window = await session.window()
    await session.observe_usage(window, counted_tokens=0)
    assert (await session.inspect.state()).calibration.factor == 1
    with pytest.raises(InvalidInputError):
        await session.observe_usage(window, counted_tokens=-1)


# --- several at once, and after a crash


@pytest.mark.parametrize("is_claimed", [False, True], ids=["pending", "running"])
async def test_a_pending_event_is_finished(engine: Everfold, *, is_claimed: bool) -> None:
    """An event that a crash left behind is finished by the next window, as it was planned."""
    session = await engine.session(limit=LIMIT)
    await session.append(talk(22))
    store = engine._store
    compacting = await plan_next_compaction(store, session.id, "evt_left", keep_recent=12)
    await store.begin_compaction(compacting.compaction, compacting.begun, expected_revision=compacting.before.revision)
    if is_claimed:
        await store.claim_compaction(compacting.compaction.id, secs=RUN_OUT_SECS)
    await append_wires(store, session.id, *talk(8, first=23))
    window = await session.window()
    compactions = await list_all_compactions(session)
    assert compactions[0].id == "evt_left"
    assert compactions[0].state == "done"
    assert compactions[0].plan == compacting.compaction.plan
    assert all(compaction.state == "done" for compaction in compactions)
    assert [compaction.ordinal for compaction in compactions] == list(range(1, len(compactions) + 1))
    assert window.report.compacted_through >= compacting.compaction.plan.last_seq
    assert (await session.verify()).is_sound


async def test_a_pending_event_does_not_stop_a_manual_one(engine: Everfold) -> None:
    """A compaction that is asked for finishes what a crash left behind, and then does what was asked."""
    session = await engine.session(limit=LIMIT)
    await session.append(talk(12))
    store = engine._store
    compacting = await plan_next_compaction(store, session.id, "evt_left", keep_recent=16)
    await store.begin_compaction(compacting.compaction, compacting.begun, expected_revision=compacting.before.revision)
    await session.compact(keep_recent=4)
    compactions = await list_all_compactions(session)
    assert [compaction.state for compaction in compactions] == ["done", "done"]
    assert (await session.window()).report.compacted_through == 20
    assert (await session.verify()).is_sound


async def test_handles_compact_at_once(engine: Everfold) -> None:
    """Of handles that compact at once one wins; nothing is doubled, and all show the same afterwards."""
    session = await engine.session(limit=LIMIT)
    for round_number in range(6):
        await session.append(talk(14, first=round_number * 14))
        handles = [await engine.session(id=session.id) for _ in range(4)]
        windows = await asyncio.gather(*(handle.window() for handle in handles))
        requests = [window.render("openai") for window in windows]
        assert all(request == requests[0] for request in requests)
    await check_events(session)


async def test_engines_compact_at_once(file_url: str) -> None:
    """The same with engines that share only the file, and with appends in between."""
    async with everfold.open(file_url) as first, everfold.open(file_url) as second:
        one = await first.session(limit=LIMIT)
        two = await second.session(limit=LIMIT)
        assert one.id == two.id

        async def go_on(session: Session, topic: str) -> None:
            for turn in range(25):
                for wire in talk(1, topic=topic, first=turn):
                    await session.append(wire)
                await session.window()

        await asyncio.gather(go_on(one, "harbour"), go_on(two, "market"))
        assert (await one.inspect.state()).last_seq == 100
        assert (await one.window()).render("openai") == (await two.window()).render("openai")
        await check_events(one)


async def check_events(session: Session) -> None:
    """The events of a session are done, follow each other without a gap, and verify."""
    compactions = await list_all_compactions(session)
    assert compactions
    assert {compaction.state for compaction in compactions} == {"done"}
    assert [compaction.ordinal for compaction in compactions] == list(range(1, len(compactions) + 1))
    next_seq = 1
    for compaction in compactions:
        assert compaction.plan.first_seq == next_seq
        next_seq = compaction.plan.last_seq + 1
    verification = await session.verify()
    assert verification.is_sound, verification.problems


async def test_compacting_while_others_append(engine: Everfold) -> None:
    """A compaction by hand and appends by another handle do not disturb each other."""
    session = await engine.session(limit=LIMIT)
    other = await engine.session(id=session.id)
    await session.append(talk(10))

    async def append_some() -> None:
        for turn in range(20):
            await other.append(talk(1, first=turn))

    async def compact_some() -> None:
        for _ in range(10):
            await session.compact(keep_recent=4)
            await asyncio.sleep(0)

    await asyncio.gather(append_some(), compact_some())
    assert (await session.inspect.state()).last_seq == 60
    await session.compact(keep_recent=4)
    await check_events(session)
