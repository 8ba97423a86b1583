"""Sessions: new, reset, resume, branch and rewind, apart by user and agent."""

from pathlib import Path

import apsw
import pytest
from tests.support.proofs import Prover, list_all_compactions

import everfold
from everfold import Everfold, Session
from everfold.core.primitives.json_values import JsonObject
from everfold.errors import BudgetUnsatisfiableError, ConflictError, InvalidInputError, NotFoundError
from everfold.testing.kit.builders import assistant, calls, result, talk, user

LIMIT = 4000
pytestmark = pytest.mark.anyio


async def texts(session: Session) -> list[str]:
    """What a session's log says, message by message."""
    last_seq = (await session.inspect.state()).last_seq
    return [message.view.text for message in await session.messages(1, last_seq)] if last_seq else []


async def fold_some(session: Session, *, turns: int = 8, topic: str = "harbour") -> int:
    """Talk and compact by hand; gives the watermark."""
    await session.append(talk(turns, topic=topic))
    await session.compact(keep_recent=4)
    return (await session.window()).report.compacted_through


async def test_current_is_the_same(engine: Everfold) -> None:
    """The current session of a user and an agent is the same one each time it is asked for."""
    first = await engine.session(user="ada")
    await first.append(user("hello"))
    again = await engine.session(user="ada")
    assert again.id == first.id
    assert await texts(again) == ["hello"]
    assert first.record.is_current
    assert first.record.started_by == "open"
    assert first.record.parent_id is None


@pytest.mark.parametrize("started_by", ["new", "reset"])
async def test_following_session(engine: Everfold, started_by: str) -> None:
    """A new or a reset session is empty, names the one before it, keeps its settings and becomes the current one."""
    first = await engine.session(limit=LIMIT, system="Be brief.")
    await first.append(talk(2))
    second = await first.new() if started_by == "new" else await first.new(keep_calibration=False)
    assert (second.record.parent_id, second.record.branch_seq) == (first.id, 0)
    assert second.record.started_by == started_by
    assert second.settings == first.settings
    assert await texts(second) == []
    assert (await engine.session(limit=LIMIT)).id == second.id
    assert len(await texts(first)) == 4


async def test_resume(engine: Everfold) -> None:
    """Resuming an older session makes it the current one, and only it."""
    first = await engine.session()
    second = await first.new()
    await first.integration.resume()
    assert (await engine.session()).id == first.id
    current = [record.id for record in await engine.list_sessions() if record.is_current]
    assert current == [first.id]
    await second.integration.resume()
    assert (await engine.session()).id == second.id


async def test_branch_shares_without_copying(file_url: str, tmp_path: Path) -> None:
    """A branch reads its parent's messages up to the branch point, and not one row of them is stored twice."""
    async with everfold.open(file_url) as engine:
        parent = await engine.session(limit=LIMIT)
        await fold_some(parent)
        before = count_rows(tmp_path)
        branch = await parent.branch(16)
        assert count_rows(tmp_path) == before
        assert await texts(branch) == await texts(parent)
        assert (branch.record.parent_id, branch.record.branch_seq) == (parent.id, 16)
        assert branch.record.started_by == "branch"
        assert (await engine.session()).id == parent.id
        assert not branch.record.is_current


def count_rows(folder: Path) -> dict[str, int]:
    """How many rows each table holds, sessions and their states left out."""
    connection = apsw.Connection(str(folder / "everfold.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return {
            table: int(str(next(iter(connection.execute(f"SELECT count(*) FROM {table}")))[0]))
            for table in ("messages", "message_index", "compactions", "digests")
        }
    finally:
        connection.close()


async def test_branch_inherits_decided_past(engine: Everfold) -> None:
    """A branch inherits the events that end at or before its point, and no other: its watermark is the last one's end."""
    parent = await engine.session(limit=LIMIT)
    first_end = await fold_some(parent, topic="harbour")
    second_end = await fold_some(parent, topic="market")
    assert 0 < first_end < second_end
    for seq in range(1, (await parent.inspect.state()).last_seq + 1):
        branch = await parent.branch(seq)
        watermark = (await branch.window(preview=True)).report.compacted_through
        assert watermark == (second_end if seq >= second_end else first_end if seq >= first_end else 0)
        ends = [compaction.plan.last_seq for compaction in await list_all_compactions(branch)]
        assert ends == [end for end in (first_end, second_end) if end <= seq]


async def test_branch_window_equals_the_parents_then(engine: Everfold) -> None:
    """Directly after branching at the end, the branch shows what its parent shows, and verifies."""
    parent = await engine.session(limit=LIMIT, system="Be brief.")
    await fold_some(parent)
    branch = await parent.branch((await parent.inspect.state()).safe_seq)
    request = (await parent.window()).render("openai")
    assert (await branch.window()).render("openai") == request
    assert (await branch.verify()).is_sound


async def test_both_go_on_independently(engine: Everfold) -> None:
    """After a branch both logs grow and compact, neither sees the other's words, and both verify."""
    parent = await engine.session(limit=LIMIT)
    await fold_some(parent)
    branch = await parent.branch(12)
    for session, topic in ((parent, "orchard"), (branch, "quarry")) * 2:
        await session.append(talk(12, topic=topic))
        await session.window()
        await session.compact(keep_recent=4)
    for session, own, other in ((parent, "orchard", "quarry"), (branch, "quarry", "orchard")):
        said = "\n".join(await texts(session))
        shown = str((await session.window()).render("openai"))
        assert own in said
        assert own in shown
        assert other not in said
        assert other not in shown
        assert not await session.search(other)
        assert await session.search(own)
        verification = await session.verify()
        assert verification.is_sound, verification.problems
        assert verification.compactions_count > 1


async def test_branch_of_a_branch(engine: Everfold) -> None:
    """A branch of a branch reads the three logs that it is made of, each up to its own point."""
    first = await engine.session(limit=LIMIT)
    await first.append([user("one"), assistant("two"), user("three")])
    second = await first.branch(2)
    await second.append([user("drei"), assistant("vier"), user("fünf")])
    await first.append(assistant("four"))
    third = await second.branch(4)
    await third.append(user("cinq"))
    assert await texts(third) == ["one", "two", "drei", "vier", "cinq"]
    assert await texts(second) == ["one", "two", "drei", "vier", "fünf"]
    assert await texts(first) == ["one", "two", "three", "four"]
    below = await third.branch(1)
    assert await texts(below) == ["one"]
    await fold_some(third)
    fourth = await third.branch((await third.inspect.state()).safe_seq)
    await fold_some(fourth)
    for session in (first, second, third, fourth):
        verification = await session.verify()
        assert verification.is_sound, verification.problems


async def test_branch_at_every_boundary_lives(engine: Everfold) -> None:
    """At whatever boundary a log with steps is branched, the branch holds every guarantee and can go on."""
    parent = await engine.session(limit=LIMIT)
    wires = [
        user("Find the papers."),
        calls("a", "b"),
        result("b", "second"),
        result("a", "first" * 40),
        assistant("Done."),
    ]
    await parent.append(wires * 4)
    await parent.compact(keep_recent=3)
    for seq in range(1, 21):
        if seq % 5 in {2, 3}:
            continue
        branch = await parent.branch(seq)
        prover = Prover(branch)
        prover.given = [message.wire for message in await branch.messages(1, seq)]
        await prover.append(user("And now?"), calls("a"), result("a", "third"), assistant("That is all."))
        await prover.window()
        assert await branch.compact(keep_recent=1)
        await prover.window()
        await prover.check_all()


async def test_branch_inside_a_step(engine: Everfold) -> None:
    """A branch inside a step is refused with the step's end named, and nothing is made."""
    session = await engine.session()
    await session.append([user("go"), calls("a", "b"), result("a", "1"), result("b", "2"), assistant("done")])
    for seq in (2, 3):
        with pytest.raises(InvalidInputError, match="the step ends at message 4") as caught:
            await session.branch(seq)
        assert caught.value.ids == {"session": session.id, "seq": seq}
    assert len(await engine.list_sessions()) == 1


@pytest.mark.parametrize("seq", [0, -1, 4, 2**40])
async def test_branch_where_nothing_is(engine: Everfold, seq: int) -> None:
    """A branch at a message that does not exist, or after an open step began, is refused."""
    session = await engine.session()
    await session.append([user("go"), assistant("gone"), calls("a")])
    with pytest.raises(InvalidInputError, match="expected 1 to 2"):
        await session.branch(seq)


async def test_branch_accepts_the_late_results_of_its_past(engine: Everfold) -> None:
    """A result that came late for the parent also comes late for a branch, however long ago its call was."""
    session = await engine.session(limit=64_000)
    await session.append([user("go"), calls("slow"), user("never mind")])
    await session.append(talk(30))
    branch = await session.branch((await session.inspect.state()).safe_seq)
    late = result("slow", "at last")
    await session.append(late)
    await branch.append(late)
    kinds = [(await one.messages(64, 64))[0].kind for one in (session, branch)]
    assert kinds == ["late", "late"]


async def test_rewind_becomes_current(engine: Everfold) -> None:
    """A rewind is a branch at an earlier message that becomes the current session; the old log stays as it is."""
    session = await engine.session(limit=LIMIT)
    await session.append([user("one"), assistant("two"), user("three"), assistant("four")])
    again = await session.rewind(2)
    assert again.record.started_by == "rewind"
    assert (again.record.parent_id, again.record.branch_seq) == (session.id, 2)
    assert (await engine.session()).id == again.id
    await again.append(user("drei"))
    assert await texts(again) == ["one", "two", "drei"]
    assert await texts(session) == ["one", "two", "three", "four"]
    current = [record.id for record in await engine.list_sessions() if record.is_current]
    assert current == [again.id]


async def test_rewind_of_what_is_not_current(engine: Everfold) -> None:
    """A session that is not the current one can be rewound, and the rewind becomes current."""
    session = await engine.session(limit=LIMIT)
    await session.append(talk(2))
    branch = await session.branch(2)
    await branch.append(talk(1))
    again = await branch.rewind(3)
    assert (await engine.session()).id == again.id


async def test_new_of_what_is_not_current(engine: Everfold) -> None:
    """Of two that follow the same session one wins and the other is refused, until the session is resumed."""
    session = await engine.session()
    second = await session.new()
    for keep in (True, False):
        with pytest.raises(ConflictError, match=second.id):
            await session.new(keep_calibration=keep)
    assert (await engine.session()).id == second.id
    assert len(await engine.list_sessions()) == 2
    await session.integration.resume()
    third = await session.new()
    assert third.record.parent_id == session.id
    assert (await engine.session()).id == third.id


async def test_users_and_agents_are_apart(engine: Everfold) -> None:
    """No message of one user ever appears for another, and none of one agent for another agent."""
    said = {}
    for name in ("ada", "ben"):
        for agent in ("guide", "clerk"):
            session = await engine.session(user=name, agent=agent, limit=LIMIT)
            word = f"{name}{agent}"
            await session.append(talk(14, topic=f"{word} lighthouse"))
            await session.window()
            said[name, agent] = session
    assert len({session.id for session in said.values()}) == 4
    for (name, agent), session in said.items():
        shown = str((await session.window()).render("anthropic"))
        assert f"{name}{agent}" in shown
        for other_name, other_agent in said:
            if (other_name, other_agent) != (name, agent):
                assert f"{other_name}{other_agent}" not in shown
        own = await session.search("lighthouse", limit=50)
        assert {hit.session for hit in own} == {session.id}
        by_agent = await engine.search("lighthouse", user=name, agent=agent, limit=50)
        assert {hit.session for hit in by_agent} == {session.id}
        by_user = await engine.search("lighthouse", user=name, limit=100)
        assert {hit.session for hit in by_user} <= {said[name, "guide"].id, said[name, "clerk"].id}
    assert not await engine.search("lighthouse", user="eve")
    assert not await engine.search("benguide", user="ada", limit=50)
    assert [record.user_id for record in await engine.list_sessions(user="ada")] == [
        said["ada", "guide"].record.user_id
    ] * 2
    assert len(await engine.list_sessions(agent="clerk")) == 2


async def test_each_key_has_its_own_conversation(engine: Everfold) -> None:
    """One user and agent have a current session under each session key, and one without; each is found again."""
    bare = await engine.session(user="ada")
    await bare.append(user("bare"))
    for key in ("thread-42", "Thread-42", "é/\U0001f600"):
        session = await engine.session(user="ada", session_key=key)
        assert session.is_new
        assert session.record.session_key == key
        await session.append(user(key))
        again = await engine.session(user="ada", session_key=key)
        assert (again.id, again.is_new) == (session.id, False)
        assert await texts(again) == [key]
    assert (await engine.session(user="ada")).id == bare.id
    listed = await engine.list_sessions(user="ada")
    assert [(one.session_key, one.is_current) for one in listed] == [
        ("", True),
        ("thread-42", True),
        ("Thread-42", True),
        ("é/\U0001f600", True),
    ]


async def test_the_old_name_of_a_session_key_is_refused(engine: Everfold) -> None:
    """An argument by its old name is refused with the new one, and no session is created."""
    with pytest.raises(InvalidInputError, match="session: the argument `key` is now `session_key`"):
        await engine.session(key="thread-42")  # type: ignore[call-arg]  # what older programs do
    assert await engine.list_sessions() == []


async def test_what_follows_a_session_keeps_its_key(engine: Everfold) -> None:
    """New, reset, branched and rewound sessions have the key of the one before, and leave the others current."""
    bare = await engine.session()
    first = await engine.session(session_key="inbox", limit=LIMIT)
    await first.append(talk(2))
    aside = await first.branch(2)
    rewound = await first.rewind(2)
    second = await rewound.new()
    third = await engine.session(session_key="inbox", new=True)
    beside = await engine.session(session_key="inbox", beside=True)
    for session in (aside, rewound, second, third, beside):
        assert session.record.session_key == "inbox"
    assert third.record.parent_id == second.id
    assert third.settings.limit_tokens == LIMIT
    await first.integration.resume()
    current = [record.id for record in await engine.list_sessions() if record.is_current]
    assert current == [bare.id, first.id]
    assert (await engine.session(session_key="inbox")).id == first.id


async def test_a_session_that_rotates_keeps_its_key(url: str) -> None:
    """Where a compaction begins a new session, it is found under the same key."""
    async with everfold.open(url, settings={"sessions": {"rotate_on_compaction": True}}) as engine:
        session = await engine.session(session_key="inbox", limit=LIMIT)
        first_id = session.id
        await session.append(talk(30))
        await session.compact()
        await session.window()
        assert session.id != first_id
        assert session.record.started_by == "compaction"
        assert (await engine.session(session_key="inbox")).id == session.id


@pytest.mark.parametrize("key", ["", " ", "x" * 513, "\ud83d", "a\0b", 42])
async def test_keys_that_are_none(engine: Everfold, key: object) -> None:
    """A key that is blank, too long, no text or not storable as text is refused, and nothing is written."""
    with pytest.raises(InvalidInputError, match=r"session key|session_key must be a text"):
        await engine.session(session_key=key)  # type: ignore[arg-type]  # what a caller may give
    assert await engine.list_sessions() == []


async def test_a_key_is_not_given_beside_an_id(engine: Everfold) -> None:
    """An id names one session, so a key beside it is refused."""
    session = await engine.session(session_key="inbox")
    with pytest.raises(InvalidInputError, match="`session_key`"):
        await engine.session(id=session.id, session_key="inbox")


async def test_a_session_that_is_not_stored_refuses_what_no_window_fits(engine: Everfold) -> None:
    """A limit in which no window can fit is refused before the first append as behind it, with the same smallest limit."""
    smallest = []
    for create in (True, False):
        session = await engine.session(user=f"ada {create}", limit=LIMIT, system="Be brief. " * 100, create=create)
        with pytest.raises(BudgetUnsatisfiableError) as caught:
            await session.window(limit=600)
        smallest.append(caught.value.smallest_limit_tokens)
        assert (await session.window(limit=smallest[-1])).report.limit_tokens == smallest[-1]
    assert smallest[0] == smallest[1]


async def test_opening_can_write_nothing(engine: Everfold) -> None:
    """A session that is opened without being created is nowhere until its first append, which stores it and its user."""
    session = await engine.session(user="ada", session_key="inbox", limit=LIMIT, system="Be brief.", create=False)
    assert session.is_new
    assert await session.configure(system="Be kind.")
    assert (await session.window()).render("openai")["messages"] == [{"role": "system", "content": "Be kind."}]
    assert (await session.window(preview=True)).report.last_seq == 0
    assert await session.messages() == []
    assert await session.search("anything") == []
    assert await session.integration.lookup(["a"]) == {}
    assert await session.compact() == []
    assert (await session.verify()).is_sound
    assert (await session.inspect.state()).last_seq == 0
    for refused in (session.read(1), session.retract(), session.branch(1)):
        with pytest.raises((NotFoundError, InvalidInputError)):
            await refused
    assert await engine.list_sessions() == []
    assert [one for one in await engine.list_users() if one.name == "ada"] == []
    user_id = session.record.user_id
    assert await session.append(user("hello"), client_id="a") == [1]
    (record,) = await engine.list_sessions(user="ada")
    assert (record.id, record.user_id, record.session_key) == (session.id, user_id, "inbox")
    assert record.settings.prompt.system == "Be kind."
    assert await session.append(user("hello"), client_id="a") == [1]
    again = await engine.session(user="ada", session_key="inbox", create=False)
    assert (again.id, again.is_new) == (session.id, False)
    assert await texts(again) == ["hello"]


async def test_handles_that_wait_become_one_session(engine: Everfold) -> None:
    """Of handles that were opened before anything was stored, the first append stores the session of them all."""
    first, second, third = [await engine.session(user="ada", create=False) for _ in range(3)]
    assert await first.append([user("one"), assistant("two")]) == [1, 2]
    assert await texts(third) == ["one", "two"]
    assert await second.append(user("three")) == [3]
    assert first.id == second.id == third.id
    assert await texts(first) == ["one", "two", "three"]
    assert len(await engine.list_sessions()) == 1


async def test_a_refused_first_append_stores_nothing(engine: Everfold) -> None:
    """Where the first append does not fit, neither the session nor its user is stored, and the next one stores both."""
    session = await engine.session(user="ada", create=False)
    with pytest.raises(InvalidInputError):
        await session.append([user("one"), result("nowhere", "x")])
    assert await engine.list_sessions() == []
    assert await session.append(user("one")) == [1]
    assert len(await engine.list_sessions(user="ada")) == 1


async def test_a_session_can_be_created_at_once(engine: Everfold) -> None:
    """`create` stores a session that waits, once; whatever follows a session that waits creates it."""
    session = await engine.session(user="ada", create=False)
    assert await session.integration.create()
    assert not await session.integration.create()
    assert (await engine.session(id=session.id)).record == session.record
    other = await engine.session(user="ben", create=False)
    following = await other.new()
    assert following.record.parent_id == other.id
    assert len(await engine.list_sessions(user="ben")) == 2


async def test_search_finds_a_shared_message_once(engine: Everfold) -> None:
    """A message that a branch shares is found once among all sessions, and in the branch too."""
    session = await engine.session()
    await session.append([user("The lantern is under the stairs."), assistant("Noted.")])
    branch = await session.branch(2)
    hits = await engine.search("lantern")
    assert [(hit.session, hit.seq) for hit in hits].count((session.id, 1)) == 1
    assert [hit.seq for hit in hits].count(1) == 1
    in_branch = await branch.search("lantern")
    assert [hit.seq for hit in in_branch].count(1) == 1
    assert in_branch[0].seq == 1


async def test_list_by_cursor(engine: Everfold) -> None:
    """Sessions are listed in the order of their creation, and the pages of a cursor join to the whole list."""
    session = await engine.session()
    for _ in range(6):
        session = await session.new()
    await engine.session(user="ben")
    whole = [record.id for record in await engine.list_sessions()]
    pages: list[str] = []
    while page := await engine.list_sessions(after=pages[-1] if pages else None, limit=3):
        assert len(page) <= 3
        pages += [record.id for record in page]
    assert pages == whole
    assert len(whole) == 8
    mine = await engine.list_sessions(user="default", after=whole[2])
    assert [record.id for record in mine] == whole[3:7]
    assert await engine.list_sessions(user="nobody") == []
    with pytest.raises(NotFoundError, match="ses_nowhere"):
        await engine.list_sessions(after="ses_nowhere")


async def test_unknown_session(engine: Everfold) -> None:
    """An unknown session is an error that names it."""
    with pytest.raises(NotFoundError, match="ses_nowhere") as caught:
        await engine.session(id="ses_nowhere")
    assert caught.value.ids == {"session": "ses_nowhere"}


async def test_get_session(engine: Everfold) -> None:
    """A session is found by its id whether it is current or not, and is not made current by that."""
    first = await engine.session()
    await first.append(user("hello"))
    second = await first.new()
    found = await engine.session(id=first.id)
    assert await texts(found) == ["hello"]
    assert (await engine.session()).id == second.id


@pytest.mark.parametrize("name", ["", "  ", "\n"])
async def test_empty_names(engine: Everfold, name: str) -> None:
    """A user or an agent without a name is refused, and nothing is made."""
    with pytest.raises(InvalidInputError, match="the user must be a name"):
        await engine.session(user=name)
    with pytest.raises(InvalidInputError, match="the agent must be a name"):
        await engine.session(agent=name)
    with pytest.raises(InvalidInputError, match="the user must be a name"):
        await engine.session(beside=True, user=name)
    assert await engine.list_sessions() == []


async def test_a_handle_says_whether_its_session_was_made(engine: Everfold) -> None:
    """A session is new on the handle that made it, in whichever way, and on no later one."""
    made = await engine.session(user="ann")
    assert made.is_new
    assert not (await engine.session(user="ann")).is_new
    assert not (await engine.session(id=made.id)).is_new
    following = await engine.session(user="ann", new=True)
    assert following.is_new
    assert following.record.parent_id == made.id
    assert (await engine.session(user="ann", beside=True)).is_new
    assert (await engine.session(user="ann")).id == following.id
    assert (await following.new()).is_new


async def test_a_new_session_that_is_refused_leaves_the_talk(engine: Everfold) -> None:
    """A limit that leaves no room by the calibration that goes on is refused before anything is begun."""
    session = await engine.session(user="ann", limit=32_000, system="Be kind.")
    await session.append(user("Hello there, let us plan the move to Ghent. " * 40))
    for _ in range(6):
        window = await session.window()
        await session.observe_usage(window, counted_tokens=int(window.estimate.tokens * 1.9))
    with pytest.raises(BudgetUnsatisfiableError) as refusal:
        await engine.session(user="ann", limit=1_200, new=True)
    assert [it.id for it in await engine.list_sessions(user="ann")] == [session.id]
    following = await engine.session(user="ann", limit=refusal.value.smallest_limit_tokens, new=True)
    assert following.record.parent_id == session.id
    assert (await following.window()).report.budget_tokens > 0


async def test_an_id_alone_names_a_session(engine: Everfold) -> None:
    """A session that is opened by its id keeps its user and agent; only what it holds can be changed with it."""
    session = await engine.session(user="ann", limit=4000, system="Be brief.")
    same = await engine.session(id=session.id)
    assert same.settings == session.settings
    assert (await engine.session(id=session.id, limit=6000)).settings.limit_tokens == 6000
    assert (await engine.session(id=session.id)).settings.prompt.system == "Be brief."
    for beyond in ({"user": "ann"}, {"agent": "guide"}, {"new": True}, {"beside": True}):
        with pytest.raises(InvalidInputError, match=f"session {session.id}: give its id without"):
            await engine.session(id=session.id, **beyond)  # type: ignore[arg-type]


async def test_a_session_stays_beside(engine: Everfold) -> None:
    """A session that is added becomes current only where there is none."""
    first = await engine.session(beside=True)
    second = await engine.session(beside=True)
    assert (first.record.is_current, second.record.is_current) == (True, False)
    assert (await engine.session()).id == first.id


@pytest.mark.parametrize("limit", [0, -5, True, 1.5])
async def test_limit_that_is_none(engine: Everfold, limit: int) -> None:
    """A limit that is no positive whole number is refused, and nothing is made."""
    with pytest.raises(InvalidInputError, match=r"a positive whole number|limit must be a whole number"):
        await engine.session(limit=limit)
    assert await engine.list_sessions() == []


async def test_limit_without_room(engine: Everfold) -> None:
    """A limit that leaves no room is refused with the smallest that works, which does work."""
    with pytest.raises(BudgetUnsatisfiableError) as caught:
        await engine.session(limit=500, system="Be brief. " * 200)
    smallest = caught.value.smallest_limit_tokens
    with pytest.raises(BudgetUnsatisfiableError):
        await engine.session(limit=smallest - 1, system="Be brief. " * 200)
    assert await engine.list_sessions() == []
    assert (await engine.session(limit=smallest, system="Be brief. " * 200)).settings.limit_tokens == smallest


@pytest.mark.moves_prefix
async def test_reopening_changes_what_is_given(engine: Everfold) -> None:
    """Reopening changes the limit, the system prompt and the tools that are given, keeps the others, for good."""
    tool: JsonObject = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    first = await engine.session(limit=8000, system="Be brief.", tools=[tool])
    await first.append(user("hello"))
    kept = await engine.session()
    assert kept.settings == first.settings
    changed = await engine.session(limit=6000)
    assert changed.settings.limit_tokens == 6000
    assert changed.settings.prompt == first.settings.prompt
    changed = await engine.session(system="Be kind.", tools=[])
    assert changed.settings.limit_tokens == 6000
    assert (changed.settings.prompt.system, changed.settings.prompt.tools) == ("Be kind.", ())
    assert (await engine.session(id=first.id)).settings == changed.settings
    request = (await changed.window()).render("openai")
    assert request == {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        ]
    }


async def test_reopening_with_an_empty_system(engine: Everfold) -> None:
    """An empty system prompt given at reopening takes the old one away."""
    await engine.session(system="Be brief.")
    session = await engine.session(system="")
    await session.append(user("hello"))
    assert "system" not in (await session.window()).render("anthropic")


async def test_reopening_refuses_what_cannot_work(engine: Everfold) -> None:
    """A system prompt that leaves no room is refused at reopening, and the session stays as it was."""
    first = await engine.session(limit=2500, system="Be brief.")
    with pytest.raises(BudgetUnsatisfiableError):
        await engine.session(system="Be brief. " * 2000)
    assert (await engine.session(id=first.id)).settings == first.settings


async def test_reopening_measures_by_the_sessions_own_limit(url: str) -> None:
    """A prompt that fits the session's own, larger limit is accepted though new sessions would have a smaller one."""
    async with everfold.open(url, settings={"model": {"context_limit": 4000}}) as engine:
        await engine.session(limit=64_000)
        session = await engine.session(system="Be brief. " * 2000)
        assert session.settings.limit_tokens == 64_000


async def test_a_handle_sees_changed_settings(engine: Everfold) -> None:
    """A handle that was open before another one changed the settings shows the new ones in its next window."""
    old = await engine.session(limit=8000, system="Be brief.")
    await old.append(user("hello"))
    await old.window()
    await engine.session(system="Be kind.")
    assert "Be kind." in str((await old.window()).render("openai"))


@pytest.mark.moves_prefix
async def test_configure_changes_what_is_given(engine: Everfold) -> None:
    """A handle changes its own session's limit, system prompt and tools; what is left out stays, for other handles too."""
    session = await engine.session(limit=8000, system="Be brief.", tools=[{"name": "look_up"}])
    other = await engine.session(id=session.id)
    await session.append(user("hello"))
    assert await session.configure(limit=6000)
    assert await session.configure(system="Be kind.")
    assert (session.settings.limit_tokens, session.settings.prompt.system) == (6000, "Be kind.")
    assert session.settings.prompt.tools == ({"name": "look_up"},)
    assert await other.configure(tools=[])
    window = await session.window()
    assert "tools" not in window.render("openai")
    assert window.report.limit_tokens == 6000
    assert await session.configure(system="")
    assert "system" not in (await session.window()).render("anthropic")


@pytest.mark.moves_prefix
async def test_only_a_changed_value_is_a_cache_break(engine: Everfold) -> None:
    """Giving the same again, with members in another order or 1.0 for 1, reports no break; another value reports one."""
    session = await engine.session(
        limit=8000, system="Be brief.", tools=[{"name": "look_up", "strict": 1, "more": {"a": 1, "b": 2}}]
    )
    await session.append(user("hello"))
    first = (await session.window()).render("openai")
    assert not await session.configure(system="Be brief.", limit=8000)
    assert not await session.configure(tools=[{"more": {"b": 2.0, "a": 1}, "strict": 1, "name": "look_up"}])
    window = await session.window()
    assert (window.report.cache_breaks, window.render("openai")) == ((), first)
    assert await session.configure(limit=6000)
    assert (await session.window()).report.cache_breaks == ()
    assert await session.configure(tools=[{"name": "look_up", "strict": True, "more": {"a": 1, "b": 2}}])
    assert [one.reason for one in (await session.window()).report.cache_breaks] == ["prompt"]
    assert (await session.window()).report.cache_breaks == ()


async def test_configure_refuses_what_cannot_work(engine: Everfold) -> None:
    """What leaves no room, or is of the wrong type, is refused, and the session stays as it was."""
    session = await engine.session(limit=2500, system="Be brief.")
    before = session.settings
    with pytest.raises(BudgetUnsatisfiableError):
        await session.configure(system="Be brief. " * 2000)
    with pytest.raises(InvalidInputError, match="positive whole number"):
        await session.configure(limit=0)
    with pytest.raises(InvalidInputError, match="tools must be a list"):
        await session.configure(tools="look_up")
    assert (await engine.session(id=session.id)).settings == session.settings == before


async def test_settings_survive_a_restart(file_url: str) -> None:
    """What a session holds is the same after the store was closed and opened again."""
    async with everfold.open(file_url) as engine:
        session = await engine.session(limit=6000, system="Be brief.")
        await fold_some(session)
        request = (await session.window()).render("openai")
        settings = session.settings
    async with everfold.open(file_url) as engine:
        session = await engine.session()
        assert session.settings == settings
        assert (await session.window()).render("openai") == request
