"""What is said with an end leaves memory's shown parts with it; a bare answer stands with its question."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

import everfold
from everfold import Everfold, Session
from everfold.core.windows.entries import TextEntry
from everfold.testing.kit.builders import assistant, user
from everfold.testing.kit.fakes import FakeClock

pytestmark = pytest.mark.anyio
MONDAY = datetime(2031, 3, 3, 8, tzinfo=UTC)
SETTINGS: dict[str, object] = {"memory": {"system": "structured"}, "sessions": {"gap_secs": 0}}

GROUPINGS = [(4,), (3, 1), (1, 1, 1, 1), (2, 2), (1, 3), (1, 2, 1), (2, 1, 1)]
"""How many messages of a talk each append takes."""


def _open(clock: FakeClock) -> Everfold:
    return everfold.open("memory://", settings=SETTINGS, clock=clock)  # type: ignore[return-value, arg-type]


async def _say(session: Session, *texts: str) -> None:
    for text in texts:
        await session.append([user(text), assistant("ok")])


async def _show(session: Session, part: str) -> str:
    window = await session.window()
    entries = [entry for entry in window.entries if isinstance(entry, TextEntry) and entry.slice == part]
    return "\n".join(entry.text for entry in entries)


async def test_what_has_ended_is_shown_no_more() -> None:
    """After its end a statement is in no new snapshot, no topic and no dream's text; the log and the item keep it."""
    clock = FakeClock(MONDAY)
    async with _open(clock) as engine:
        session = await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        await _say(session, "I am on holiday from 5 March to 9 March.", "Never call me this week.", "My name is Ada.")
        await memory.add("The guest stays until 6 March 2031.")
        ends = {item.statement: item.valid_to for item in await memory.items()}
        assert [
            ends["My name is Ada."] is None,
            *(ends[text] is not None for text in ends if text != "My name is Ada."),
        ] == [True] * 4
        await memory.dream()
        clock.advance(timedelta(days=30))
        fresh = await session.new()
        await _say(fresh, "Hello, my badge number is 4471.")
        shown = await _show(fresh, "snapshot")
        assert "Ada" in shown
        for gone in ("holiday", "never call", "guest"):
            assert gone not in shown.lower()
        await memory.dream()
        told = "\n".join(topic.content for topic in await memory.topics())
        assert "Ada" in told
        for gone in ("holiday", "never call", "guest"):
            assert gone not in told.lower()


async def test_what_has_ended_is_shown_as_expired() -> None:
    """Listed, found or read by its id, an item past its end has the status "expired"; before its end it is active."""
    clock = FakeClock(MONDAY)
    async with _open(clock) as engine:
        await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        added = await memory.add("The guest stays until 6 March 2031.")
        assert [item.status for item in await memory.item(added.id)] == ["active"]
        clock.advance(timedelta(days=30))
        listed = await memory.items(statuses=("expired",))
        found = await memory.find_items("guest", statuses=("active", "expired"), kind="fact")
        for items in (listed, found.items, await memory.item(added.id)):
            assert [(item.id, item.status) for item in items] == [(added.id, "expired")]


async def test_an_end_that_passes_in_a_session_is_told() -> None:
    """A line of the frozen snapshot whose end is past is called no longer so, without any other change of memory."""
    clock = FakeClock(MONDAY)
    async with _open(clock) as engine:
        session = await engine.session(user="ada", agent="guide")
        await _say(session, "Remember: the guest stays until 6 March 2031.")
        fresh = await session.new()
        await fresh.append(user("Hello, who is here?"))
        assert "guest" in await _show(fresh, "snapshot")
        assert "no longer so" not in await _show(fresh, "suffix")
        await fresh.append(assistant("The guest."))
        clock.advance(timedelta(days=5))
        await fresh.append(user("And who is here now, please?"))
        assert "no longer so: Remember: the guest stays" in await _show(fresh, "suffix")


async def test_expired_topics_are_listed_on_demand() -> None:
    """A topic whose items have all ended is not listed, unless it is asked for."""
    clock = FakeClock(MONDAY)
    async with _open(clock) as engine:
        session = await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        await _say(session, "Remember: the guest stays until 6 March 2031.")
        await memory.dream()
        assert len(await memory.topics()) == 1
        clock.advance(timedelta(days=30))
        assert await memory.topics() == []
        assert len(await memory.topics(include_expired=True)) == 1


async def test_what_has_ended_is_listed_on_demand() -> None:
    """An item past its end is listed and found with the expired ones only; a page is full all the same."""
    clock = FakeClock(MONDAY)
    async with _open(clock) as engine:
        await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        for text in ("The guest stays until 6 March 2031.", "The guest has a dog.", "The guest has a car."):
            await memory.add(text)
        clock.advance(timedelta(days=30))
        lasting = ["The guest has a dog.", "The guest has a car."]
        assert [item.statement for item in await memory.items()] == lasting
        assert [item.statement for item in await memory.items(limit=2)] == lasting
        assert [item.statement for item in (await memory.find_items(limit=2)).items] == lasting
        assert len((await memory.find_items("guest")).items) == 2
        assert len(await memory.search("guest", limit=2)) == 2
        assert all("stays" not in hit.item.statement for hit in await memory.search("guest stays until 6 March"))
        expired = ["The guest stays until 6 March 2031."]
        assert [item.statement for item in await memory.items(statuses=("expired",))] == expired
        assert [item.statement for item in (await memory.find_items("until", statuses=("expired",))).items] == expired
        assert len(await memory.items(statuses=("active", "expired"))) == 3


async def test_a_topic_counts_the_lines_that_it_shows() -> None:
    """A topic of two items of which one has ended says that it has one."""
    clock = FakeClock(MONDAY)
    async with _open(clock) as engine:
        session = await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        await _say(session, "I am on holiday until Friday.", "My name is Ada.")
        await memory.dream()
        assert [topic.summary for topic in await memory.topics()] == ["2 items, 2031-03-03"]
        clock.advance(timedelta(days=30))
        (topic,) = await memory.topics()
        assert (topic.summary, topic.content) == ("1 item, 2031-03-03", "- 2031-03-03: My name is Ada.")


async def test_distinct_saved_facts_both_stay() -> None:
    """However a fact is given, another thing's fact of the same sort leaves it standing and is told beside it."""
    for how in ("", "Remember: "):
        async with _open(FakeClock(MONDAY)) as engine:
            session = await engine.session(user="ada", agent="guide")
            memory = await engine.memory(user="ada", agent="guide")
            for text in ("Locker 1 has code 4711.", "Locker 2 has code 8822."):
                await (_say(session, f"{how}{text}") if how else memory.add(text))
            await session.append(user("What is new in my lockers?"))
            assert "no longer so" not in await _show(session, "suffix")
            assert [item.status for item in await memory.items(statuses=("active", "superseded"))] == ["active"] * 2
            assert len(await memory.search("locker 1 code")) == 2


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("way", ["one handle", "a handle each", "the window between"])
async def test_a_bare_answer_stands_with_its_question(grouping: Sequence[int], way: str) -> None:
    """However messages are appended, a short answer becomes one statement with its question; erasing takes its words."""
    async with _open(FakeClock(MONDAY)) as engine:
        session = await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        said = [user("Hello."), assistant("Hi! What is your allergy?"), user("Peanuts."), assistant("Noted.")]
        for count in grouping:
            group, said = said[:count], said[count:]
            await session.append(group if count > 1 else group[0])
            session = await engine.session(id=session.id) if way == "a handle each" else session
            if way == "the window between":
                await session.window()
        (item,) = await memory.items()
        assert item.statement == 'Asked "What is your allergy?", the user answered "Peanuts."'
        assert [(one.seq, one.quote) for one in item.evidence] == [(2, "What is your allergy?"), (3, "Peanuts.")]
        assert (item.kind, item.tier, item.origin) == ("fact", "user", "assistant")
        await session.erase(3)
        assert await memory.items() == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which units do you use?", "Metric, please."),
        ("What is your last name?", "Potter."),
        ("When is your birthday?", "3 May."),
        ("How old are you?", "42"),
        ("What is your e-mail address?", "ada@example.org"),
    ],
)
async def test_no_answer_that_is_appended_later_stands_bare(question: str, answer: str) -> None:
    """A day, a number or an address that answers a question is not stored without it."""
    async with _open(FakeClock(MONDAY)) as engine:
        session = await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        for wire in (user("Hello."), assistant(question), user(answer)):
            await session.append(wire)
        assert [item.statement for item in await memory.items()] == [
            f'Asked "{question}", the user answered "{answer}"'
        ]


async def test_an_answer_stands_with_its_question_whichever_handle_took_either() -> None:
    """Of two handles of a session, one that was not told of the question reads it; an older question is not taken."""
    async with _open(FakeClock(MONDAY)) as engine:
        one = await engine.session(user="ada", agent="guide")
        other = await engine.session(id=one.id)
        memory = await engine.memory(user="ada", agent="guide")
        await one.append(assistant("What is your last name?"))
        await other.append(user("I will tell you later."))
        await other.append(assistant("What is your allergy?"))
        await one.append(user("Peanuts."))
        assert [item.statement for item in await memory.items()] == [
            'Asked "What is your allergy?", the user answered "Peanuts."'
        ]


async def test_an_answer_that_is_said_again_stands_with_its_question() -> None:
    """A user who takes an answer back and says another one still answers the question before it."""
    async with _open(FakeClock(MONDAY)) as engine:
        session = await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        for wire in (user("Hello."), assistant("What is your allergy?"), user("Walnuts.")):
            await session.append(wire)
        await session.retract()
        await session.append(user("Peanuts."))
        assert [item.statement for item in await memory.items()] == [
            'Asked "What is your allergy?", the user answered "Peanuts."'
        ]


@pytest.mark.parametrize("how", ["erase", "retract"])
async def test_no_answer_stands_with_a_question_that_is_gone(how: str) -> None:
    """A question that a handle still has is not stored once it was erased or taken back."""
    async with _open(FakeClock(MONDAY)) as engine:
        session = await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        await session.append([user("Hello."), assistant("Hi! How are you today?"), user("Fine, thanks.")])
        await session.append(assistant("What is your allergy?"))
        await (session.erase(4) if how == "erase" else session.retract())
        await session.append(user("Peanuts."))
        assert not any("allergy" in item.statement for item in await memory.items())


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you smoke?", "Sometimes."),
        ("Is it red? What is your favourite colour?", "Blue."),
        ("Which is your car, the red or the blue one?", "Blue."),
        ("What do you think?", "Nice weather."),
        ("What is your doctor called?", "None of that matters"),
        ("What is the capital of France?", "Paris."),
        ("What is your name?", "I am Ada."),
        ("What is your address? I can wait.", "Oak Street 4."),
    ],
)
async def test_no_other_answer_is_joined_to_a_question(question: str, answer: str) -> None:
    """Yes and no, choices, two questions, opinions, refusals, quizzes and whole sentences make no such statement."""
    async with _open(FakeClock(MONDAY)) as engine:
        session = await engine.session(user="ada", agent="guide")
        memory = await engine.memory(user="ada", agent="guide")
        await session.append([user("Hello."), assistant(question), user(answer)])
        assert not any(item.statement.startswith("Asked ") for item in await memory.items())


async def test_a_rule_that_was_taken_back_is_shown_no_more() -> None:
    """Where the user takes a rule back, memory shows what holds now, and a rule of something else stays."""
    clock = FakeClock(MONDAY)
    async with _open(clock) as engine:
        session = await engine.session(user="ada", agent="guide")
        await _say(session, "Never use emojis.", "Please always CC Carla.", "You can use emojis again.")
        fresh = await session.new()
        await _say(fresh, "Hello, my badge number is 4471.")
        shown = await _show(fresh, "snapshot")
        assert "Never use emojis" not in shown
        assert "You can use emojis again" in shown
        assert "always CC Carla" in shown
