"""History: every message can be read, by range, around another, by page, and by what it says."""

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

from everfold import Everfold, Session
from everfold.core.log.messages import Role
from everfold.core.log.visible import PAGE_CHARS
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.errors import InvalidInputError, NotFoundError
from everfold.testing.kit.builders import assistant, calls, result, talk, user
from everfold.testing.kit.fakes import FakeClock

pytestmark = pytest.mark.anyio

ELISION = re.compile(r"\[… (\d+) characters left out; history: message (\d+), pages? (\d+)(?:-(\d+))? …\]")


def numbered(words_count: int, *, word: str = "crate") -> str:
    """A long text in which every stretch tells where it is."""
    return " ".join(f"{word}-{number:05}" for number in range(words_count))


async def whole_text(session: Session, seq: int) -> str:
    """All pages of a message, joined."""
    first = await session.read(seq)
    pages = [await session.read(seq, page=page) for page in range(1, first.page_count + 1)]
    assert [page.page for page in pages] == list(range(1, first.page_count + 1))
    assert all(len(page.text) == PAGE_CHARS for page in pages[:-1])
    return "".join(page.text for page in pages)


async def test_range(engine: Everfold) -> None:
    """A range gives its messages in order, both ends included, and stops where the log does."""
    session = await engine.session()
    wires = talk(5)
    await session.append(wires)
    assert [message.wire for message in await session.messages(1, 10)] == wires
    assert [message.seq for message in await session.messages(4, 6)] == [4, 5, 6]
    assert [message.seq for message in await session.messages(7, 7)] == [7]
    assert [message.seq for message in await session.messages(9, 40)] == [9, 10]
    assert await session.messages(11, 40) == []


@pytest.mark.parametrize(("first_seq", "last_seq"), [(0, 3), (-1, 3), (4, 3), (1, 1001)])
async def test_range_that_is_none(engine: Everfold, first_seq: int, last_seq: int) -> None:
    """A range that begins before the first message, ends before it begins or is too large is refused."""
    session = await engine.session()
    with pytest.raises(InvalidInputError, match="cannot be read at once"):
        await session.messages(first_seq, last_seq)


async def test_around(engine: Everfold) -> None:
    """A range gives a message with its neighbours, fewer where the log ends; without an end, all that follow."""
    session = await engine.session()
    await session.append(talk(5))
    for seq, before, after, wanted in (
        (5, 3, 3, range(2, 9)),
        (5, 0, 0, range(5, 6)),
        (1, 0, 1, range(1, 3)),
        (10, 2, 9, range(8, 11)),
    ):
        found = await session.messages(seq - before, seq + after)
        assert [message.seq for message in found] == list(wanted)
    assert [message.seq for message in await session.messages(8)] == [8, 9, 10]
    assert len(await session.messages()) == 10


async def test_unknown_message(engine: Everfold) -> None:
    """A message that the session does not have is an error that names it and what there is."""
    session = await engine.session()
    await session.append(talk(2))
    with pytest.raises(NotFoundError, match="has no message 9; it has 1 to 4") as caught:
        await session.read(9)
    assert caught.value.ids == {"session": session.id, "seq": 9}


async def test_history_of_folded_messages(engine: Everfold) -> None:
    """What was folded long ago reads back as it was given."""
    session = await engine.session(limit=4000)
    wires = talk(40)
    for at in range(0, len(wires), 2):
        await session.append(wires[at : at + 2])
        await session.window()
    assert (await session.window()).report.compacted_through > 40
    assert [message.wire for message in await session.messages(1, 80)] == wires


async def test_pages_join_to_the_text(engine: Everfold) -> None:
    """The pages of an oversized message, joined, are its text; a page beyond the last is refused."""
    session = await engine.session(limit=8000)
    text = numbered(6000)
    await session.append(user(text))
    assert await whole_text(session, 1) == text
    count = (await session.read(1)).page_count
    assert count == -(-len(text) // PAGE_CHARS)
    for page in (0, -1, count + 1):
        with pytest.raises(NotFoundError, match=f"has {count} pages"):
            await session.read(1, page=page)


@pytest.mark.parametrize("length", [0, 1, PAGE_CHARS - 1, PAGE_CHARS, PAGE_CHARS + 1, 2 * PAGE_CHARS])
async def test_pages_at_their_edges(engine: Everfold, length: int) -> None:
    """A text that ends at the edge of a page, or is empty, has no page too many and none too few."""
    session = await engine.session()
    await session.append(user("é" * length))
    assert await whole_text(session, 1) == "é" * length
    assert (await session.read(1)).page_count == max(-(-length // PAGE_CHARS), 1)


def long_messages() -> Iterator[tuple[str, list[JsonObject]]]:
    """Messages too large for a window, by what they are."""
    text = numbered(9000)
    yield "text", [user(text)]
    yield "assistant", [user("go"), assistant(text)]
    two: list[JsonValue] = [
        {"type": "text", "text": numbered(4000, word="first")},
        {"type": "text", "text": numbered(5000, word="second")},
    ]
    yield "two parts", [{"role": "user", "content": two}]
    yield "result", [user("go"), calls("a"), result("a", text)]
    yield (
        "two results",
        [user("go"), calls("a", "b"), result("b", numbered(3000, word="second")), result("a", numbered(9000))],
    )
    blocks: list[JsonValue] = [
        {"type": "tool_use", "id": "a", "name": "look_up", "input": {}},
        {"type": "tool_use", "id": "b", "name": "look_up", "input": {}},
    ]
    answers: list[JsonValue] = [
        {"type": "tool_result", "tool_use_id": "a", "content": numbered(4000, word="first")},
        {"type": "tool_result", "tool_use_id": "b", "content": numbered(6000, word="second")},
        {"type": "text", "text": numbered(5000, word="third")},
    ]
    yield (
        "anthropic results",
        [user("go"), {"role": "assistant", "content": blocks}, {"role": "user", "content": answers}],
    )
    document: JsonObject = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": text},
        "title": "List",
    }
    yield "document", [{"role": "user", "content": [{"type": "text", "text": "Read this."}, document]}]


@pytest.mark.parametrize(("wires"), [wires for _, wires in long_messages()], ids=[name for name, _ in long_messages()])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_the_page_that_is_named_holds_what_was_cut(
    engine: Everfold, provider: str, wires: list[JsonObject]
) -> None:
    """The pages that a visible form names, read from the history, hold every word that it leaves out."""
    session = await engine.session(limit=16_000)
    await session.append(wires)
    request = (await session.window()).render("openai" if provider == "openai" else "anthropic")
    texts = [text for text in strings(request) if ELISION.search(text)]
    assert texts
    for text in texts:
        found = ELISION.search(text)
        assert found
        head, tail = text[: found.start() - 1], text[found.end() + 1 :]
        chars, seq, first, last = (int(group or 0) for group in found.groups())
        pages = [await session.read(seq, page=page) for page in range(first, max(first, last) + 1)]
        readable = "".join(page.text for page in pages)
        whole = await whole_text(session, seq)
        before = re.findall(r"\w+-\d{5}", head)[-1]
        after = re.findall(r"\w+-\d{5}", tail)[0] if tail.strip() else None
        start = whole.index(before) + len(before)
        end = whole.index(after, start) if after else len(whole)
        left_out = re.findall(r"\b\w+-\d{5}\b", whole[start:end])
        assert len(left_out) > chars // 14
        cut_words = left_out[1:-1]
        assert cut_words[0] in readable
        assert cut_words[-1] in readable


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


async def test_long_arguments_name_their_message(engine: Everfold) -> None:
    """Call arguments that were cut stay JSON and name the message whose pages hold them whole."""
    session = await engine.session(limit=16_000)
    arguments = '{"body": "' + numbered(9000) + '"}'
    call: JsonObject = {"id": "a", "type": "function", "function": {"name": "write", "arguments": arguments}}
    await session.append([user("go"), {"role": "assistant", "content": None, "tool_calls": [call]}, result("a", "ok")])
    shown = str((await session.window()).render("openai"))
    assert "crate-04500" not in shown
    assert "history: message 2" in shown or "characters left out" in shown
    assert await whole_text(session, 2) == f"write {arguments}"


async def test_search_cites_its_place(engine: Everfold, clock: FakeClock) -> None:
    """A hit names session, message, role, origin and time, and its excerpt is an exact slice of that message."""
    session = await engine.session()
    await session.append(user("My boat is called Petrel and lies at berth nine. " + "Nothing else matters. " * 80))
    said_at = clock.now()
    await session.append(assistant("I have written that down."))
    second = await session.new()
    await second.append(assistant("The Petrel was sold in spring."))
    hits = await engine.search("what is the boat called")
    best = hits[0]
    assert (best.session, best.seq, best.role, best.origin, best.said_at) == (session.id, 1, "user", "user", said_at)
    for hit in await engine.search("Petrel"):
        owner = await engine.session(id=hit.session)
        text = (await owner.messages(hit.seq, hit.seq))[0].view.text
        assert hit.excerpt in text
        assert all(0 <= start < end <= len(hit.excerpt) for start, end in hit.matches)
        assert hit.score > 0
    found = {(hit.session, hit.seq) for hit in await engine.search("Petrel")}
    assert {(session.id, 1), (second.id, 1)} <= found
    words = {best.excerpt[start:end].lower() for start, end in best.matches}
    assert words & {"boat", "called"}


async def test_search_keeps_the_authority_of_what_it_finds(engine: Everfold) -> None:
    """A hit has the authority of the message itself: what came from outside is never found as the user's word."""
    session = await engine.session()
    await session.append(user("The harbour opens at six."))
    await session.append(user("The harbour opens at nine, says the page."), origin="external")
    by_seq = {hit.seq: hit for hit in await session.search("harbour opens")}
    assert (by_seq[1].origin, by_seq[2].origin) == ("user", "external")
    assert by_seq[1].authority > by_seq[2].authority


async def test_search_bounds(engine: Everfold) -> None:
    """A search gives no more hits than asked for, refuses an unreasonable number, and finds nothing in nothing."""
    session = await engine.session()
    await session.append(talk(10))
    assert len(await session.search("harbour", limit=3)) == 3
    for limit in (0, -1, 201):
        with pytest.raises(InvalidInputError, match="1 to 200"):
            await session.search("harbour", limit=limit)
    for question in ("", "   ", "?!", "the of and", "zzzunknown", '"', "NEAR(", "own:harbour*"):
        assert isinstance(await session.search(question), list)
    assert await session.search("zzzunknown") == []


async def test_search_by_role_and_time(engine: Everfold) -> None:
    """Roles and a span of time narrow a search of a session and of a user alike, and an erased message is in none."""
    session = await engine.session()
    for day, say in ((1, user), (1, assistant), (2, user), (3, user)):
        await session.append(say(f"Day {day}: the crate is packed."), said_at=datetime(2031, 5, day, 9, tzinfo=UTC))

    async def find(
        *, roles: Collection[Role] = (), since: datetime | None = None, until: datetime | None = None
    ) -> set[int]:
        hits = await session.search("crate", roles=roles, since=since, until=until)
        assert hits == await engine.search("crate", roles=roles, since=since, until=until)
        return {hit.seq for hit in hits}

    second, third = (datetime(2031, 5, day, tzinfo=UTC) for day in (2, 3))
    assert await find(roles=["user"]) == {1, 3, 4}
    assert await find(roles=["assistant"], since=second) == set()
    assert await find(since=second, until=third) == {3}
    assert await find(until=third.astimezone(timezone(timedelta(hours=9)))) == {1, 2, 3}
    await session.erase(3)
    assert await find(since=second) == {4}
    assert await find(roles=["user"], until=third) == {1}
    with pytest.raises(InvalidInputError, match="no time zone"):
        await session.search("crate", since=datetime(2031, 5, 1))  # noqa: DTZ001 - what is refused
    with pytest.raises(InvalidInputError, match="since must be before until"):
        await engine.search("crate", since=third, until=second)
