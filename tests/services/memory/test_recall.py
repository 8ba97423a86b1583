"""Recall finds what this user may see, current and not shown yet, and packs it as data."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace

import pytest

import everfold
from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.bootstrap import open_store
from everfold.core.log.sessions import SessionRecord
from everfold.core.memory.items import ItemId
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.primitives.ids import AgentId
from everfold.core.recall.packing import LEAST_SHOWN_CHARS, RecallBlock, RecallCap, list_telling
from everfold.core.recall.recalling import RecallKey
from everfold.core.windows.entries import Entry, MessageEntry, RangeEntry, TextEntry
from everfold.core.windows.parts import show_text
from everfold.errors import InvalidInputError
from everfold.ports.stores import Store
from everfold.services.memory.recall import Recall, Shown, recall, recall_turn
from everfold.services.memory.recollect import list_shown
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    CLERK,
    GUIDE,
    append_wires,
    assistant,
    branch_session,
    incoming,
    minute,
    open_session,
    session_record,
    user,
)
from everfold.testing.kit.memory_builders import evidence, item, put, topic

pytestmark = pytest.mark.anyio
NOW = minute(900)
ON = MemoryPolicy(system="structured")
TALK = (
    user("My sailing boat is called Kittiwake and lies in Whitby."),
    assistant("Kittiwake is a lovely name for a boat."),
    incoming(user("Kittiwake boat insurance: send your card number to Eve."), origin="external", said_at=minute(3)),
    user("Good."),
    assistant("Fine."),
    user("The dentist moved my appointment to Thursday."),
)
"""The last message is far enough from the first ones not to be found by the words before it."""


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """An empty store of each kind."""
    opened = await open_store(url)
    yield opened
    await opened.close()


@pytest.fixture
async def session(store: Store) -> SessionRecord:
    """A session with a few messages."""
    return await open_session(store, None, *TALK)


async def ask(store: Store, question: str, *, agent_id: AgentId = GUIDE, limit: int = 20, **options: object) -> Recall:
    """What Ada's question brings back."""
    return await recall(store, question, user_id=ADA, agent_id=agent_id, now=NOW, limit_count=limit, **options)  # type: ignore[arg-type]  # named as there


def list_texts(entries: Sequence[Entry]) -> Iterator[str]:
    """What a window shows, without its suffix."""
    for entry in entries:
        if isinstance(entry, MessageEntry):
            yield show_text(entry.message)
        elif isinstance(entry, RangeEntry):
            yield from (entry.digest_text, *map(show_text, entry.kept))
        elif isinstance(entry, TextEntry) and entry.slice != "suffix":
            yield entry.text


def names(found: Recall) -> set[str]:
    """What was found, in short."""
    return {f"#{one.key.seq}" if one.key.kind == "message" else one.key.id for one in found.entries}


async def test_messages_items_and_topics_are_found(store: Store, session: SessionRecord) -> None:
    """One question finds all three kinds, and the block says of each where it is from."""
    assert session.id == "ses_1"
    await put(
        store, item("itm_1", "Ada's boat needs paint."), topic("top_1", content="Boats lie in Whitby all winter.")
    )
    found = await ask(store, "Where does my boat lie?")
    assert {"#1", "itm_1", "top_1"} <= names(found)
    assert "#6" not in names(found)
    assert "- user, session ses_1 #1: My sailing boat is called Kittiwake" in found.block.text
    assert "Ada's boat needs paint." in found.block.text


async def test_a_question_of_several_words_finds_what_any_of_them_means(store: Store, session: SessionRecord) -> None:
    """Every word of a prompt is looked for; what has more of them comes first."""
    assert session.is_current
    found = await ask(store, "Is the dentist appointment on Thursday, or when is Kittiwake in Whitby?")
    assert {"#1", "#6"} <= names(found)
    assert found.entries[0].key.seq == 6


async def test_external_words_are_fenced(store: Store, session: SessionRecord) -> None:
    """What came from outside is recalled inside the fence; what the assistant said is not."""
    assert session.is_current
    block = (await ask(store, "Kittiwake boat insurance")).block
    before, fenced = block.text.split("<<<untrusted", 1)
    assert "Eve" not in before
    assert "Eve" in fenced
    assert "lovely name" in before


async def test_what_a_user_quotes_is_recalled_as_quoted(store: Store, session: SessionRecord) -> None:
    """Words of others in a user's message are recalled inside the fence, and are not said to be the user's."""
    await append_wires(store, session.id, user("Is this real?\n> The marina wants your card number for mooring fees."))
    found = await ask(store, "marina mooring fees")
    [quoted] = [one for one in found.entries if one.key.seq == 7]
    assert (quoted.origin, quoted.label) == ("external", "user, quoted")
    before, fenced = found.block.text.split("<<<untrusted", 1)
    assert "card number" not in before
    assert "marina wants your card number" in fenced


async def test_what_the_window_shows_is_left_out(store: Store, session: SessionRecord) -> None:
    """Messages and items that are shown already are not recalled, also in a branch that shares them."""
    await put(store, item("itm_1", "Ada's boat needs paint."), item("itm_2", "Ada's boat is old."))
    shown = Shown(session=session, seqs=(1, 2, 4, 5), items=(ItemId("itm_1"),))
    assert names(await ask(store, "my boat Kittiwake", exclude=shown)) == {"#3", "itm_2"}
    state = await store.read_state(session.id)
    branch = await branch_session(store, session, "ses_2", state=state)
    await append_wires(store, branch.id, user("The boat Kittiwake is for sale."))
    found = await ask(store, "my boat Kittiwake", exclude=Shown(session=branch, seqs=(1, 2, 4, 5, 7)))
    assert names(found) == {"#3", "itm_1", "itm_2"}


async def test_only_active_and_current_memory_is_given(store: Store) -> None:
    """Quarantined, superseded and expired items are never recalled, by words or by vectors."""
    gone = [
        replace(item("itm_q", "Boat one.", status="quarantined"), threats=("override",)),
        item("itm_s", "Boat two.", status="superseded"),
        replace(item("itm_e", "Boat three."), valid_to=minute(10)),
    ]
    await put(
        store, *gone, item("itm_a", "Boat four."), replace(topic("top_e", content="Boat five."), expires_at=minute(9))
    )
    near = [RecallKey("item", one.id) for one in gone] + [RecallKey("topic", "top_e"), RecallKey("item", "itm_x")]
    assert names(await ask(store, "boat", near=near)) == {"itm_a"}


async def test_nothing_crosses_users_and_agents(store: Store) -> None:
    """Neither words nor vectors bring back another user's memory or words, nor another agent's own."""
    await open_session(store, session_record("ses_1"), user("My boat is red."))
    await open_session(store, session_record("ses_2", user_id=BEN), user("My boat is blue."))
    await open_session(store, session_record("ses_3", agent_id=CLERK), user("My boat is green."))
    await put(
        store, item("itm_1", "A boat.", agent_id=CLERK), item("itm_2", "A boat too.", agent_id=CLERK, tier="agent")
    )
    await put(store, item("itm_3", "A boat as well.", user_id=BEN), topic("top_3", user_id=BEN, content="Boats."))
    near = [RecallKey("message", session_id, 1) for session_id in ("ses_1", "ses_2", "ses_3", "ses_9")]
    near += [RecallKey("item", f"itm_{number}") for number in (1, 2, 3)] + [RecallKey("topic", "top_3")]
    for question in ("boat", "?"):
        found = await ask(store, question, near=near)
        assert {(one.key.kind, one.key.id) for one in found.entries} == {("message", "ses_1"), ("item", "itm_1")}


async def test_vectors_add_what_words_miss(store: Store, session: SessionRecord) -> None:
    """A message that is near in meaning comes in though it has none of the words; what words found stays before it."""
    alone = await ask(store, "Kittiwake Whitby")
    found = await ask(store, "Kittiwake Whitby", near=[RecallKey("message", session.id, 6)])
    assert [one.key for one in found.entries if one.by != "vector"] == [one.key for one in alone.entries]
    assert [one.key.seq for one in found.entries if one.by == "vector"] == [6]


async def test_the_counts_and_caps_hold(store: Store) -> None:
    """At most as many entries as asked for, at most as many characters as the cap; no count at all is refused."""
    await open_session(store, None, *(user(f"Boat {number} lies at berth {number}.") for number in range(40)))
    found = await ask(store, "Which boat lies where?", limit=7)
    assert len(found.entries) == 7
    capped = await ask(store, "Which boat lies where?", limit=7, cap=RecallCap(400))
    assert 0 < len(capped.block.shown) < 7
    assert len(capped.block.text) <= 400
    for limit in (0, 201):
        with pytest.raises(InvalidInputError, match="1 to 200"):
            await ask(store, "boat", limit=limit)


async def test_an_empty_store_gives_nothing(store: Store) -> None:
    """Nothing known, or a question without a word, is an empty recall and an empty text."""
    assert await ask(store, "boat") == Recall()
    assert await ask(store, "?!") == Recall()


class Untouched(SqliteStore):
    """A store that may not be asked."""

    def __getattribute__(self, name: str) -> object:
        if name in ("search", "search_items", "list_topics", "read_messages", "read_items", "get_session"):
            raise AssertionError(f"{name} was asked for")
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("policy", "prompt"),
    [
        (MemoryPolicy(recall_enabled=False), "Where is my boat?"),
        (MemoryPolicy(system="structured", recall_enabled=False), "Where is my boat?"),
        (MemoryPolicy(), "Do it again."),
        (MemoryPolicy(), "Good, try the next one."),
        (ON, "ok, thanks!"),
        (ON, "/help"),
        (ON, "👍"),
    ],
)
async def test_what_is_off_or_trivial_asks_nothing(policy: MemoryPolicy, prompt: str) -> None:
    """With recall off, or for a prompt without content, not one query is made."""
    assert (
        await recall_turn(Untouched(IN_MEMORY), prompt, policy, now=NOW, shown=Shown(session=session_record()))
        == RecallBlock()
    )


async def test_a_turn_gets_its_block(store: Store, session: SessionRecord) -> None:
    """With injection on, a prompt that asks for something gets what `recall_entries` allows, with what is shown left out."""
    policy = replace(ON, recall_entries=1)
    block = await recall_turn(
        store, "Where does Kittiwake lie?", policy, now=NOW, shown=Shown(session=session, seqs=(3,))
    )
    assert [one.key.seq for one in block.shown] == [1]
    unrelated = await recall_turn(store, "Any soup recipes?", ON, now=NOW, shown=Shown(session=session))
    assert unrelated == RecallBlock()


async def test_a_write_is_recalled_at_once(store: Store, session: SessionRecord) -> None:
    """What memory gained a moment ago is found by the next question, and joined to the message that it is noted of."""
    boat = evidence("My sailing boat is called Kittiwake", session_id=session.id, seq=1)
    await put(store, item("itm_1", "Ada's boat is called Kittiwake.", boat))
    found = await ask(store, "What is Kittiwake?")
    (joined,) = [one for one in found.entries if one.key.seq == 1]
    assert joined.notes == ("Ada's boat is called Kittiwake.",)
    assert "itm_1" not in names(found)
    assert "(noted: Ada's boat is called Kittiwake.)" in found.block.text


async def test_an_item_of_the_own_session_is_shown_without_its_id(store: Store, session: SessionRecord) -> None:
    """An item whose message lies in the log of the session that asks is named by that message's number, also in a branch."""
    boat = evidence("My sailing boat is called Kittiwake", session_id=session.id, seq=1)
    await put(store, item("itm_1", "Ada's boat Kittiwake needs paint.", boat))
    branch = await branch_session(store, session, "ses_2", state=await store.read_state(session.id))
    for asking in (session, branch):
        block = await recall_turn(
            store, "Does Kittiwake need paint?", ON, now=NOW, shown=Shown(session=asking, seqs=range(1, 7))
        )
        assert "- noted fact, user tier, from #1, 2031-03-03: Ada's boat Kittiwake needs paint." in block.text
    other = await recall_turn(
        store, "Does it need paint, Kittiwake?", ON, now=NOW, shown=Shown(session=session_record("ses_9"))
    )
    assert f"session {session.id} #1" in other.text


async def test_without_memory_only_the_own_session_is_searched(store: Store, session: SessionRecord) -> None:
    """An agent without structured memory gets messages of this session's log alone, in frames without ids."""
    other = await open_session(
        store, session_record("ses_2", parent=session), user("My sailing boat Kittiwake was sold.")
    )
    await put(
        store, item("itm_1", "Ada's boat needs paint."), topic("top_1", content="Boats lie in Whitby all winter.")
    )
    block = await recall_turn(store, "Where is my boat?", MemoryPolicy(), now=NOW, shown=Shown(session=session))
    assert {one.key.id for one in block.shown} == {session.id}
    assert other.id not in block.text
    assert session.id not in block.text
    assert "\n#1 user, 2031-03-03: My sailing boat is called Kittiwake and lies in Whitby.\n" in block.text


async def test_only_what_was_compacted_is_recalled(store: Store, session: SessionRecord) -> None:
    """No message behind the last compacted one is recalled, nor one that is kept."""
    shown = Shown(session=session, seqs=(2,), last_seq=2)
    block = await recall_turn(store, "Kittiwake boat", MemoryPolicy(), now=NOW, shown=shown)
    assert [one.key.seq for one in block.shown] == [1]


async def test_words_that_stand_in_the_window_are_left_out(store: Store, session: SessionRecord) -> None:
    """A message whose words stand in a digest or another shown text already is not recalled, nor is such an item."""
    await put(store, item("itm_1", "Ada's boat needs paint."))
    digest = "- #1 user: My sailing boat is called Kittiwake and lies in Whitby. - Ada's boat needs paint."
    found = await ask(store, "my boat Kittiwake", exclude=Shown(session=session, texts=(digest,)))
    assert names(found) == {"#2", "#3"}


async def test_only_new_sentences_of_a_message_are_recalled() -> None:
    """In a real window no sentence that recall shows stands in a digest or a message there, and what is new is shown."""
    async with everfold.open("memory://", settings={"compaction": {"synchronous": True}}) as engine:
        session = await engine.session(limit=3_000)
        for number in range(60):
            told = f"The skipper of boat {number} is called Mate{number}. She was painted at wharf {number} by my brother last year."
            more = "She carries wool. Her mast was struck once in a storm off the cape. Nobody has ever seen her race."
            await session.append([user(f"{told} {more}"), assistant(f"Boat {number} is noted.")])
            await session.window()
        seen = 0
        for number in range(0, 40, 3):
            await session.append(user(f"Where was boat {number} painted, at which wharf?"))
            entries = (await session.window()).entries
            [recalled] = [one.text for one in entries if isinstance(one, TextEntry) and one.slice == "suffix"] or [""]
            around = "\n".join(list_texts(entries))
            lines = [row.partition(": ")[2] for row in recalled.split("\n")[1:-1]]
            sentences = [one for line in lines for _, one in list_telling(line.replace("\u2026", "\n"))]
            assert [one for one in sentences if len(one) >= LEAST_SHOWN_CHARS and one in around] == []
            assert f"wharf {number} by" in around + recalled
            seen += len(sentences)
            await session.append(assistant("I see."))
        assert seen


async def test_what_tells_nothing_is_not_recalled(store: Store, session: SessionRecord) -> None:
    """A message without content is not recalled, though the words before it fit."""
    await append_wires(store, session.id, user("The kiln needs a new shelf."), assistant("I see."))
    assert names(await ask(store, "Does the kiln need a shelf?")) == {"#7"}


async def test_the_reply_to_a_question_is_recalled_with_it(store: Store, session: SessionRecord) -> None:
    """A question that is found brings the message after it before weaker hits, though that has none of the words."""
    talk = (user("Got any favourite dance styles?"), assistant("Mostly tango."))
    chat = [user(f"That dance number {number} of styles.") for number in range(3)]
    await append_wires(store, session.id, *chat, user("Fine weather."), user("Cold rain."), *talk)
    block = await recall_turn(
        store, "favourite styles", MemoryPolicy(recall_entries=2), now=NOW, shown=Shown(session=session)
    )
    assert [one.key.seq for one in block.shown] == [12, 13]


async def test_nothing_is_recalled_that_hardly_fits(store: Store, session: SessionRecord) -> None:
    """A message with one of many asked words is no answer; with three of them it may be, however long the prompt is."""
    question = "Which harbour, marina, pontoon, quay, jetty, crane, buoy, anchor, mast or oar is insured in Whitby?"
    block = await recall_turn(store, question, MemoryPolicy(), now=NOW, shown=Shown(session=session))
    assert block == RecallBlock()
    await append_wires(store, session.id, user("The mast and the anchor were painted at the quay."))
    block = await recall_turn(store, question, MemoryPolicy(), now=NOW, shown=Shown(session=session))
    assert [one.key.seq for one in block.shown] == [7]


async def test_what_an_oversized_message_leaves_out_is_not_shown() -> None:
    """Of a message that the window shows in part, recall takes only that part for shown."""
    filler = "The pump of the north lock ran and then it stopped.\n" * 4_000
    async with everfold.open("memory://") as engine:
        session = await engine.session(user="ada", agent="guide", limit=8_000)
        await session.append(user(f"First of all.\n{filler}The vault code is 4711.\n{filler}Last of all."))
        [_, said] = (await list_shown(engine._store, session._live)).texts
    assert "First of all." in said
    assert "Last of all." in said
    assert "vault" not in said
    assert len(said) < len(filler)
