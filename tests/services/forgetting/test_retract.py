"""Retract: the newest messages leave the log's use, and stay where they are."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import everfold
from everfold import Everfold, Session
from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.bootstrap import make_engine
from everfold.config import Settings
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import CompactionId
from everfold.errors import ConflictError, InvalidInputError, NotFoundError
from everfold.testing.contract.compaction import begin, finish
from everfold.testing.judges.requests import check_anthropic_request, check_openai_request
from everfold.testing.kit.builders import Compacting, assistant, calls, result, talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

ON = {"memory": {"system": "structured"}}
LIMIT = 4000
pytestmark = [pytest.mark.anyio, pytest.mark.moves_prefix]


@pytest.fixture
async def engine(url: str, clock: FakeClock) -> AsyncIterator[Everfold]:
    """An engine with structured memory over each store."""
    async with everfold.open(url, clock=clock, ids=CountingIds(), settings=ON) as opened:
        yield opened


async def shown(session: Session) -> str:
    """The session's next request, as text."""
    return json.dumps((await session.window()).render("openai"))


async def read_place(session: Session) -> tuple[object, ...]:
    """What of a session's state tells where its log is, without numbers that are never given again."""
    state: SessionState = await session.inspect.state()
    step = state.open_step
    return (
        state.sum_tokens,
        state.safe_sum_tokens,
        state.newest_block_seq,
        state.newest_block_tokens,
        state.turn_seq,
        state.turn_tokens,
        state.turns_count,
        state.answered_count,
        state.head_seq,
        state.head_tokens,
        state.fixed_tokens,
        None if step is None else (step.first_seq, step.pending, step.answered),
        state.said_before,
    )


LOG = [
    {"role": "system", "content": "Be kind."},
    user("The lighthouse opens at nine."),
    assistant("Noted."),
    user("Look it up."),
    calls("a", "b"),
    result("a", "one"),
    result("b", "two"),
    assistant("Both."),
    user("Again."),
    calls("c", "d"),
    result("d", "half"),
]


@pytest.mark.parametrize("count", range(1, len(LOG) + 1))
async def test_the_log_is_as_it_was_before(engine: Everfold, count: int) -> None:
    """However many messages are retracted, also within a step, the state and the window are those of the log before."""
    session = await engine.session(limit=LIMIT)
    await session.append(LOG)
    await session.window()
    done = await session.retract(count)
    assert done.seqs == tuple(range(len(LOG) - count + 1, len(LOG) + 1))
    left = LOG[: len(LOG) - count]
    same = await engine.session(user="ben", limit=LIMIT)
    await same.append(left)
    assert await read_place(session) == await read_place(same)
    if left:
        assert await shown(session) == (await shown(same)).replace(same.id, session.id)
    assert (await session.verify()).is_sound


@pytest.mark.parametrize("count", range(1, len(LOG) + 1))
async def test_the_log_goes_on(engine: Everfold, count: int) -> None:
    """What is said again after a retraction is shown as if it had been said once, and every number is given once."""
    session = await engine.session(limit=LIMIT)
    await session.append(LOG)
    await session.retract(count)
    again = [*LOG[len(LOG) - count :], result("c", "whole"), assistant("Done.")]
    seqs = await session.append(again)
    assert seqs == list(range(len(LOG) + 1, len(LOG) + len(again) + 1))
    same = await engine.session(user="ben", limit=LIMIT)
    await same.append([*LOG, result("c", "whole"), assistant("Done.")])
    assert await shown(session) == await shown(same)
    window = await session.window()
    assert check_openai_request(window.render("openai")) == []
    assert check_anthropic_request(window.render("anthropic")) == []
    assert (await session.verify()).is_sound


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_system_messages_said_again_still_lead_the_log(engine: Everfold, count: int) -> None:
    """A system message before anything that counts is part of the system prompt, in a branch and after an import too."""
    rules = {"role": "system", "content": "Moor no boat at night. " * 200}
    session = await engine.session(user="ada", limit=8000)
    await session.append([LOG[0], LOG[0], user("Hello.")])
    await session.retract(count)
    await session.append([rules, user("Hello."), assistant("Ahoy.")])
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    branches = [await session.branch(6), await session.branch(3)]
    await branches[-1].append([rules, user("Hello."), assistant("Ahoy.")])
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user="ada")
        again = await other.session(user="ada")
        for one in (session, *branches, again):
            window = await one.window()
            leading = [block["text"] for block in window.render("anthropic")["system"]]
            assert leading == [*["Be kind."] * max(3 - count, 0), rules["content"]]
            messages = await one.messages()
            assert window.report.message_count == len(messages)
            fixed_tokens = sum(message.raw_tokens for message in messages if message.kind == "fixed")
            assert (await one.inspect.state()).fixed_tokens == fixed_tokens > 400
            assert (await one.verify()).is_sound
        await session.append(talk(120, first=10))
        window = await session.window()
        assert window.report.compacted_through > 6
        assert len(window.render("anthropic")["system"]) == max(3 - count, 0) + 1


async def test_retracting_twice_goes_further_back(engine: Everfold) -> None:
    """Each retraction takes messages that are not retracted yet, over those that are, and never more than there are."""
    session = await engine.session()
    await session.append(talk(3))
    assert (await session.retract()).seqs == (6,)
    assert (await session.retract(2)).seqs == (4, 5)
    assert await session.append(assistant("Another answer.")) == [7]
    assert (await session.retract(2)).seqs == (3, 7)
    with pytest.raises(InvalidInputError, match="it has 2"):
        await session.retract(3)
    assert (await session.retract(2)).seqs == (1, 2)
    assert (await session.inspect.state()).turns_count == 0
    await session.append(user("From the start."))
    assert "From the start." in await shown(session)
    assert (await session.verify()).is_sound


@pytest.mark.parametrize("count", [0, -1, True, 1.5, 1001])
async def test_counts_that_are_none(engine: Everfold, count: int) -> None:
    """A count that is no positive whole number is refused, and nothing is retracted."""
    session = await engine.session()
    await session.append(talk(1))
    with pytest.raises(InvalidInputError, match=r"retract takes a number|count must be a whole number"):
        await session.retract(count)
    assert len(await session.messages()) == 2


async def test_what_came_after_the_expected_message_stays(engine: Everfold) -> None:
    """With the number that the newest message is expected to have, nothing is retracted once another message follows it."""
    session = await engine.session()
    await session.append(talk(1))
    other = await engine.session(id=session.id)
    await other.append(user("Remember: never ship on Fridays."))
    with pytest.raises(ConflictError, match="message 3"):
        await session.retract(last=2)
    assert [message.seq for message in await session.messages()] == [1, 2, 3]
    assert (await session.retract(2, last=3)).seqs == (2, 3)


async def test_a_retracted_message_is_read_by_its_number_only(engine: Everfold) -> None:
    """Search, ranges, windows and recall leave it out; its number, and an export, still give it whole."""
    session = await engine.session(user="ada", limit=LIMIT)
    await session.append([user("Where is the zugzwang kept?"), assistant("The zugzwang is in the boathouse.")])
    await session.retract()
    assert [message.seq for message in await session.messages()] == [1]
    (kept,) = await session.messages(2, 2, retracted=True)
    assert (kept.is_retracted, kept.view.text) == (True, "The zugzwang is in the boathouse.")
    assert (await session.read(2)).text == "The zugzwang is in the boathouse."
    assert [hit.seq for hit in await session.search("boathouse")] == []
    assert [hit.seq for hit in await engine.search("zugzwang", user="ada")] == [1]
    assert "boathouse" not in await shown(session)
    document = await engine.export_user("ada", transcripts=True)
    assert [one["kind"] for one in document["transcripts"][0]["messages"]] == ["user", "retracted"]  # type: ignore[index, call-overload]


async def test_what_was_retracted_reaches_no_digest(engine: Everfold) -> None:
    """A later compaction neither quotes nor counts it, names it in its certificate, and everything holds after it."""
    session = await engine.session(limit=LIMIT)
    await session.append(talk(4))
    await session.append(user("Remember: the safe has the code quillfeather 4711."))
    await session.retract()
    await session.append(talk(12))
    (fold, *_) = await session.compact(keep_recent=4)
    groups = {covered.seq: covered.group for covered in fold.certificate.covered}
    assert groups[9] == "retracted"
    assert "quillfeather" not in await shown(session)
    assert (await session.verify()).is_sound
    with pytest.raises(InvalidInputError, match="compacted through"):
        await session.retract(8)
    assert (await session.retract(2)).seqs == (32, 33)


async def test_items_that_only_it_supports_expire(engine: Everfold) -> None:
    """What memory has from a retracted message alone expires; what another message says too stays."""
    session = await engine.session(user="ada", limit=LIMIT)
    await session.append([user("Remember: my boat is called Zugzwang."), assistant("Noted.")])
    await session.append(user("Remember: my boat is called Zugzwang. Remember: my dog is called Quill."))
    memory = await engine.memory(user="ada")
    before = {item.statement: item.status for item in await memory.items()}
    assert any("Quill" in statement for statement in before)
    done = await session.retract()
    after = {item.statement: item.status for item in await memory.items(statuses=("active", "expired"))}
    assert done.items
    assert {status for statement, status in after.items() if "Quill" in statement} == {"expired"}
    assert {status for statement, status in after.items() if "Zugzwang" in statement} == {"active"}


OPENING = ("We decided to open the web shop on 3 March.", "Actually, we open the web shop on 10 March.")


async def test_what_a_retracted_correction_superseded_holds_again(engine: Everfold, clock: FakeClock) -> None:
    """A correction that is retracted was never said: what it superseded holds as before, and an undo takes that back."""
    session = await engine.session(user="ada", limit=LIMIT)
    memory = await engine.memory(user="ada")
    for text in OPENING:
        await session.append(user(text))
        clock.advance(timedelta(hours=1))
    done = await session.retract()
    (item,) = await memory.items()
    assert (item.id, item.statement, item.superseded_by, item.valid_to) == (done.restored[0], OPENING[0], None, None)
    (corrected,) = await memory.items(statuses=("expired",))
    assert done.items == (corrected.id,)
    await memory.undo(corrected.id)
    assert [one.statement for one in await memory.items()] == [OPENING[1]]


async def tell_in_sessions(engine: Everfold, clock: FakeClock, *texts: str) -> list[Session]:
    """Sessions of one user, an hour apart, each with one message."""
    sessions = [await engine.session(user="ada", limit=LIMIT)]
    for text in texts:
        await sessions[-1].append(user(text))
        sessions.append(await sessions[-1].new())
        clock.advance(timedelta(hours=1))
    return sessions[:-1]


@pytest.mark.parametrize("is_redone", [False, True])
async def test_what_was_undone_stays_away(engine: Everfold, clock: FakeClock, *, is_redone: bool) -> None:
    """A correction that the user undid does not hold again when what holds in its place is retracted or erased."""
    sessions = await tell_in_sessions(engine, clock, *OPENING, "Actually, we open the web shop on 17 March.")
    memory = await engine.memory(user="ada")
    first, second, third = sorted(one.id for one in await memory.items(statuses=("active", "superseded")))
    for _ in range(1 + is_redone):
        await memory.undo(third)
        clock.advance(timedelta(hours=1))
    assert [one.id for one in await memory.items()] == [third if is_redone else second]
    done = await sessions[2 if is_redone else 1].retract()
    assert done.restored == (second if is_redone else first,)
    assert (await sessions[1].erase(1)).superseded == ((first,) if is_redone else ())


async def test_what_holds_again_keeps_within_the_budget(url: str, clock: FakeClock) -> None:
    """What holds again is shown where its budget has the room, else what was seen longest ago moves to the archive."""
    settings = {"memory": {"system": "structured", "user_char_limit": 170}}
    async with everfold.open(url, clock=clock, ids=CountingIds(), settings=settings) as engine:
        session = await engine.session(user="ada", limit=LIMIT)
        memory = await engine.memory(user="ada", agent=session.record.agent_id)
        await session.append(user(f"My email address is {'ada.' * 15}lovelace@example.org."))
        clock.advance(timedelta(hours=1))
        await session.append(user("Actually, my email address is ada@example.org."))
        await memory.add("I like tea with a lot of milk and no sugar at all, thanks a lot.")
        done = await session.retract()
        budget, _ = await memory.budgets()
        assert budget.used_chars <= budget.limit_chars
        items = {item.id: item.shelf for item in await memory.items()}
        assert len(items) == 2
        assert sorted(items.values()) == ["archive", "block"]
        assert done.restored == tuple(item_id for item_id, shelf in items.items() if shelf == "archive")


async def test_a_retracted_chain_leaves_its_beginning(engine: Everfold, clock: FakeClock) -> None:
    """Of corrections of corrections that are retracted together, what was said before them holds, and none of them."""
    session = await engine.session(user="ada", limit=LIMIT)
    memory = await engine.memory(user="ada")
    for text in (*OPENING, "Actually, we open the web shop on 17 March."):
        await session.append(user(text))
        clock.advance(timedelta(hours=1))
    assert len(await memory.items(statuses=("superseded",))) == len(OPENING)
    await session.retract(2)
    assert [one.statement for one in await memory.items()] == [OPENING[0]]


async def test_a_chain_retracted_in_two_calls_leaves_its_beginning(engine: Everfold, clock: FakeClock) -> None:
    """Where the middle of a chain of corrections was retracted before its end, what was said before them holds too."""
    _, second, third = await tell_in_sessions(engine, clock, *OPENING, "Actually, we open the web shop on 17 March.")
    assert (await second.retract()).items == ()
    (restored,) = (await third.retract()).restored
    (item,) = await (await engine.memory(user="ada")).items()
    assert (item.id, item.statement) == (restored, OPENING[0])


async def test_what_is_retracted_with_its_correction_stays_away(engine: Everfold, clock: FakeClock) -> None:
    """A statement that is retracted together with its correction does not hold again."""
    session = await engine.session(user="ada", limit=LIMIT)
    memory = await engine.memory(user="ada")
    for text in OPENING:
        await session.append(user(text))
        clock.advance(timedelta(hours=1))
    assert (await session.retract(2)).restored == ()
    assert await memory.items() == []


async def test_what_was_retracted_elsewhere_stays_away(engine: Everfold, clock: FakeClock) -> None:
    """A statement that was retracted while it was superseded does not hold again when its correction is retracted."""
    first = await engine.session(user="ada", limit=LIMIT)
    await first.append(user(OPENING[0]))
    clock.advance(timedelta(hours=1))
    second = await first.new()
    await second.append(user(OPENING[1]))
    assert (await first.retract()).items == ()
    assert (await second.retract()).restored == ()
    assert await (await engine.memory(user="ada")).items() == []


@pytest.mark.parametrize("is_first", [True, False])
async def test_what_was_entered_by_hand_stays(engine: Everfold, *, is_first: bool) -> None:
    """An item that a person entered stays when what was said is retracted, entered before it or after."""
    session = await engine.session(user="ada", limit=LIMIT)
    memory = await engine.memory(user="ada")
    if is_first:
        await memory.add("I prefer short answers.")
    await session.append(user("I prefer short answers."))
    if not is_first:
        await memory.add("I prefer short answers.")
    (item,) = await memory.items()
    assert item.evidence
    assert (await session.retract()).items == ()
    assert [one.id for one in await memory.items()] == [item.id]


async def test_what_is_said_again_at_the_same_time_holds_again(engine: Everfold) -> None:
    """An item that expired with its message is remembered again from a later one, also where both have one time."""
    session = await engine.session(user="ada", limit=LIMIT)
    at = datetime(2031, 3, 3, 8, tzinfo=UTC)
    await session.append(user("I prefer short answers."), said_at=at)
    (expired,) = (await session.retract()).items
    await session.append(user("I prefer short answers."), said_at=at)
    memory = await engine.memory(user="ada")
    assert [item.id for item in await memory.items()] == [expired]
    assert (await session.retract()).items == (expired,)


async def test_what_others_hold_is_refused(engine: Everfold) -> None:
    """Messages that a branch shares cannot be retracted, from either side; those of its own can."""
    session = await engine.session()
    await session.append(talk(2))
    branch = await session.branch(4)
    for one in (session, branch):
        with pytest.raises(InvalidInputError, match="rewind to a message before it"):
            await one.retract()
    await branch.append(user("Mine."))
    assert (await branch.retract()).seqs == (5,)


class _Raced(SqliteStore):
    """A store in which a worker commits the pending compaction before it is cancelled, or begins another one after."""

    committed: Compacting | None = None
    is_begun_again = False

    async def end_compaction(self, compaction_id: CompactionId, *given: Any, **options: Any) -> None:
        if self.committed is not None:
            compacting, self.committed = self.committed, None
            await finish(self, compacting)
        await super().end_compaction(compaction_id, *given, **options)
        if self.is_begun_again:
            self.is_begun_again = False
            await begin(self, (await self.get_compaction(compaction_id)).session_id, "evt_again")


async def open_raced() -> tuple[_Raced, Session, Compacting]:
    """A store with a session of 12 messages, and a pending compaction of its first 10."""
    store = _Raced(IN_MEMORY)
    session = await make_engine(store, Settings(), clock=FakeClock(), ids=CountingIds()).session(limit=LIMIT)
    await session.append(talk(6))
    return store, session, await begin(store, session.id, "evt_1")


async def test_what_is_committed_while_it_is_cancelled_is_not_retracted() -> None:
    """Messages of a compaction whose commit is before its cancellation are compacted, so a retraction is refused."""
    store, session, store.committed = await open_raced()
    with pytest.raises(InvalidInputError, match="compacted through message 10, so message 9 cannot be retracted"):
        await session.retract(4)
    assert (await session.verify()).problems == ()
    assert (await session.retract(2)).seqs == (11, 12)


async def test_no_compaction_that_is_begun_meanwhile_holds_what_is_retracted() -> None:
    """A compaction that begins as soon as another one is cancelled is cancelled too where it has a retracted message."""
    store, session, _ = await open_raced()
    store.is_begun_again = True
    assert (await session.retract(4)).seqs == (9, 10, 11, 12)
    assert (await session.inspect.state()).pending_compactions == ()
    assert [one.state for one in await session.inspect.compactions()] == ["cancelled", "cancelled"]


async def test_a_cancellation_that_a_commit_was_before_is_refused() -> None:
    """Where a worker commits a compaction while it is being cancelled, the caller is told that it was not cancelled."""
    store, session, store.committed = await open_raced()
    with pytest.raises(ConflictError, match="is done and committed"):
        await session.inspect.cancel("evt_1")
    assert [one.state for one in await session.inspect.compactions()] == ["done"]


async def test_an_erased_retracted_message_is_gone(engine: Everfold) -> None:
    """A retracted message can be erased like any other, and nothing of it is left."""
    session = await engine.session(user="ada")
    await session.append([user("Hello."), assistant("The zugzwang.")], client_ids=["a", "b"])
    await session.retract()
    await session.erase(2)
    with pytest.raises(NotFoundError):
        await session.read(2)
    assert await engine.admin.verify_erased(user="ada", words=["zugzwang"]) == []
    assert (await session.verify()).is_sound
    assert (await session.retract()).seqs == (1,)


async def test_a_repeated_append_does_not_bring_it_back(engine: Everfold) -> None:
    """The client id of a retracted message still names it; its content under another id is a new message."""
    session = await engine.session()
    await session.append([user("Hello."), assistant("Hi.")], client_ids=["a", "b"])
    (_, second) = await session.messages(1, 2)
    await session.retract()
    assert await session.append([user("Hello."), assistant("Hi.")], client_ids=["a", "b"]) == [1, 2]
    assert [message.seq for message in await session.messages()] == [1]
    assert await session.integration.lookup(["b"], hashes=[second.content_hash]) == {"b": 2}
    assert await session.append(assistant("Hi."), client_id="c") == [3]
    assert await session.integration.lookup(hashes=[second.content_hash]) == {second.content_hash: 3}


async def test_another_message_under_a_retracted_ones_client_id_is_refused(engine: Everfold) -> None:
    """The client id of a retracted message is refused for a message of another meaning, alone, in a batch and in a branch."""
    session = await engine.session()
    await session.append([user("Hello."), assistant("Hi.")], client_ids=["a", "b"])
    await session.retract()
    branch = await session.branch(2)
    for handle in (session, branch):
        assert await handle.append(assistant("Hi.\n"), client_id="b") == [2]
        with pytest.raises(ConflictError, match="used before for another message"):
            await handle.append(assistant("Bye."), client_id="b")
        with pytest.raises(ConflictError, match="used before for another message"):
            await handle.append([user("Hello."), assistant("Bye.")], client_ids=["a", "b"])
        assert [(one.seq, one.kind) for one in await handle.messages(retracted=True)] == [(1, "user"), (2, "retracted")]
    await session.erase(2)
    assert await session.append(assistant("Bye."), client_id="b") == [2]


async def test_a_step_whose_calls_are_erased_is_not_open_again(engine: Everfold) -> None:
    """Where the calls of a step are erased, it waits for none of the results that are retracted, and the log can be cut."""
    session = await engine.session(limit=LIMIT)
    await session.append([user("Look."), calls("a", "b"), result("a", "one"), result("b", "two")])
    await session.erase(2)
    await session.retract()
    state = await session.inspect.state()
    assert (state.open_step, state.safe_seq, state.newest_block_seq) == (None, 4, 2)
    assert (await (await session.branch(4)).inspect.state()).open_step is None
    await session.append(assistant("Nothing."))
    assert "Nothing." in await shown(session)
    assert (await session.verify()).is_sound


async def test_results_that_came_in_another_order_stay_so(engine: Everfold) -> None:
    """A step that is open again has its results in the order in which they came, as before the retracted message."""
    session = await engine.session(limit=LIMIT)
    await session.append([user("Look."), calls("a", "b", "c"), result("b", "two"), result("a", "one")])
    before = await read_place(session)
    await session.append(result("c", "three"))
    await session.retract()
    assert await read_place(session) == before


async def test_retracted_messages_come_back_as_such(engine: Everfold) -> None:
    """An export that is imported has the same messages retracted, the same state, and goes on in the same way."""
    session = await engine.session(user="ada", limit=LIMIT)
    await session.append(LOG)
    await session.retract(1)
    await session.append([result("c", "one"), result("d", "two"), user("More."), assistant("Yes.")])
    await session.retract(2)
    await session.append(user("Less."))
    document = json.loads(json.dumps(await engine.export_user("ada", transcripts=True)))
    async with everfold.open("memory://", settings=ON) as other:
        await other.import_user(document, user="ada")
        again = await other.session(user="ada")
        assert await read_place(again) == await read_place(session)
        assert await shown(again) == await shown(session)
        kinds = [message.kind for message in await again.messages(1, 99, retracted=True)]
        assert kinds == [message.kind for message in await session.messages(1, 99, retracted=True)]
        assert kinds.count("retracted") == 3
        assert await again.search("More") == []
        assert (await again.verify()).is_sound


async def test_another_handle_sees_it(engine: Everfold) -> None:
    """A handle that had shown a message shows it no more after another handle has retracted it."""
    session = await engine.session(limit=LIMIT)
    await session.append([user("Hello."), assistant("A wrong answer.")])
    other = await engine.session(id=session.id)
    assert "A wrong answer." in await shown(other)
    await session.retract()
    window = await other.window()
    assert "A wrong answer." not in json.dumps(window.render("openai"))
    assert [one.reason for one in window.report.cache_breaks] == ["retract"]
    assert await other.append(assistant("A better answer.")) == [3]
