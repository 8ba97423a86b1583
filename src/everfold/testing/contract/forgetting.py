"""What every store holds to about whole sessions and users, and memory from a document. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from contextlib import suppress
from dataclasses import replace

import pytest

from everfold.core.log.budget import Policy
from everfold.core.log.client_lists import ClientList, ClientMessage
from everfold.core.memory.records import MemoryChange, MemoryVersion, SessionMemory
from everfold.core.portability.documents import PortableMemory
from everfold.core.portability.restoring import plan_sessions
from everfold.core.portability.sessions import PortableMessage, PortableSession
from everfold.core.primitives.ids import SessionId
from everfold.core.primitives.json_values import decode_json
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.testing.contract.history import find, places
from everfold.testing.contract.memory_files import file
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    CLERK,
    GUIDE,
    append_wires,
    assistant,
    branch_session,
    compact,
    incoming,
    minute,
    open_session,
    plan_bare_erasure,
    session_record,
    talk,
    user,
)
from everfold.testing.kit.memory_builders import audit, dream, evidence, extraction, item, put, topic

BARE = MemoryChange(user_id=ADA, agent_id=GUIDE, expected=MemoryVersion(), has_erased=True)
SOME = PortableMemory(
    user_id=ADA,
    items=(
        (item("itm_1", "The berth \ud83d.", evidence("berth")), item("itm_1", "The crane.", revision=4)),
        (item("itm_2", tier="agent"),),
    ),
    topics=((topic("top_1"), replace(topic("top_1"), content="The crane.", revision=2)),),
    dreams=(dream("drm_1", topic("top_1")), dream("drm_2")),
    extractions=(replace(extraction("ext_1"), ordinal=3), replace(extraction("ext_2"), ordinal=7)),
    cursors=((GUIDE, 3),),
    audit=(audit(at=1), audit(at=2)),
    files=(file("/memories/berth", "Free \ud83d."), file("/memories/crane", "Dear.", agent_id=CLERK)),
)


SAID = PortableMessage(
    seq=1,
    kind="user",
    origin="user",
    source="said",
    format="openai",
    said_at=minute(1),
    content=b'{"role":"user","content":"The quay."}',
    is_boundary=True,
)
TALKS = (
    PortableSession(
        id=SessionId("ses_a"),
        agent_id=GUIDE,
        parent_id=None,
        branch_seq=0,
        started_by="open",
        created_at=minute(1),
        is_current=True,
        limit_tokens=8_000,
        system=None,
        tools=b"[]",
        extracted_seq=2,
        model_seq=0,
        tokens_count=3,
        calls_count=0,
        messages=(SAID, replace(SAID, seq=2, content=b"", client_id="two", erased_at=minute(5))),
    ),
    PortableSession(
        id=SessionId("ses_b"),
        agent_id=GUIDE,
        parent_id=SessionId("ses_a"),
        branch_seq=2,
        started_by="rewind",
        created_at=minute(2),
        is_current=False,
        limit_tokens=8_000,
        system="Be kind.",
        tools=b"[]",
        extracted_seq=0,
        model_seq=0,
        tokens_count=0,
        calls_count=0,
        messages=(replace(SAID, seq=3, client_id="three"),),
        client_list=ClientList(messages=(ClientMessage(content=b"c", kind="said", seq=3, chain=b"h"),), tail=b"t"),
    ),
)


async def erasing(store: Store, **more: object) -> MemoryChange:
    """A change of Ada's memory that only raises the epoch, over the version that there is."""
    return replace(BARE, expected=await store.read_memory_version(ADA), **more)  # type: ignore[arg-type]  # a change's own fields


class ForgettingContract:
    """Sessions and users leave with all that is theirs and nothing else, and a memory comes back as it was."""

    async def test_erased_sessions_are_gone(self, store: Store) -> None:
        """No read gives anything of the session, its counts are right, and another one of the user is untouched."""
        record = await open_session(store, None, *talk(4), user("The alibi is false."))
        await compact(store, record.id, "evt_1")
        other = await open_session(store, session_record("ses_other", parent=record), user("The alibi is true."))
        await store.write_session_memory(
            SessionMemory(session_id=record.id, extracted_seq=1), expected=SessionMemory(session_id=record.id)
        )
        compactions = await store.list_compactions(record.id, after_ordinal=0, limit_count=9)
        counts = await store.erase_sessions([record.id], await erasing(store))
        assert counts["sessions"] == 1
        assert counts["messages"] >= 5
        assert counts["compactions"] == len(compactions) == 1
        for ask in (store.get_session, store.read_state, store.read_session_memory, store.list_branches):
            with pytest.raises(NotFoundError):
                await ask(record.id)
        with pytest.raises(NotFoundError):
            await store.list_sharing(record.id, 1)
        with pytest.raises(NotFoundError):
            await store.get_compaction(compactions[0].id)
        assert await store.read_digests([f"dig_{compactions[0].id}"]) == {}
        assert places(await find(store, "alibi false true")) == {(other.id, 1)}
        assert await store.list_sessions(user_id=ADA, agent_id=None, after=None, limit_count=9) == [
            await store.get_session(other.id)
        ]
        assert (await store.read_memory_version(ADA)).epoch == 1
        assert await store.check_integrity() == []

    async def test_a_search_of_an_erased_session_finds_nothing_of_others(self, store: Store) -> None:
        """Where its user has as many sessions left as it shared, it finds nothing of them, or is refused."""
        record = await open_session(store, None, user("The alibi is false."))
        await open_session(store, session_record("ses_other", agent_id=CLERK), user("The alibi is true."))
        assert places(await find(store, "alibi", session_id=record.id)) == {(record.id, 1)}
        await store.erase_sessions([record.id], await erasing(store))
        with suppress(NotFoundError):
            assert await find(store, "alibi", session_id=record.id) == []

    async def test_an_erased_session_does_not_come_again(self, store: Store) -> None:
        """Its id is refused for a new session; the next session has nothing of it."""
        record = await open_session(store, None, user("The alibi is false."), assistant("Hm."))
        await store.erase_sessions([record.id], await erasing(store))
        with pytest.raises(ConflictError):
            await open_session(store, None)
        follower = await open_session(store, session_record("ses_next"), user("Hello."))
        assert [one.seq for one in await store.read_messages(follower.id, range(1, 9))] == [1]
        with pytest.raises((NotFoundError, ConflictError)):
            await append_wires(store, record.id, user("Me again."))

    async def test_shared_messages_hold_a_session(self, store: Store) -> None:
        """A session that a branch shares messages with goes only together with it; nothing happens otherwise."""
        parent = await open_session(store, None, user("p1"), user("p2"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        assert await store.list_branches(parent.id) == [child.id]
        assert await store.list_branches(child.id) == []
        version = await store.read_memory_version(ADA)
        with pytest.raises(ConflictError):
            await store.erase_sessions([parent.id], await erasing(store))
        assert await store.read_memory_version(ADA) == version
        assert len(await store.read_messages(child.id, [1, 2])) == 2
        assert (await store.erase_sessions([parent.id, child.id], await erasing(store)))["messages"] == 2

    async def test_an_erase_of_a_session_over_another_head_is_refused(self, store: Store) -> None:
        """When memory has moved since it was looked at, nothing of the session goes."""
        record = await open_session(store, None, user("p1"))
        change = await erasing(store)
        await put(store, item("itm_1"))
        with pytest.raises(ConflictError):
            await store.erase_sessions([record.id], change)
        assert len(await store.read_messages(record.id, [1])) == 1
        assert await store.list_revisions(item("itm_1").id) == [item("itm_1")]

    async def test_a_wiped_user_has_nothing(self, store: Store) -> None:
        """Sessions and memory go at once with their counts, and again nothing; another user is untouched."""
        for user_id in (ADA, BEN):
            record = await open_session(
                store, session_record(f"ses_{user_id}", user_id=user_id), *talk(4), user("The alibi is false.")
            )
            await compact(store, record.id, f"evt_{user_id}")
            await put(store, item(f"itm_{user_id}", "The alibi.", user_id=user_id))
        version = await store.read_memory_version(ADA)
        with pytest.raises(ConflictError):
            await store.wipe_user(ADA, expected=MemoryVersion(), entry=audit("wipe"))
        counts = (await store.wipe_user(ADA, expected=version, entry=audit("wipe"))).counts
        assert (counts["items"], counts["transcripts"], counts["compactions"]) == (1, 1, 1)
        assert counts["messages"] >= 5
        assert await store.read_memory_version(ADA) == MemoryVersion(
            revision=version.revision + 1, epoch=version.epoch + 1
        )
        assert await find(store, "alibi") == []
        assert await store.find_current_session(ADA, GUIDE) is None
        again = await store.wipe_user(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))
        assert set(again.counts.values()) == {0}
        assert again.counts.keys() == counts.keys()
        bens = SessionId(f"ses_{BEN}")
        assert len(await store.list_compactions(bens, after_ordinal=0, limit_count=9)) == 1
        assert {hit.session_id for hit in await find(store, "alibi", user_id=BEN)} == {bens}
        assert await store.check_integrity() == []

    async def test_a_wipe_names_the_sessions_that_it_erased(self, store: Store) -> None:
        """A wipe gives the id and the agent of each session of the user, in the order of their creation, and of no other."""
        for session in (
            session_record("ses_b", agent_id=CLERK),
            session_record("ses_ben", user_id=BEN),
            session_record("ses_a"),
        ):
            await open_session(store, session)
        wiped = await store.wipe_user(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))
        assert list(wiped.sessions.items()) == [("ses_b", CLERK), ("ses_a", GUIDE)]
        again = await store.wipe_user(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))
        assert again.sessions == {}

    async def test_a_wipe_of_memory_passes_over_the_log(self, store: Store) -> None:
        """What was said before a wipe of memory alone counts as looked at, in each session to its own end."""
        record = await open_session(store, None, user("p1"), user("p2"))
        await store.wipe_memory(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))
        kept = await store.read_session_memory(record.id)
        assert (kept.extracted_seq, kept.model_seq, kept.tokens_count) == (2, 2, 0)
        assert (kept.snapshot, kept.has_snapshot) == ("", False)

    async def test_an_imported_memory_is_as_it_was(self, store: Store) -> None:
        """Revisions, ordinals, cursors, order and words are those of the memory; one change of the version."""
        version = await store.import_memory(SOME, expected=MemoryVersion(), entry=audit("import", at=9))
        assert version == await store.read_memory_version(ADA) == MemoryVersion(revision=1)
        assert [one.id for one in await store.list_items(ADA, None, limit_count=9)] == ["itm_1", "itm_2"]
        assert await store.list_revisions(SOME.items[0][0].id) == list(SOME.items[0])
        assert await store.list_topic_histories(ADA) == [list(SOME.topics[0])]
        assert await store.list_dreams(ADA, None, limit_count=9) == list(reversed(SOME.dreams))
        found = await store.list_extractions(ADA, None, after_ordinal=0, limit_count=9)
        assert [one.ordinal for one in found] == [3, 7]
        assert await store.read_cursor(ADA, GUIDE) == 3
        assert set(await store.read_files(ADA)) == set(SOME.files)
        assert await store.list_audit(ADA, limit_count=9) == [audit("import", at=9), *reversed(SOME.audit)]
        assert [one.id for one in await store.find_quoting(SessionId("ses_1"), None)] == ["itm_1"]

    async def test_an_import_never_meets_another_memory(self, store: Store) -> None:
        """A user with a memory, and ids that another user has, are refused, and nothing is written."""
        await store.import_memory(SOME, expected=MemoryVersion(), entry=audit("import"))
        with pytest.raises(ConflictError):
            await store.import_memory(SOME, expected=await store.read_memory_version(ADA), entry=audit("import"))
        taken = [
            PortableMemory(user_id=BEN, items=((item("itm_2", user_id=BEN),),)),
            PortableMemory(user_id=BEN, topics=((topic("top_1", user_id=BEN),),)),
            PortableMemory(user_id=BEN, dreams=(dream("drm_2", user_id=BEN),)),
            PortableMemory(user_id=BEN, extractions=(replace(extraction("ext_2", user_id=BEN), ordinal=1),)),
        ]
        for memory in taken:
            with pytest.raises(ConflictError):
                await store.import_memory(memory, expected=MemoryVersion(), entry=audit("import", user_id=BEN))
            assert await store.read_memory_version(BEN) == MemoryVersion()
            assert await store.list_audit(BEN, limit_count=9) == []

    async def test_stored_messages_are_listed(self, store: Store) -> None:
        """A session's own messages come in order and in pages, with a tombstone where one was erased."""
        parent = await open_session(store, None, user("p1"), user("p2 \ud83d"))
        await append_wires(store, parent.id, incoming(user("p3"), client_id="three \udc00", source="tick"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, child.id, user("c4"))
        await store.erase_message(await plan_bare_erasure(store, parent.id, 1), erased_at=minute(7))
        first, second, third = await store.list_stored(parent.id, after_seq=0, limit_count=9)
        assert (first.seq, first.content, first.erased_at) == (1, b"", minute(7))
        assert (second.erased_at, decode_json(second.content)) == (None, user("p2 \ud83d"))
        assert (third.client_id, third.source, third.kind) == ("three \udc00", "tick", "notice")
        assert await store.list_stored(parent.id, after_seq=1, limit_count=1) == [second]
        assert [one.seq for one in await store.list_stored(child.id, after_seq=0, limit_count=9)] == [4]
        with pytest.raises(NotFoundError):
            await store.list_stored(SessionId("ses_none"), after_seq=0, limit_count=1)

    async def test_used_ids_are_told(self, store: Store) -> None:
        """Of ids of sessions, those that are stored and those that were erased are told apart; free ones are not there."""
        gone = await open_session(store, None, user("p1"))
        await store.erase_sessions([gone.id], await erasing(store))
        there = await open_session(store, session_record("ses_there"))
        assert await store.list_used([gone.id, there.id, SessionId("ses_free")]) == {gone.id: False, there.id: True}
        assert await store.list_used([]) == {}

    async def test_imported_sessions_are_as_if_appended(self, store: Store) -> None:
        """They are found, go on, and are current only where no session is; a taken id leaves nothing of the import behind."""
        await open_session(store, session_record("ses_own"), user("Mine."))
        restored = plan_sessions(TALKS, ADA, lambda _: Policy())
        await store.import_memory(SOME, expected=MemoryVersion(), entry=audit("import"), sessions=restored)
        assert [
            (one.id, one.parent_id, one.is_current)
            for one in await store.list_sessions(user_id=ADA, agent_id=None, after=None, limit_count=9)
        ] == [("ses_own", None, True), ("ses_a", None, False), ("ses_b", "ses_a", False)]
        assert await store.list_stored(SessionId("ses_a"), after_seq=0, limit_count=9) == list(TALKS[0].messages)
        assert await store.read_client_list(SessionId("ses_b")) == TALKS[1].client_list
        assert [one.seq for one in await store.read_messages(SessionId("ses_b"), range(1, 9))] == [1, 3]
        assert places(await find(store, "quay")) == {("ses_a", 1), ("ses_b", 3)}
        assert (await store.read_session_memory(SessionId("ses_a"))).extracted_seq == 2
        await append_wires(store, SessionId("ses_b"), user("More."))
        for taken in ("ses_own", "ses_a"):
            again = plan_sessions([replace(TALKS[0], id=SessionId(taken))], BEN, lambda _: Policy())
            memory = PortableMemory(user_id=BEN, items=((item("itm_b", user_id=BEN),),))
            with pytest.raises(ConflictError):
                await store.import_memory(
                    memory, expected=MemoryVersion(), entry=audit("import", user_id=BEN), sessions=again
                )
            assert await store.list_items(BEN, None, limit_count=9) == []
        assert await store.check_integrity() == []

    async def test_an_erase_is_finished(self, store: Store) -> None:
        """Where no reader is open, an erase is through in the store's files when it returns."""
        record = await open_session(store, None, user("p1"))
        await store.erase_sessions([record.id], await erasing(store))
        assert not await store.is_erasing()
        assert await store.finish_erasing()
