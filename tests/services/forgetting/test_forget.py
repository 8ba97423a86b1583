"""What an erase takes out of memory and out of the file: messages, sessions, items, topics and users."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import apsw
import pytest
from tests.support.sizes import STORES

import everfold
from everfold import Everfold
from everfold.core.log.messages import Message
from everfold.core.memory.items import Item, ItemId
from everfold.core.memory.records import MemoryChange, MemoryVersion
from everfold.core.primitives.ids import SessionId
from everfold.errors import ConflictError, InvalidInputError, NotFoundError
from everfold.session import Session
from everfold.testing.kit.builders import assistant, talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

NEEDLE = "zugzwang"
"""A word that is its own stem, so that the index holds it as it stands."""
ON = {"memory": {"system": "structured"}}

pytestmark = pytest.mark.moves_prefix  # an erase takes words out of what was shown


@pytest.fixture
async def engine(url: str, clock: FakeClock) -> AsyncIterator[Everfold]:
    """An engine with structured memory over each store."""
    async with everfold.open(url, clock=clock, ids=CountingIds(), settings=ON) as opened:
        yield opened


async def say(session: Session, *texts: str) -> list[int]:
    """Have the user say texts, each answered; the numbers of what the user said."""
    seqs: list[int] = []
    for text in texts:
        seqs += (await session.append([user(text), assistant("Noted.")]))[:1]
    return seqs


async def find_items(engine: Everfold, word: str, name: str = "ada") -> list[Item]:
    """The items whose statement has a word, whatever their status."""
    memory = await engine.memory(user=name)
    every = await memory.items(statuses=("active", "superseded", "expired", "quarantined", "erased"))
    return [item for item in every if word in item.statement]


async def check_gone(engine: Everfold, name: str = "ada", word: str = NEEDLE) -> None:
    """Nothing that can be read of a user has the word."""
    assert await engine.admin.verify_erased(user=name, words=[word]) == []


# --- messages


async def test_an_erase_takes_the_item_with_it(engine: Everfold) -> None:
    """An item that only the erased message says is erased, with its topic's line, the snapshot and every dream."""
    session = await engine.session(user="ada")
    seq, other = await say(
        session, f"Remember: my boat is called {NEEDLE}.", "Remember: the boat lies at berth 42 of the boat harbour."
    )
    memory = await engine.memory(user="ada")
    await memory.dream()
    assert NEEDLE in str((await session.window()).render("openai"))
    assert NEEDLE in str(await memory.topics())
    places = await engine.admin.verify_erased(user="ada", words=[NEEDLE])
    assert {"message", "search", "item", "item_search", "topic", "dream"} <= {place.kind for place in places}
    erased = await session.erase(seq)
    assert (erased.seq, len(erased.items), erased.kept, erased.is_pending) == (seq, 1, (), False)
    assert erased.topics
    await check_gone(engine)
    assert NEEDLE not in str((await session.window()).render("openai"))
    assert (await session.verify()).is_sound
    (kept,) = await find_items(engine, "berth 42")
    assert (kept.status, kept.evidence[0].seq) == ("active", other)
    assert "berth 42" in str(await memory.topics())
    assert [item.status for item in await memory.item(erased.items[0])] == ["erased"]
    (entry, *_) = await memory.audit()
    assert (entry.action, dict(entry.counts)["items"]) == ("erase", 1)


async def test_an_item_with_other_evidence_keeps_the_rest(engine: Everfold) -> None:
    """An item that another message says too stays, with the other's quote, and the erased one in no revision."""
    session = await engine.session(user="ada")
    first, second = await say(session, "I always prefer tea over coffee.", "I always prefer tea over coffee!")
    (item,) = await find_items(engine, "tea")
    assert [one.seq for one in item.evidence] == [first, second]
    erased = await session.erase(first)
    assert (erased.items, erased.kept) == ((), (item.id,))
    revisions = await (await engine.memory(user="ada")).item(item.id)
    assert {one.seq for revision in revisions for one in revision.evidence} == {second}
    assert revisions[-1].status == "active"
    (again,) = (await session.erase(second)).items
    assert again == item.id
    assert await find_items(engine, "tea") == []


@pytest.mark.parametrize("is_whole", [True, False])
async def test_what_was_forgotten_before_is_not_counted_again(engine: Everfold, *, is_whole: bool) -> None:
    """An erase of the message, or session, of an item that was forgotten before names and counts no item."""
    session = await engine.session(user="ada")
    (seq,) = await say(session, "My phone number is 555 1234.")
    memory = await engine.memory(user="ada")
    (item,) = await memory.items()
    await memory.forget(item.id)
    before = await memory.audit()
    erased = await (engine.erase_session(session.id) if is_whole else session.erase(seq))
    assert (erased.items, erased.kept, erased.superseded) == ((), (), ())
    assert await memory.audit() == before


async def test_erasing_a_correction_revives_nothing_silently(engine: Everfold, clock: FakeClock) -> None:
    """What an erased correction had superseded stays superseded, is named in the report, and undo brings it back."""
    session = await engine.session(user="ada")
    await say(session, "My phone number is 555 1234.")
    clock.advance(timedelta(hours=1))
    (correction,) = await say(session, "Correction: my phone number is 555 9999.")
    (older,) = await find_items(engine, "1234")
    assert older.status == "superseded"
    erased = await session.erase(correction)
    assert erased.superseded == (older.id,)
    memory = await engine.memory(user="ada")
    assert [item.status for item in await find_items(engine, "1234")] == ["superseded"]
    await memory.undo(older.id)
    assert [item.status for item in await find_items(engine, "1234")] == ["active"]


@pytest.mark.parametrize("is_whole", [True, False])
async def test_an_erased_correction_names_all_that_it_superseded(
    engine: Everfold, clock: FakeClock, *, is_whole: bool
) -> None:
    """Each item that an erased message, or session, had superseded is in the report, and an undo brings it back."""
    told = ("We decided to open the web shop on 3 March.", "The web shop opens on 3 March.")
    before = await engine.session(user="ada", agent="guide")
    await say(before, *told)
    session = await before.new()
    clock.advance(timedelta(hours=1))
    (seq,) = await say(session, "Actually, we open the web shop on 10 March, not on 3 March.")
    memory = await engine.memory(user="ada")
    superseded = {item.id for item in await memory.items(statuses=("superseded",))}
    assert len(superseded) == len(told)
    erased = await (engine.erase_session(session.id) if is_whole else session.erase(seq))
    assert set(erased.superseded) == superseded
    for item_id in erased.superseded:
        await memory.undo(item_id)
    assert {item.id for item in await memory.items()} == superseded


async def test_what_lost_a_quote_comes_back_too(engine: Everfold) -> None:
    """An undo brings back what an erased correction had superseded, also where an erase has left one revision of it."""
    session = await engine.session(user="ada")
    first, _ = await say(session, *["We decided to open the web shop on 3 March."] * 2)
    (correction,) = await say(session, "Actually, we open the web shop on 10 March.")
    await session.erase(first)
    (older,) = (await session.erase(correction)).superseded
    memory = await engine.memory(user="ada")
    for status in ("active", "superseded", "active"):
        assert [item.status for item in await memory.undo(older)] == [status]
    (item,) = await memory.items()
    assert (item.statement, item.superseded_by, item.valid_to) == (
        "We decided to open the web shop on 3 March.",
        None,
        None,
    )


async def test_what_was_read_before_an_erase_brings_nothing_back(engine: Everfold) -> None:
    """After an erase the same handle and another one go on, compact and dream, and the words stay gone."""
    session = await engine.session(user="ada", limit=4000)
    (seq,) = await say(session, f"Remember: my boat is called {NEEDLE}.")
    other = await engine.session(id=session.id)
    await other.window()
    await session.erase(seq)
    for handle in (session, other):
        await handle.append(talk(12))
        await handle.window()
        await handle.compact(keep_recent=1)
    await (await engine.memory(user="ada")).dream()
    await check_gone(engine)


async def test_what_was_entered_by_hand_stays(engine: Everfold) -> None:
    """An item that a person entered, and a message said again, loses the quote and stays."""
    await engine.add_user("ada")
    memory = await engine.memory(user="ada")
    entered = await memory.add("The boat lies at berth 42.")
    session = await engine.session(user="ada")
    (seq,) = await say(session, "Remember: the boat lies at berth 42.")
    erased = await session.erase(seq)
    assert entered.id not in erased.items
    assert (await memory.item(entered.id))[-1].status == "active"


@pytest.mark.parametrize("is_first", [True, False])
async def test_what_was_entered_by_hand_outlives_each_quote(engine: Everfold, *, is_first: bool) -> None:
    """An item that a person entered stays when its quotes go one after the other, entered before them or after."""
    statement = "I prefer short answers."
    session = await engine.session(user="ada")
    memory = await engine.memory(user="ada")
    if is_first:
        await memory.add(statement)
    seqs = await say(session, statement, statement)
    if not is_first:
        await memory.add(statement)
    for seq in seqs:
        assert (await session.erase(seq)).items == ()
    (item,) = await memory.items()
    assert (item.statement, item.evidence) == (statement, ())


async def test_a_hands_newest_words_stay(engine: Everfold) -> None:
    """Of an item that was entered and edited by hand an erase leaves what it says now."""
    session = await engine.session(user="ada")
    memory = await engine.memory(user="ada")
    item = await memory.add("I prefer green tea.")
    await memory.edit(item.id, "I prefer black coffee.")
    (seq,) = await say(session, "I prefer black coffee.")
    assert (await session.erase(seq)).kept == (item.id,)
    assert [one.statement for one in await memory.items()] == ["I prefer black coffee."]


# --- items and topics


async def test_a_forgotten_item_leaves_topics_and_dreams(engine: Everfold) -> None:
    """Forgetting an item takes it out of every topic and dream; the message that said it stays."""
    session = await engine.session(user="ada")
    (seq,) = await say(session, f"Remember: my boat is called {NEEDLE}.")
    memory = await engine.memory(user="ada")
    await memory.dream()
    (item,) = await find_items(engine, NEEDLE)
    assert (await memory.forget(item.id)).evidence == ()
    places = await engine.admin.verify_erased(user="ada", words=[NEEDLE])
    assert {place.kind for place in places} <= {"message", "search", "window", "state"}
    assert await memory.topics() == []
    assert await memory.why(item.id) == []
    assert [one.evidence for one in await memory.items(statuses=("erased",))] == [()]
    (gone,) = await engine._store.find_quoting(session.record.id, [seq])
    assert [(one.seq, one.quote.strip()) for one in gone.evidence] == [(seq, "")]
    await session.erase(seq)
    assert await engine._store.find_quoting(session.record.id, [seq]) == []
    assert [one.identity for one in await memory.items(statuses=("erased",))] == [""]
    await check_gone(engine)


async def test_a_forgotten_topic_is_gone_with_its_revisions(engine: Everfold) -> None:
    """Forgetting a topic leaves nothing of its text, its name or the dream's copy; its items stay."""
    session = await engine.session(user="ada")
    await say(session, f"Remember: my boat is called {NEEDLE}.")
    memory = await engine.memory(user="ada")
    await memory.dream()
    (topic,) = await memory.topics()
    assert await memory.forget_topic(topic.name) == (topic.id,)
    places = await engine.admin.verify_erased(user="ada", words=[NEEDLE])
    assert {place.kind for place in places} & {"topic", "dream"} == set()
    assert len(await find_items(engine, NEEDLE)) == 1
    with pytest.raises(NotFoundError):
        await memory.forget_topic(topic.name)


# --- sessions


async def test_an_erased_session_is_gone(engine: Everfold) -> None:
    """Nothing of the session is left, items of other sessions keep their quotes, and extractions say that it is gone."""
    first = await engine.session(user="ada", limit=3000)
    await say(first, f"Remember: my boat is called {NEEDLE}.", "I always prefer tea over coffee.")
    await first.append(talk(40))
    await first.window()
    assert await first.inspect.compactions()
    second = await first.new()
    await say(second, "I always prefer tea over coffee.")
    erased = await engine.erase_session(first.id)
    assert erased.sessions == (first.id,)
    assert erased.counts["sessions"] == 1
    assert min(erased.counts.values()) > 0
    assert (len(erased.items) > 0, len(erased.kept)) == (True, 1)
    await check_gone(engine)
    for ask in (first.window, first.verify, lambda: engine.session(id=first.id), lambda: first.append(user("Hi."))):
        with pytest.raises(NotFoundError):
            await ask()
    extractions = await (await engine.memory(user="ada")).extractions()
    assert {one.session_id: one.is_session_gone for one in extractions} == {first.id: True, second.id: False}
    assert [record.id for record in await engine.list_sessions(user="ada")] == [second.id]
    assert (await second.verify()).is_sound
    assert await engine.admin.check_store() == []


async def test_a_current_session_can_be_erased(engine: Everfold) -> None:
    """After it the user begins anew, in a session of another id whose log begins with 1."""
    session = await engine.session(user="ada")
    await say(session, f"The {NEEDLE}.")
    await engine.erase_session(session.id)
    again = await engine.session(user="ada")
    assert again.id != session.id
    assert await again.append(user("Hello.")) == [1]
    assert len(await again.messages(1, 1)) == 1


async def test_a_session_whose_messages_are_shared_is_not_erased_alone(engine: Everfold) -> None:
    """While a branch shares its messages an erase is refused and changes nothing; the branches can go with it."""
    session = await engine.session(user="ada")
    await say(session, f"Remember: my boat is called {NEEDLE}.", "And more.")
    branch = await session.branch(2)
    await branch.append(user("Elsewhere."))
    deeper = await branch.branch(3)
    with pytest.raises(ConflictError, match=branch.id):
        await engine.erase_session(session.id)
    assert len(await session.messages(1, 4)) == 4
    assert (await engine.erase_session(deeper.id)).sessions == (deeper.id,)
    assert len(await branch.messages(1, 3)) == 3
    erased = await engine.erase_session(session.id, branches=True)
    assert set(erased.sessions) == {session.id, branch.id}
    await check_gone(engine)
    assert await engine.list_sessions(user="ada") == []


async def test_a_new_session_is_never_taken_for_an_erased_one(url: str) -> None:
    """An engine that knew an erased session finds nothing under its id, also when another user's session came next."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(everfold.open(url, settings=ON))
        second = first if url == "memory://" else await stack.enter_async_context(everfold.open(url, settings=ON))
        known = await second.session(user="ada")
        await known.append(user("Of Ada."))
        await known.window()
        await first.wipe("ada", transcripts=True)
        other = await first.session(user="ben")
        await other.append(user("Of Ben."))
        for ask in (known.window, lambda: known.messages(1, 1), lambda: known.append(user("Mine?"))):
            with pytest.raises(NotFoundError):
                await ask()
        assert [message.view.text for message in await other.messages(1, 9)] == ["Of Ben."]


# --- users


async def fill(engine: Everfold, name: str) -> Session:
    """A user whose log was compacted and dreamt about; the needle is in most of it."""
    session = await engine.session(user=name, limit=3000)
    await say(session, f"Remember: my boat is called {NEEDLE}.", "My phone number is 555 1234.")
    await session.append(talk(40))
    await session.window()
    await (await engine.memory(user=name)).dream()
    return session


@pytest.fixture(scope="module", params=STORES)
async def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The document of such a user as each store gives it."""
    folder = tmp_path_factory.mktemp("exported")
    url = f"sqlite:///{folder}/everfold.db" if request.param == "sqlite" else "memory://"
    async with everfold.open(url, clock=FakeClock(), ids=CountingIds(), settings=ON) as engine:
        await fill(engine, "ada")
        return json.dumps(await engine.export_user("ada"))


async def test_a_wipe_of_memory_leaves_the_transcripts(engine: Everfold) -> None:
    """Memory is gone, counted by bucket, and is not made again of what was said before; the log and Ben are untouched."""
    session, bens = await fill(engine, "ada"), await fill(engine, "ben")
    before = await engine.export_user("ben")
    wiped = await engine.wipe("ada")
    assert wiped.counts.keys() == {
        "items",
        "topics",
        "agent_topics",
        "extractions",
        "dreams",
        "sessions",
        "revisions",
        "quotes",
        "cursors",
        "files",
        "vectors",
    }
    assert wiped.counts["items"] >= 2
    assert len(await session.messages(1, 4)) == 4
    memory = await engine.memory(user="ada")
    handle = await engine.session(id=session.id)
    await handle.append([user("Hello."), assistant("Hello.")])
    await handle.window()
    await session.window()
    await memory.dream()
    assert await memory.items() == []
    again = await engine.wipe("ada")
    assert set(again.counts.values()) - {again.counts["sessions"]} <= {0}
    await engine.wipe("ada")
    assert set((await engine.wipe("ada")).counts.values()) == {0}
    after = await engine.export_user("ben")
    assert {**after, "audit": None} == {**before, "audit": None}
    assert (await bens.verify()).is_sound


async def test_a_wipe_with_transcripts_leaves_nothing(engine: Everfold) -> None:
    """Every session is gone too, the user stays known and begins anew, a second wipe counts nothing, Ben is untouched."""
    await fill(engine, "ada")
    bens = await fill(engine, "ben")
    user_id = (await engine.get_user("ada")).id
    wiped = await engine.wipe("ada", transcripts=True)
    assert {"transcripts", "messages", "compactions", "digests", "calls"} <= wiped.counts.keys()
    assert wiped.counts["transcripts"] == 1
    assert wiped.counts["messages"] >= 44
    await check_gone(engine)
    assert set((await engine.wipe("ada", transcripts=True)).counts.values()) == {0}
    session = await engine.session(user="ada")
    assert session.record.user_id == user_id
    assert await session.append(user("Hello.")) == [1]
    assert await engine.admin.verify_erased(user="ben", words=[NEEDLE]) != []
    assert (await bens.verify()).is_sound
    assert await engine.search("boat", user="ben") != []
    assert await engine.search("boat", user="ada") == []
    assert await engine.admin.check_store() == []


async def test_nobody_is_wiped_by_a_wrong_name(engine: Everfold) -> None:
    """A name or an id that no user has is refused, for an export too, and no user is made of it."""
    before = await engine.list_users()
    for name in ("nobody", "6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"):
        for ask in (engine.wipe, engine.export_user):
            with pytest.raises(NotFoundError):
                await ask(name)
    assert await engine.list_users() == before


async def test_a_user_who_is_known_by_memory_alone_can_be_wiped(engine: Everfold) -> None:
    """A user of whom there is an item and no session is exported and wiped like any other."""
    user_id = "6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"
    await (await engine.memory(user=user_id)).add(f"The {NEEDLE} has two masts.")
    assert len(str((await engine.export_user(user_id))["items"])) > 2
    assert (await engine.wipe(user_id, transcripts=True)).counts["items"] == 1
    await check_gone(engine, user_id)


async def test_an_erase_of_a_session_that_loses_reads_each_message_once(
    engine: Everfold, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where others write to memory first, an erase reads what was said since, not the log again, and erases all of it."""
    session = await fill(engine, "ada")
    last_seq = (await session.inspect.state()).last_seq
    store, read_seqs = session._store, list[int]()
    read, erase = store.read_messages, store.erase_sessions

    async def note(session_id: SessionId, seqs: Sequence[int], **options: bool) -> list[Message]:
        read_seqs.extend(seqs)
        return await read(session_id, seqs, **options)

    async def come_second(sessions: Sequence[SessionId], change: MemoryChange) -> Mapping[str, int]:
        monkeypatch.setattr(store, "erase_sessions", erase)
        await session.append(user(f"Once more: the {NEEDLE} has two masts."))
        read_seqs.clear()
        return await erase(sessions, replace(change, expected=MemoryVersion()))

    monkeypatch.setattr(store, "read_messages", note)
    monkeypatch.setattr(store, "erase_sessions", come_second)
    await engine.erase_session(session.id)
    assert read_seqs == [last_seq + 1]
    await check_gone(engine)


# --- the file


def find_files(folder: Path) -> list[str]:
    """The files of a database that hold the needle."""
    return sorted(file.name for file in folder.iterdir() if NEEDLE.encode() in file.read_bytes().lower())


@pytest.mark.parametrize("what", ["messages", "session", "wipe"])
async def test_no_file_holds_it(tmp_path: Path, file_url: str, what: str) -> None:
    """After an erase no byte of the database, its log or its shared memory has the word, neither open nor closed."""
    async with everfold.open(file_url, settings=ON) as engine:
        session = await fill(engine, "ada")
        await session.append([user(f"Again: {NEEDLE} it is."), assistant(f"{NEEDLE}, noted.")])
        memory = await engine.memory(user="ada")
        await memory.add(f"{NEEDLE} has two masts.")
        assert find_files(tmp_path)
        if what == "messages":
            for message in await session.messages(1, (await session.inspect.state()).last_seq):
                if NEEDLE in message.view.text:
                    assert not (await session.erase(message.seq)).is_pending
            for item in await find_items(engine, NEEDLE):
                await memory.forget(item.id)
        elif what == "session":
            await engine.erase_session(session.id)
            for item in await find_items(engine, NEEDLE):
                await memory.forget(item.id)
        else:
            assert not (await engine.wipe("ada", transcripts=True)).is_pending
        assert find_files(tmp_path) == []
        await check_gone(engine)
    assert find_files(tmp_path) == []


async def test_forgotten_items_and_topics_leave_the_file(tmp_path: Path, file_url: str) -> None:
    """Where no message says it, forgetting the item, or first the topic, leaves no byte of the word in any file."""
    async with everfold.open(file_url, settings=ON) as engine:
        await engine.add_user("ada")
        memory = await engine.memory(user="ada")
        item = await memory.add(f"The {NEEDLE} has two masts.")
        await memory.edit(item.id, f"The {NEEDLE} has three masts.")
        assert find_files(tmp_path)
        await memory.forget(item.id)
        assert find_files(tmp_path) == []


async def test_a_reader_makes_an_erase_pending(tmp_path: Path, file_url: str) -> None:
    """While another reader holds an older state the erase says that it is pending; later it is finished, also anew."""
    path = tmp_path / "everfold.db"
    async with everfold.open(file_url, settings=ON) as engine:
        session = await engine.session(user="ada")
        seqs = await say(session, f"The first {NEEDLE}.", f"The second {NEEDLE}.")
        reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchall()
        assert [(await session.erase(seq)).is_pending for seq in seqs] == [True, True]
        await check_gone(engine)
        assert not await engine.admin.finish_erasing()
        assert find_files(tmp_path)
        reader.execute("COMMIT")
        assert await engine.admin.finish_erasing()
        assert find_files(tmp_path) == []
        assert await engine.admin.finish_erasing()
        reader.close()


async def test_a_sweep_finishes_what_was_pending(tmp_path: Path, file_url: str) -> None:
    """Once the reader is gone the next sweep clears the files, also in an engine that knows nothing of the erase."""
    reader = apsw.Connection(str(tmp_path / "everfold.db"))
    async with everfold.open(file_url, settings=ON) as engine:
        session = await engine.session(user="ada")
        (seq,) = await say(session, f"The first {NEEDLE}.")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM messages").fetchall()
        assert (await session.erase(seq)).is_pending
    assert find_files(tmp_path)
    reader.execute("COMMIT")
    async with everfold.open(file_url, settings=ON) as engine:
        recovery = engine._background.recovery
        await recovery.recover()
        assert find_files(tmp_path) == []
    reader.close()


async def test_erases_at_once_lose_nothing_and_leave_nothing(engine: Everfold) -> None:
    """Erases of several messages, a dream, turns and a forgotten item at the same moment all come through."""
    session = await engine.session(user="ada", limit=3000)
    seqs = await say(session, *(f"Remember: boat {n} is called {NEEDLE}{n}." for n in range(4)))
    await say(session, "Remember: the crane is blue.")
    memory = await engine.memory(user="ada")
    item = (await find_items(engine, f"{NEEDLE}3"))[0]
    handles = [await engine.session(id=session.id) for _ in range(4)]
    async with anyio.create_task_group() as group:
        for seq, handle in zip(seqs[:3], handles, strict=False):
            group.start_soon(handle.erase, seq)
        group.start_soon(memory.dream)
        group.start_soon(memory.forget, item.id)
        group.start_soon(say, handles[3], "Remember: the berth is dear.")
    await session.erase(seqs[3])
    await memory.dream()
    await check_gone(engine)
    told = str([one.statement for one in await memory.items()])
    assert "crane" in told
    assert "berth" in told
    assert (await session.verify()).is_sound


async def test_a_failed_proof_is_no_proof(engine: Everfold) -> None:
    """`Session.verify` finds an item that still quotes an erased message."""
    session = await engine.session(user="ada")
    (seq,) = await say(session, f"Remember: my boat is called {NEEDLE}.")
    (item,) = await find_items(engine, NEEDLE)
    await session.erase(seq)
    store, user_id = engine._store, session.record.user_id
    head = await store.read_memory_version(user_id)
    back = replace(item, id=ItemId("itm_back"))
    await store.change_memory(
        MemoryChange(user_id=user_id, agent_id=session.record.agent_id, expected=head, items=(back,))
    )
    (problem,) = (await session.verify()).problems
    assert (problem.seq, "itm_back" in problem.problem) == (seq, True)


async def test_a_proposed_dream_is_dropped(url: str, clock: FakeClock) -> None:
    """A dream that waits for approval, and would write what was erased, holds nothing of it and can not be approved."""
    settings = {"memory": {"system": "structured", "review": True}}
    async with everfold.open(url, clock=clock, ids=CountingIds(), settings=settings) as engine:
        session = await engine.session(user="ada")
        (seq,) = await say(session, f"Remember: my boat is called {NEEDLE}.")
        memory = await engine.memory(user="ada")
        dream = await memory.dream()
        assert dream is not None
        assert (dream.state, NEEDLE in str(dream)) == ("proposed", True)
        await session.erase(seq)
        assert (await memory.get_dream(dream.id)).state == "failed"
        with pytest.raises(ConflictError):
            await memory.approve(dream.id)
        await check_gone(engine)


@pytest.mark.parametrize("is_rejected", [True, False])
async def test_a_forgotten_agent_leaves_no_dream(url: str, clock: FakeClock, *, is_rejected: bool) -> None:
    """A dream that was only proposed holds nothing that a forgotten agent had for itself, rejected or not."""
    settings = {"memory": {"system": "structured", "review": True}}
    async with everfold.open(url, clock=clock, ids=CountingIds(), settings=settings) as engine:
        session = await engine.session(user="ada", agent="shop")
        memory = await engine.memory(user="ada", agent="shop")
        await session.append(
            [user("Hello."), assistant(f"I will send the {NEEDLE} invoice on Monday."), user("Thanks.")]
        )
        dream = await memory.dream()
        assert dream is not None
        assert NEEDLE in str(dream)
        if is_rejected:
            await memory.reject(dream.id)
        await memory.forget_agent("shop")
        assert (await memory.get_dream(dream.id)).state == ("rejected" if is_rejected else "failed")
        places = await engine.admin.verify_erased(user="ada", words=[NEEDLE])
        assert {"dream", "topic", "item"}.isdisjoint(place.kind for place in places)
        again = await memory.forget_agent("shop")
        assert (again.topics_count, again.items_count, again.files_count) == (0, 0, 0)


# --- verify


async def test_a_word_is_not_found_by_a_part_of_it(engine: Everfold) -> None:
    """A mark of several parts is there only as a whole: others that share a part are no place of it."""
    session = await engine.session(user="ada")
    seqs = await say(session, "Remember: the first mark is BX-17.", "Remember: the second mark is BX-42.")
    await session.erase(seqs[0])
    assert await engine.admin.verify_erased(user="ada", words=["BX-17", "first mark is BX-17"]) == []
    kinds = {place.kind for place in await engine.admin.verify_erased(user="ada", words=["second mark is BX-42"])}
    assert {"message", "search", "item"} <= kinds


async def test_verify_erased_names_every_place(engine: Everfold) -> None:
    """A word that is there is found in whatever case, with where it is; one that is not there is nowhere."""
    session = await engine.session(user="ada")
    (seq,) = await say(session, f"Remember: my boat is called {NEEDLE.upper()}.")
    places = await engine.admin.verify_erased(user="ada", words=[NEEDLE, "quokka"])
    assert {place.word for place in places} == {NEEDLE}
    assert ("message", session.id, seq) in {(place.kind, place.id, place.seq) for place in places}
    assert await engine.admin.verify_erased(user="ben", words=[NEEDLE]) == []
    with pytest.raises(InvalidInputError):
        await engine.admin.verify_erased(user="ada", words=NEEDLE)


async def test_a_short_word_is_not_found_in_ids_and_times(url: str) -> None:
    """What a user said counts, however short it is; an id, a hash, a time or a measure that holds it by chance does not."""
    async with everfold.open(url, settings=ON) as engine:
        session = await engine.session(user="ada")
        await say(session, "Remember: my boat has 4711 nails.")
        item = (await find_items(engine, "4711"))[0]
        stored = (await session.messages(1, 1))[0]
        await session.append([assistant("Noted."), user("And now?"), assistant("Now it sails.")])
        await session.append([user("Good."), assistant("It is.")])
        pace = str((await session.inspect.state()).growth.tokens)
        assert len(pace) > 8
        made = [session.id[-4:], item.id[-4:], item.identity[3:7], f"{stored.said_at:%f}"[:5], pace[-4:]]
        assert await engine.admin.verify_erased(user="ada", words=made) == []
        kinds = {place.kind for place in await engine.admin.verify_erased(user="ada", words=["4711"])}
        assert {"message", "search", "item"} <= kinds


# --- export and import


async def test_an_export_comes_back_equal(engine: Everfold) -> None:
    """After a wipe the import of a document gives the same memory, by its words as well, and the audit goes on."""
    await fill(engine, "ada")
    memory = await engine.memory(user="ada")
    (item,) = await find_items(engine, "1234")
    await memory.edit(item.id, "My favourite colour is teal \ud83d.")
    document = json.loads(json.dumps(await engine.export_user("ada")))
    found = await memory.search("teal")
    await engine.wipe("ada")
    await engine.import_user(document, user="ada")
    again = await engine.export_user("ada")
    assert {**again, "audit": None} == {**document, "audit": None}
    assert [hit.item for hit in await memory.search("teal")] == [hit.item for hit in found]
    actions = [entry.action for entry in await memory.audit()]
    assert actions[:2] == ["export", "import"]


async def test_an_import_is_another_users_in_another_store(engine: Everfold) -> None:
    """A document can be imported as anybody's who has no memory; the store that has its ids refuses it until they are wiped."""
    await fill(engine, "ada")
    document = await engine.export_user("ada")
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user="zoe")
        again = await other.export_user("zoe")
        assert len(str(again["items"])) == len(str(document["items"]))
        with pytest.raises(ConflictError, match="wipe"):
            await other.import_user(document, user="zoe")
    with pytest.raises(ConflictError, match="import into another store"):
        await engine.import_user(document, user="zoe")
    assert await (await engine.memory(user="zoe")).items() == []
    await engine.wipe("ada")
    await engine.import_user(document, user="zoe")
    assert await (await engine.memory(user="zoe")).items() != []


async def test_an_erase_leaves_what_another_user_imported(engine: Everfold) -> None:
    """What one user said and another one imported stays the other's after an erase, and the session verifies."""
    session = await engine.session(user="ada")
    (seq,) = await say(session, f"Remember: my boat is called {NEEDLE}.")
    document = await engine.export_user("ada")
    await engine.wipe("ada")
    await engine.import_user(document, user="ben")
    await session.erase(seq)
    assert len(await (await engine.memory(user="ben")).items()) == 1
    assert (await session.verify()).is_sound


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("version",), 2, "version 2"),
        (("format",), "other", "format"),
        (("items", 0, 0, "statement"), 5, r"items\[0\]\[0\]: statement"),
        (("items", 0, 0, "status"), "odd", r"items\[0\]\[0\]: status"),
        (("items", 0, 0, "user_id"), "ben", r"items\[0\]"),
        (("items", 0, 0, "extra"), 1, r"items\[0\]\[0\]"),
        (("items", 0, 0, "valid_from"), "yesterday", r"items\[0\]\[0\]"),
        (("items", 0), [], r"items\[0\]"),
        (("topics", 0, 0, "sources"), [1], r"topics\[0\]\[0\]: sources"),
        (("extractions", 0, "ordinal"), "x", r"extractions\[0\]"),
        (("audit", 0), None, r"audit\[0\]"),
        (("dreams",), {}, "dreams"),
    ],
)
async def test_a_broken_document_stores_nothing(
    exported: str, path: tuple[str | int, ...], value: object, where: str
) -> None:
    """A document of a newer version, or with anything that is not as it must be, is refused with where it is broken."""
    document = json.loads(exported)
    at = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    async with everfold.open("memory://", settings=ON) as other:
        with pytest.raises(InvalidInputError, match=where):
            await other.import_user(document, user="ada")
        with pytest.raises(NotFoundError):
            await other.memory(user="ada")  # not even the user
