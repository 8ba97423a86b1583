"""What every store holds to about search and verification. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

import hashlib
from datetime import datetime
from typing import Any

import pytest

from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.log.sessions import SessionRecord
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.json_values import JsonObject, encode_json
from everfold.core.text.searching import plan_every_query, plan_query
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Hit, Store
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


async def find(
    store: Store,
    question: str,
    *,
    user_id: UserId = ADA,
    agent_id: AgentId | None = None,
    session_id: SessionId | None = None,
    limit_count: int = 20,
    only: SearchFilter = ANY_MESSAGE,
) -> list[Hit]:
    """The hits of a question."""
    return await store.search(
        plan_query(question),
        user_id=user_id,
        agent_id=agent_id,
        session_id=session_id,
        limit_count=limit_count,
        only=only,
    )


async def find_newest(
    store: Store,
    question: str,
    *user_ids: UserId,
    agent_id: AgentId | None = None,
    limit_count: int = 20,
    only: SearchFilter = ANY_MESSAGE,
) -> list[tuple[str, str, int]]:
    """Users, sessions and numbers of the newest messages of these users that hold every word."""
    found = await store.search_users(
        plan_every_query(question), user_ids=user_ids, agent_id=agent_id, limit_count=limit_count, only=only
    )
    return [(one.user_id, one.session_id, one.seq) for one in found]


def _day(count: int) -> datetime:
    return minute(24 * 60 * count)


async def _open_days(store: Store, count: int) -> SessionRecord:
    """A session with a question and an answer of each of so many days."""
    return await open_session(
        store,
        None,
        *(
            incoming(say(f"The anchor of day {number}."), said_at=_day(number))
            for number in range(count)
            for say in (user, assistant)
        ),
    )


def places(hits: list[Hit]) -> set[tuple[str, int]]:
    """Where hits are."""
    return {(hit.session_id, hit.seq) for hit in hits}


class HistoryContract:
    """Search stays within what was asked for, and stored bytes prove the log."""

    async def test_messages_are_found_by_their_hashes(self, store: Store) -> None:
        """A hash leads to the newest message of that content in the session's log, as far as it shares it."""
        parent = await open_session(store, None, user("a"), user("b"), user("a"), user("c"))
        a, b, _, c = [one.content_hash for one in await store.read_messages(parent.id, [1, 2, 3, 4])]
        assert await store.find_hashes(parent.id, [c, a, "0" * 64, b]) == {a: 3, b: 2, c: 4}
        assert await store.find_hashes(parent.id, []) == {}
        branch = await branch_session(store, parent, "ses_2", state=SessionState(last_seq=2))
        assert await store.find_hashes(branch.id, [a, b, c]) == {a: 1, b: 2}
        other = await open_session(store, session_record("ses_3", is_current=False))
        assert await store.find_hashes(other.id, [a]) == {}

    async def test_a_message_is_found_by_its_words(self, store: Store) -> None:
        """Each message that holds a word of the question is a hit, best first, once, with a positive score."""
        record = await open_session(
            store,
            None,
            user("The ferry sails at nine."),
            assistant("Noted."),
            user("Ferry tickets, ferry times: ferry?"),
        )
        hits = await find(store, "when does the ferry leave")
        assert {(record.id, 1), (record.id, 3)} <= places(hits)
        assert len(places(hits)) == len(hits)
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert all(score > 0 for score in scores)
        assert hits[0].seq == 3
        assert await find(store, "zeppelin") == []

    async def test_large_and_small_batches_are_found_together(self, store: Store) -> None:
        """Appends of any size, in any order, are indexed alike."""
        record = await open_session(store)
        for count in (1, 120, 1, 2, 120, 120, 1):
            await append_wires(store, record.id, *(user(f"Ferry number {index} sails.") for index in range(count)))
        hits = await find(store, "ferry", limit_count=500)
        assert {hit.seq for hit in hits} == set(range(1, 366))

    async def test_an_answer_is_found_by_the_words_of_its_question(self, store: Store) -> None:
        """A reply that repeats nothing of what was asked is a hit too, below the question itself."""
        record = await open_session(store, None, user("Which locksmith did we hire?"), assistant("Marlow and Sons."))
        hits = await find(store, "locksmith")
        assert [hit.seq for hit in hits] == [1, 2]
        assert places(hits) == {(record.id, 1), (record.id, 2)}

    async def test_a_search_gives_the_best_of_its_limit(self, store: Store) -> None:
        """A lower limit gives the beginning of the same list."""
        await open_session(store, None, *(user("anchor " * count) for count in range(1, 9)))
        every = await find(store, "anchor")
        assert len(every) == 8
        assert await find(store, "anchor", limit_count=3) == every[:3]

    async def test_of_equal_hits_the_newer_is_first(self, store: Store) -> None:
        """Messages that rank the same come newest first."""
        for id_ in ("ses_2", "ses_1", "ses_3"):
            await open_session(store, session_record(id_, is_current=False), user("The lighthouse keeper."))
        assert [hit.session_id for hit in await find(store, "lighthouse")] == ["ses_3", "ses_1", "ses_2"]

    async def test_a_question_without_words_finds_nothing(self, store: Store) -> None:
        """Signs, nothing, or the operators of a query language are no error."""
        await open_session(store, None, user("The ferry sails at nine."))
        assert await find(store, "") == []
        assert await find(store, "?! -- *") == []
        assert await find(store, '" OR ferry NEAR( own:x ^') != []

    async def test_a_phrase_and_other_scripts_are_found(self, store: Store) -> None:
        """Quoted words, words without their accents, and single characters of unspaced scripts lead to their messages."""
        record = await open_session(
            store, None, user("Café Zürich opens late."), assistant("一二"), user("東京駅で会う"), assistant("三四")
        )
        assert (record.id, 1) in places(await find(store, '"cafe zurich"'))
        assert (record.id, 3) in places(await find(store, "東京"))
        assert (record.id, 3) in places(await find(store, "駅"))

    async def test_users_never_meet(self, store: Store) -> None:
        """No hit of one user is another's, whatever session or agent is asked for."""
        ada = await open_session(store, session_record("ses_1"), user("The passport is in the drawer."))
        ben = await open_session(store, session_record("ses_2", user_id=BEN), user("The passport is in the safe."))
        assert places(await find(store, "passport")) == {(ada.id, 1)}
        assert places(await find(store, "passport", user_id=BEN)) == {(ben.id, 1)}
        assert await find(store, "passport", session_id=ben.id) == []
        assert await find(store, "safe", agent_id=GUIDE) == []
        assert await find(store, "passport", user_id=UserId("usr_nobody")) == []

    async def test_agents_are_kept_apart_when_one_is_asked_for(self, store: Store) -> None:
        """With an agent only its sessions are searched, without one all of the user's."""
        guide = await open_session(store, session_record("ses_1"), user("The invoice is paid."))
        clerk = await open_session(store, session_record("ses_2", agent_id=CLERK), user("The invoice is late."))
        assert places(await find(store, "invoice", agent_id=CLERK)) == {(clerk.id, 1)}
        assert places(await find(store, "invoice", agent_id=GUIDE)) == {(guide.id, 1)}
        assert places(await find(store, "invoice")) == {(guide.id, 1), (clerk.id, 1)}
        assert await find(store, "invoice", agent_id=AgentId("agt_nobody")) == []
        assert await find(store, "invoice", agent_id=CLERK, session_id=guide.id) == []
        only = await open_session(store, session_record("ses_3", user_id=BEN), user("The invoice is lost."))
        assert await find(store, "invoice", user_id=BEN, agent_id=CLERK) == []
        assert await find(store, "invoice", user_id=BEN, agent_id=CLERK, session_id=only.id) == []
        assert await find(store, "invoice", user_id=BEN, session_id=guide.id) == []

    async def test_a_session_search_stays_in_its_lineage(self, store: Store) -> None:
        """A session finds what it holds and what it shares, along two levels, and nothing that was said elsewhere."""
        parent = await open_session(store, None, user("compass p1"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, parent.id, user("compass p2"))
        await append_wires(store, child.id, user("compass c2"))
        grandchild = await branch_session(store, child, "ses_grandchild", state=await store.read_state(child.id))
        await append_wires(store, child.id, user("compass c3"))
        await append_wires(store, grandchild.id, user("compass g3"))

        async def find_in(session_id: SessionId) -> set[tuple[str, int]]:
            return places(await find(store, "compass", session_id=session_id))

        assert await find_in(parent.id) == {(parent.id, 1), (parent.id, 2)}
        assert await find_in(child.id) == {(parent.id, 1), (child.id, 2), (child.id, 3)}
        assert await find_in(grandchild.id) == {(parent.id, 1), (child.id, 2), (grandchild.id, 3)}
        assert len(await find(store, "compass")) == 5

    async def test_a_limit_counts_what_the_lineage_holds(self, store: Store) -> None:
        """Better hits elsewhere do not take the places of a session's own."""
        quiet = await open_session(store, None, user("A mast, among many other words of a long and winding tale."))
        await open_session(store, session_record("ses_loud", is_current=False), *(user("mast mast") for _ in range(60)))
        assert places(await find(store, "mast", session_id=quiet.id, limit_count=1)) == {(quiet.id, 1)}

    async def test_short_words_are_found_before_long_answers(self, store: Store) -> None:
        """A long answer that repeats the question's words does not hide the statement that it answers."""
        asked = "Which ferry does the guest take from Ostend?"
        tale = "The guest takes the ferry from Ostend by night. " * 2 + "And so the days of a long voyage pass. " * 16
        record = await open_session(
            store,
            None,
            user("I take the ferry of nine."),
            *(assistant(f"{number} {tale}") for number in range(3)),
            *(user(f"The weather of town {number} is fine today.") for number in range(20)),
        )
        hits = await find(store, asked)
        assert [hit.seq for hit in hits[:4]] == [1, 2, 3, 4]
        assert {hit.session_id for hit in hits} == {record.id}

    async def test_a_filter_gives_the_same_hits_without_the_others(self, store: Store) -> None:
        """With roles or times only messages of these are hits: those of the whole search, in its order, with its scores."""
        record = await _open_days(store, 4)
        whole = await find(store, "anchor", limit_count=50)
        assert len(whole) == 8
        for only, seqs in (
            (SearchFilter(roles=frozenset({"user"})), {1, 3, 5, 7}),
            (SearchFilter(roles=frozenset({"assistant", "tool"})), {2, 4, 6, 8}),
            (SearchFilter(roles=frozenset({"tool"})), set[int]()),
            (SearchFilter(since=_day(2)), {5, 6, 7, 8}),
            (SearchFilter(until=_day(2)), {1, 2, 3, 4}),
            (SearchFilter(since=_day(1), until=_day(3)), {3, 4, 5, 6}),
            (SearchFilter(since=_day(1), until=_day(2), roles=frozenset({"assistant"})), {4}),
        ):
            hits = await find(store, "anchor", limit_count=50, only=only)
            assert {hit.seq for hit in hits} == seqs
            assert hits == [hit for hit in whole if hit.seq in seqs]
            assert await find(store, "anchor", limit_count=50, only=only, session_id=record.id) == hits

    async def test_a_limit_counts_what_a_filter_admits(self, store: Store) -> None:
        """Better hits that a filter leaves out take no places, however many there are, and a lower limit begins the same list."""
        await open_session(store, None, user("A mast, among many other words of a long and winding tale."))
        for _ in range(4):
            await append_wires(store, SessionId("ses_1"), *(assistant("mast mast") for _ in range(120)))
        await append_wires(store, SessionId("ses_1"), user("A mast at last, and some more words."))
        only = SearchFilter(roles=frozenset({"user"}))
        every = await find(store, "mast", only=only)
        assert {hit.seq for hit in every} == {1, 482}
        assert await find(store, "mast", only=only, limit_count=1) == every[:1]

    async def test_a_filter_of_a_branch_stays_in_its_lineage(self, store: Store) -> None:
        """A filtered search of a session gives what it holds and shares, and nothing that was said elsewhere."""
        parent = await open_session(store, None, user("compass p1"), assistant("compass p2"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, parent.id, user("compass p3"))
        await append_wires(store, child.id, user("compass c3"))
        only = SearchFilter(roles=frozenset({"user"}))
        hits = await find(store, "compass", session_id=child.id, only=only)
        assert places(hits) == {(parent.id, 1), (child.id, 3)}

    async def test_several_users_are_searched_for_every_word(self, store: Store) -> None:
        """The newest messages come first, of the users who are named, and only those that hold each word themselves."""
        ada = await open_session(store, None, user("The red anchor."), user("The anchor."), user("The anchor is red."))
        ben = await open_session(store, session_record("ses_2", user_id=BEN), user("An anchor of red."), user("Red."))
        every = [(BEN, ben.id, 1), (ADA, ada.id, 3), (ADA, ada.id, 1)]
        assert await find_newest(store, "Where is the red anchor?", ADA, BEN) == every
        assert await find_newest(store, "red anchor", BEN, ADA, limit_count=2) == every[:2]
        assert await find_newest(store, "red anchor", BEN, UserId("usr_nobody")) == every[:1]
        assert await find_newest(store, '"red anchor"', ADA, BEN) == every[2:]
        assert await find_newest(store, "red anchor") == []
        assert await find_newest(store, "?!", ADA, BEN) == []
        assert await find_newest(store, "red anchor green", ADA, BEN) == []
        await append_wires(store, ben.id, user("東京の駅で"), user("東京 駅"))
        assert await find_newest(store, "東京 駅", ADA, BEN) == [(BEN, ben.id, 4), (BEN, ben.id, 3)]

    async def test_a_search_of_users_is_narrowed(self, store: Store) -> None:
        """Agents, roles and times leave out what they do not admit, and newer messages that they leave out take no place."""
        days = await _open_days(store, 4)
        await open_session(
            store,
            session_record("ses_2", agent_id=CLERK),
            *(incoming(assistant("An anchor."), said_at=_day(9)) for _ in range(9)),
        )

        async def find_seqs(*, limit_count: int = 2, agent_id: AgentId | None = None, **only: Any) -> list[int]:
            found = await find_newest(
                store, "anchor", ADA, BEN, limit_count=limit_count, agent_id=agent_id, only=SearchFilter(**only)
            )
            return [seq for *_, seq in found]

        assert days.agent_id == GUIDE
        assert await find_seqs(agent_id=GUIDE) == [8, 7]
        assert await find_seqs(agent_id=AgentId("agt_nobody")) == []
        assert await find_seqs(roles=frozenset({"user"})) == [7, 5]
        assert await find_seqs(until=_day(2), roles=frozenset({"user"})) == [3, 1]
        assert await find_seqs(since=_day(1), until=_day(2), limit_count=9) == [4, 3]

    async def test_many_users_are_searched_at_once(self, store: Store) -> None:
        """A query over five hundred users with many words finds what one of them said."""
        others = [UserId(f"usr_{number}") for number in range(499)]
        for number, other in enumerate(others):
            await open_session(store, session_record(f"ses_{number}", user_id=other))
        words = " ".join(f"word{number}" for number in range(30))
        record = await open_session(store, session_record("ses_long"), user(words))
        assert await find_newest(store, words, *others, ADA) == [(ADA, record.id, 1)]

    async def test_a_refused_append_leaves_no_search_row(self, store: Store) -> None:
        """What was not stored is not found."""
        await open_session(store, None, incoming(user("one"), client_id="id-1"))
        with pytest.raises(ConflictError):
            await append_wires(store, SessionId("ses_1"), user("a stowaway"), incoming(user("again"), client_id="id-1"))
        assert await find(store, "stowaway") == []

    async def test_contents_are_the_bytes_that_were_appended(self, store: Store) -> None:
        """A range gives each message's stored bytes, which have the stored hash, along the lineage."""
        parent = await open_session(store, None, user("p1 \ud83d\ude00"), user("p2"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, parent.id, user("p3"))
        await append_wires(store, child.id, {"role": "user", "content": "c3", "n": 1.0})
        contents = await store.read_contents(child.id, 1, 3)
        wires: list[JsonObject] = [user("p1 \ud83d\ude00"), user("p2"), {"role": "user", "content": "c3", "n": 1.0}]
        assert [(one.seq, one.content) for one in contents] == [
            (seq, encode_json(wire)) for seq, wire in enumerate(wires, 1)
        ]
        assert all(one.content_hash == hashlib.sha256(one.content).hexdigest() for one in contents)
        assert not any(one.is_erased for one in contents)
        assert [one.seq for one in await store.read_contents(child.id, 2, 99)] == [2, 3]
        assert await store.read_contents(child.id, 4, 3) == []

    async def test_a_store_that_was_used_is_sound(self, store: Store) -> None:
        """After appends and a branch the store finds no problem in itself; an empty one neither."""
        assert await store.check_integrity() == []
        record = await open_session(store, None, user("a"), user("b"))
        await branch_session(store, record, "ses_child", state=await store.read_state(record.id))
        assert await store.check_integrity() == []

    async def test_an_unknown_session_has_no_history(self, store: Store) -> None:
        """Reading the bytes of a session that was never created, or searching it, is refused."""
        await open_session(store, None, user("alibi"))
        nobody = SessionId("ses_nobody")
        for asking in (store.read_contents(nobody, 1, 2), find(store, "alibi", session_id=nobody)):
            with pytest.raises(NotFoundError):
                await asking
