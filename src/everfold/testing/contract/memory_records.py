"""What every store holds to about topics, dreams, extractions and memory's own records. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

import pytest

from everfold.core.memory.items import ItemId
from everfold.core.memory.records import (
    AuditPlace,
    Extraction,
    MemoryChange,
    MemoryVersion,
    RecallShown,
    SessionMemory,
    TurnMoment,
    TurnRecall,
)
from everfold.core.memory.topics import DreamId, Topic
from everfold.core.primitives.ids import CompactionId, SessionId, UserId
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.leases import LeaseName
from everfold.ports.stores import Store
from everfold.testing.contract.memory import find_items, list_ids
from everfold.testing.contract.memory_files import file
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    CLERK,
    GUIDE,
    LEASE_SECS,
    append_wires,
    minute,
    open_session,
    plan_wires,
    session_record,
    talk,
    user,
)
from everfold.testing.kit.memory_builders import audit, change, dream, evidence, extraction, item, put, topic

BARE = MemoryChange(user_id=ADA, agent_id=GUIDE, expected=MemoryVersion())
MINUTE = minute(1) - minute(0)


def turn_recall(session_id: SessionId, text: str, *, memory_epoch: int = 0) -> TurnRecall:
    """What a turn shows."""
    turn = TurnMoment(session_id, 1, "", 0, memory_epoch, None)
    return TurnRecall(turn, delta=text, recalled=RecallShown(text=text, entries=("message 1: words",)))


async def append_shown(store: Store, session_id: SessionId, shown: TurnRecall) -> None:
    """Append a message in a turn that shows something."""
    plan, state = await plan_wires(store, session_id, [user("next")])
    await store.append(session_id, replace(plan, recall=shown), expected_revision=state.revision)


EMPTY = dict.fromkeys(
    (
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
    ),
    0,
)


def rewritten(former: Topic, content: str) -> Topic:
    """The next revision of a topic."""
    return replace(former, content=content, revision=former.revision + 1)


class MemoryRecordContract:
    """Topics, dreams, extractions, session memory and audit are kept as they were written, and a wipe leaves nothing."""

    async def test_a_topic_reads_back_equal(self, store: Store) -> None:
        """Every field of a topic is what it was, whether filled or empty, lone surrogates too."""
        whole = replace(
            topic("top_2", "odd \ud83d", content="\udc00 \x00"),
            sources=(ItemId("itm_1"), ItemId("itm_2")),
            origin="tool",
            expires_at=minute(90),
            revision=4,
            dream_id=DreamId("drm_1"),
            threats=("secrets",),
        )
        await put(store, topic("top_1"), whole)
        assert await store.list_topics(ADA, None) == [topic("top_1"), whole]
        assert await store.list_topic_revisions(ADA, None, whole.name) == [whole]

    async def test_topics_are_listed_in_order(self, store: Store) -> None:
        """Active topics come by tier, name and agent; an agent is given the user tier and its own."""
        agents = [topic(f"top_{agent_id}", "crane", agent_id=agent_id, tier="agent") for agent_id in (GUIDE, CLERK)]
        shared = [topic("top_z", "zoo"), topic("top_a", "anchor")]
        await put(store, *agents, *shared, replace(topic("top_x", "gone"), status="superseded"))
        await put(store, topic("top_ben", user_id=BEN))
        guides, clerks = agents
        assert await store.list_topics(ADA, None) == [*reversed(shared), clerks, guides]
        assert await store.list_topics(ADA, GUIDE) == [*reversed(shared), guides]
        assert await store.list_topics(ADA, CLERK) == [*reversed(shared), clerks]
        assert await store.list_topics(UserId("usr_nobody"), None) == []

    async def test_topics_of_one_name_keep_their_order(self, store: Store) -> None:
        """They come in the order in which memory first had them, whichever was changed last."""
        first, second = topic("top_b"), topic("top_a")
        await put(store, replace(first, status="superseded"))
        again = rewritten(first, "Berths are let by the week.")
        await put(store, second, again)
        assert await store.list_topics(ADA, None) == [again, second]

    async def test_topic_revisions_stay(self, store: Store) -> None:
        """All revisions of the topics with a name are listed, oldest first, of whom they are for and of no other."""
        first, second = topic("top_1"), topic("top_2", tier="agent")
        await put(store, first, second)
        third = replace(rewritten(first, "b"), status="superseded")
        await put(store, third)
        await put(store, topic("top_3", user_id=BEN), topic("top_4", "harbours", user_id=BEN))
        assert await store.list_topic_revisions(ADA, None, "harbour") == [first, third, second]
        assert await store.list_topic_revisions(ADA, CLERK, "harbour") == [first, third]
        assert await store.list_topic_revisions(ADA, None, "crane") == []
        assert await store.list_topics(ADA, GUIDE) == [second]
        with pytest.raises(ConflictError):
            await put(store, first)

    async def test_a_dream_is_stored_and_replaced(self, store: Store) -> None:
        """Every field of a dream is what it was; one with its id takes its place and keeps it in the order."""
        whole = replace(
            dream("drm_1", topic("top_1"), topic("top_2", "\ud83d")),
            state="proposed",
            ended_at=None,
            epoch=3,
            generator="model",
            cost_usd=0.012345678901,
            problem="lost \udc00",
        )
        bare = dream("drm_2", agent_id=CLERK)
        for one in (whole, bare, dream("drm_3")):
            await change(store, replace(BARE, dream=one))
        assert await store.list_dreams(ADA, None, limit_count=9) == [dream("drm_3"), bare, whole]
        again = replace(whole, state="applied", topics=whole.topics[:1], ended_at=minute(8))
        await change(store, replace(BARE, dream=again))
        assert await store.get_dream(whole.id) == again
        assert await store.list_dreams(ADA, None, limit_count=9) == [dream("drm_3"), bare, again]
        assert await store.list_dreams(ADA, GUIDE, limit_count=1) == [dream("drm_3")]
        assert await store.list_dreams(ADA, CLERK, limit_count=9) == [bare]
        assert await store.list_dreams(BEN, None, limit_count=9) == []
        with pytest.raises(NotFoundError):
            await store.get_dream(DreamId("drm_none"))

    async def test_a_forgotten_topic_is_in_no_dream(self, store: Store) -> None:
        """A topic that is erased, or rewritten by an erase, has no older revision, and dreams hold nothing of it."""
        first, second, third = topic("top_1", "a"), topic("top_2", "b"), topic("top_3", "c")
        applied, proposed = dream("drm_1", first, third), replace(dream("drm_2", second, third), state="proposed")
        await change(store, replace(BARE, topics=(first, second, third), dream=applied))
        await change(store, replace(BARE, dream=proposed))
        tombstone = replace(rewritten(first, ""), status="erased", summary="")
        again = rewritten(second, "what is left")
        remade = dream("drm_3", again)
        await change(store, replace(BARE, topics=(tombstone, again), dream=remade, has_erased=True))
        assert await store.list_topic_revisions(ADA, None, "a") == [tombstone]
        assert await store.list_topic_revisions(ADA, None, "b") == [again]
        assert await store.list_topics(ADA, None) == [again, third]
        assert [one.topics for one in await store.list_dreams(ADA, None, limit_count=9)] == [
            (again,),
            (third,),
            (third,),
        ]

    async def test_extractions_are_numbered(self, store: Store) -> None:
        """Each extraction of a user has a higher ordinal than the one before, and pages go on behind one."""
        record = await open_session(store)
        whole = replace(extraction("ext_1", session_id=record.id), compaction_id=CompactionId("evt_1"), refused_count=2)
        for one in (whole, extraction("ext_2", agent_id=CLERK), extraction("ext_3")):
            await change(store, replace(BARE, extraction=one))
        await change(
            store,
            MemoryChange(
                user_id=BEN, agent_id=GUIDE, expected=MemoryVersion(), extraction=extraction("e", user_id=BEN)
            ),
        )
        listed = await store.list_extractions(ADA, None, after_ordinal=0, limit_count=9)
        ordinals = [one.ordinal for one in listed]
        assert ordinals == sorted(set(ordinals))
        assert ordinals[0] > 0
        assert [replace(one, ordinal=0) for one in listed] == [
            whole,
            extraction("ext_2", agent_id=CLERK, session_id="ses_1"),
            extraction("ext_3"),
        ]
        assert await store.list_extractions(ADA, None, after_ordinal=ordinals[0], limit_count=1) == listed[1:2]
        assert await store.list_extractions(ADA, GUIDE, after_ordinal=ordinals[0], limit_count=9) == listed[2:]
        assert await store.list_extractions(ADA, CLERK, after_ordinal=0, limit_count=9) == listed[1:2]

    async def test_extractions_are_read_from_the_newest_on(self, store: Store) -> None:
        """Pages below an ordinal give every extraction of the user, or of one agent, once, the newest first."""
        for at in range(5):
            agent_id = CLERK if at == 2 else GUIDE
            await change(store, replace(BARE, extraction=extraction(f"ext_{at}", agent_id=agent_id)))
        newest: list[Extraction] = []
        while page := await store.list_latest_extractions(
            ADA, None, before_ordinal=newest[-1].ordinal if newest else None, limit_count=2
        ):
            newest += page
        assert newest == list(reversed(await store.list_extractions(ADA, None, after_ordinal=0, limit_count=9)))
        of_guide = await store.list_latest_extractions(ADA, GUIDE, before_ordinal=None, limit_count=9)
        assert of_guide == [one for one in newest if one.agent_id == GUIDE]
        assert await store.list_latest_extractions(BEN, None, before_ordinal=None, limit_count=9) == []

    async def test_an_extraction_is_stored_once(self, store: Store) -> None:
        """A second extraction under the same id is refused with all that its change holds."""
        await change(store, replace(BARE, extraction=extraction("ext_1")))
        with pytest.raises(ConflictError):
            await change(store, replace(BARE, extraction=extraction("ext_1"), items=(item("itm_1"),)))
        assert len(await store.list_extractions(ADA, None, after_ordinal=0, limit_count=9)) == 1
        assert await list_ids(store) == []

    async def test_an_extraction_outlives_its_session(self, store: Store) -> None:
        """An extraction keeps its attribution and says whether its session is gone, whatever was written."""
        record = await open_session(store)
        await change(store, replace(BARE, extraction=replace(extraction("ext_1"), is_session_gone=True)))
        await change(store, replace(BARE, extraction=extraction("ext_2", session_id="ses_gone")))
        listed = await store.list_extractions(ADA, GUIDE, after_ordinal=0, limit_count=9)
        assert [(one.session_id, one.is_session_gone) for one in listed] == [(record.id, False), ("ses_gone", True)]

    async def test_cursors_are_of_user_and_agent(self, store: Store) -> None:
        """A cursor is read as it was moved, and moves no other; before the first it is 0."""
        assert await store.read_cursor(ADA, GUIDE) == 0
        await change(store, replace(BARE, read_through=3))
        await change(store, replace(BARE, read_through=7))
        await change(store, MemoryChange(user_id=BEN, agent_id=CLERK, expected=MemoryVersion(), read_through=5))
        assert await store.read_cursor(ADA, GUIDE) == 7
        assert await store.read_cursor(ADA, CLERK) == await store.read_cursor(BEN, GUIDE) == 0
        assert await store.read_cursor(BEN, CLERK) == 5

    async def test_who_has_something_to_dream_of(self, store: Store) -> None:
        """Pairs that have been idle, with what no dream has read; those without a proposal, then those active last first."""
        for agent_id in (GUIDE, CLERK):
            await open_session(store, session_record(f"ses_{agent_id}", agent_id=agent_id))
        await open_session(store, session_record("ses_ben", user_id=BEN))
        await append_wires(store, SessionId(f"ses_{CLERK}"), *talk(2))
        said_at = max(note.said_at for note in await store.read_notes(SessionId(f"ses_{CLERK}"), range(1, 9)))
        later = max(said_at, minute(3))
        assert await store.list_dreamable(later + MINUTE, 9) == []
        for number, (user_id, agent_id) in enumerate(((ADA, GUIDE), (ADA, CLERK), (BEN, GUIDE))):
            found = extraction(f"ext_{number}", user_id=user_id, agent_id=agent_id)
            await change(store, replace(BARE, user_id=user_id, agent_id=agent_id, extraction=found))
        idle = await store.list_dreamable(later + MINUTE, 9)
        assert idle[0] == (ADA, CLERK)
        assert set(idle) == {(ADA, GUIDE), (ADA, CLERK), (BEN, GUIDE)}
        assert idle[:2] == await store.list_dreamable(later + MINUTE, 2)
        assert (ADA, CLERK) not in await store.list_dreamable(later, 9)
        assert await store.list_dreamable(minute(3), 9) == []
        await change(store, replace(BARE, read_through=1))
        waiting = replace(dream("drm_clerk"), agent_id=CLERK, state="proposed")
        await change(store, replace(BARE, agent_id=CLERK, dream=waiting))
        assert await store.list_dreamable(later + MINUTE, 9) == [(BEN, GUIDE), (ADA, CLERK)]
        await change(store, replace(BARE, agent_id=CLERK, dream=replace(waiting, state="rejected")))
        assert await store.list_dreamable(later + MINUTE, 9) == [(ADA, CLERK), (BEN, GUIDE)]

    async def test_session_memory_is_compared_and_set(self, store: Store) -> None:
        """What is kept for a session reads back equal, and is replaced only over what the writer has read."""
        record = await open_session(store)
        empty = SessionMemory(session_id=record.id)
        assert await store.read_session_memory(record.id) == empty
        whole = SessionMemory(
            session_id=record.id,
            extracted_seq=9,
            model_seq=4,
            tokens_count=800,
            calls_count=3,
            snapshot="What I know: \ud83d",
            snapshot_revision=2,
            snapshot_compaction="evt_1",
            has_snapshot=True,
        )
        await store.write_session_memory(whole, expected=empty)
        assert await store.read_session_memory(record.id) == whole
        for expected in (empty, replace(whole, model_seq=5)):
            with pytest.raises(ConflictError):
                await store.write_session_memory(replace(whole, extracted_seq=10), expected=expected)
        assert await store.read_session_memory(record.id) == whole
        await change(store, replace(BARE, session=replace(whole, extracted_seq=11)))
        assert await store.read_session_memory(record.id) == replace(whole, extracted_seq=11)
        nobody = SessionMemory(session_id=SessionId("ses_nobody"))
        for asking in (
            store.read_session_memory(nobody.session_id),
            store.write_session_memory(nobody, expected=nobody),
            change(store, replace(BARE, session=nobody)),
        ):
            with pytest.raises(NotFoundError):
                await asking

    async def test_an_erase_lets_go_of_snapshots(self, store: Store) -> None:
        """After an erase no session of the user has a snapshot, and none that was made before can be written."""
        records = [
            await open_session(store, session_record(f"ses_{user_id}", user_id=user_id)) for user_id in (ADA, BEN)
        ]
        frozen = [
            SessionMemory(session_id=record.id, extracted_seq=2, snapshot="The alibi is false.", has_snapshot=True)
            for record in records
        ]
        for memory in frozen:
            await store.write_session_memory(memory, expected=SessionMemory(session_id=memory.session_id))
        version = await put(store, item("itm_1"), has_erased=True)
        kept = await store.read_session_memory(records[0].id)
        assert kept == SessionMemory(session_id=records[0].id, extracted_seq=2)
        assert await store.read_session_memory(records[1].id) == frozen[1]
        with pytest.raises(ConflictError):
            await store.write_session_memory(frozen[0], expected=kept)
        with pytest.raises(ConflictError):
            await change(store, replace(BARE, session=frozen[0]))
        fresh = replace(frozen[0], snapshot_revision=version.revision)
        await store.write_session_memory(fresh, expected=kept)
        assert await store.read_session_memory(records[0].id) == fresh

    async def test_what_a_turn_shows_is_stored_with_its_next_message(self, store: Store) -> None:
        """An append stores what its turn shows in place of what the one before showed, strings and all; no other session's."""
        record = await open_session(store, session_record("ses_a"))
        other = await open_session(store, session_record("ses_b", user_id=BEN))
        assert await store.read_turn_recall(record.id) is None
        await append_wires(store, record.id, user("first"))
        for text in ("The \ud83d\ude00 alibi,\x00 \u2028 is false.", ""):
            shown = turn_recall(record.id, text)
            await append_shown(store, record.id, shown)
            assert await store.read_turn_recall(record.id) == shown
            await append_wires(store, record.id, user("later"))
            assert await store.read_turn_recall(record.id) == shown
        assert await store.read_turn_recall(other.id) is None
        with pytest.raises(NotFoundError):
            await store.read_turn_recall(SessionId("ses_nobody"))

    async def test_an_erase_lets_go_of_what_turns_show(self, store: Store) -> None:
        """After an erase no turn of the user's sessions shows anything, and what was made before it is not stored."""
        records = [
            await open_session(store, session_record(f"ses_{user_id}", user_id=user_id)) for user_id in (ADA, BEN)
        ]
        for record in records:
            await append_shown(store, record.id, turn_recall(record.id, "The alibi is false."))
        await put(store, item("itm_1"), has_erased=True)
        await append_shown(store, records[0].id, turn_recall(records[0].id, "The alibi is false."))
        assert await store.read_turn_recall(records[0].id) is None
        assert await store.read_turn_recall(records[1].id) == turn_recall(records[1].id, "The alibi is false.")
        fresh = turn_recall(records[0].id, "There is no alibi.", memory_epoch=1)
        await append_shown(store, records[0].id, fresh)
        assert await store.read_turn_recall(records[0].id) == fresh

    async def test_audit_is_listed_newest_first(self, store: Store) -> None:
        """Entries come by their time, of one time the later written first, only the user's own, and older than asked."""
        whole = replace(audit(at=2, about="a"), agent_id=CLERK, actor="agent:x", counts=(("items", 2), ("odd", 0)))
        await store.record_audit([whole, audit(at=3, about="b"), audit(at=1, about="c"), audit(at=2, about="d")])
        await store.record_audit([audit(at=2, user_id=BEN)])
        await store.record_audit([])
        listed = await store.list_audit(ADA, limit_count=9)
        assert listed == [audit(at=3, about="b"), audit(at=2, about="d"), whole, audit(at=1, about="c")]
        assert await store.list_audit(ADA, limit_count=2) == listed[:2]
        assert await store.list_audit(ADA, before=AuditPlace(minute(2)), limit_count=9) == listed[3:]
        assert await store.list_audit(UserId("usr_nobody"), limit_count=9) == []

    async def test_the_audit_is_narrowed_to_an_action(self, store: Store) -> None:
        """With an action only its entries come, in the same order and page by page, whatever else they hold."""
        odd = replace(audit("erase", at=3, about="\ud83d"), actor='"action":"write"')
        await store.record_audit(
            [audit("erase", at=1), audit(at=2, about="erase"), odd, audit("erase", at=3), audit(at=4)]
        )
        await store.record_audit([audit("erase", at=9, user_id=BEN)])
        newest = await store.list_audit(ADA, action="erase", limit_count=2)
        assert newest == [audit("erase", at=3), odd]
        place = AuditPlace(newest[-1].at, newest[-1].ordinal)
        assert await store.list_audit(ADA, action="erase", before=place, limit_count=2) == [audit("erase", at=1)]
        assert await store.list_audit(ADA, action="wipe", limit_count=2) == []

    async def test_the_audit_is_paged_without_a_gap(self, store: Store) -> None:
        """From the place of a page's last entry the next page goes on, also among entries of one time and new ones."""
        await store.record_audit([audit(at=at // 5, about=f"e{at}") for at in range(12)])
        await store.record_audit([audit(at=1, user_id=BEN)])
        whole = await store.list_audit(ADA, limit_count=99)
        listed = await store.list_audit(ADA, limit_count=2)
        while page := await store.list_audit(ADA, before=AuditPlace(listed[-1].at, listed[-1].ordinal), limit_count=2):
            listed += page
            await store.record_audit([audit(at=2, about="new"), audit(at=1, about="new")])
        assert [one.about for one in listed if one.about != ("new",)] == [one.about for one in whole]
        assert len({one.ordinal for one in listed}) == len(listed)

    async def test_a_wipe_leaves_nothing(self, store: Store) -> None:
        """A wipe counts what it removes, bucket by bucket; afterwards only the audit is left, and the epoch is higher."""
        record = await self._fill(store, ADA)
        version = await store.read_memory_version(ADA)
        entry = replace(audit("wipe", at=50), counts=(("x", 1),))
        counts = await store.wipe_memory(ADA, expected=version, entry=entry)
        assert counts == {
            **EMPTY,
            "items": 3,
            "topics": 1,
            "agent_topics": 2,
            "extractions": 2,
            "dreams": 1,
            "sessions": 1,
            "revisions": 2,
            "quotes": 1,
            "cursors": 1,
            "files": 1,
        }
        assert await store.read_memory_version(ADA) == MemoryVersion(
            revision=version.revision + 1, epoch=version.epoch + 1
        )
        assert await self._everything(store, ADA) == []
        assert await store.read_session_memory(record) == SessionMemory(session_id=record)
        assert await store.find_quoting(record, [1]) == []
        written = replace(entry, counts=tuple(counts.items()))
        assert await store.list_audit(ADA, limit_count=9) == [written, audit()]
        for id_ in ("itm_1", "itm_2"):
            with pytest.raises(NotFoundError):
                await store.list_revisions(ItemId(id_ + ADA))
        again = await store.wipe_memory(ADA, expected=await store.read_memory_version(ADA), entry=entry)
        assert again == EMPTY
        assert await store.check_integrity() == []

    async def test_a_wipe_is_of_one_user(self, store: Store) -> None:
        """Whatever another user has is as it was, and can be found as before."""
        for user_id in (ADA, BEN):
            await self._fill(store, user_id)
        before = await self._everything(store, BEN)
        found = await find_items(store, "berth", user_id=BEN)
        assert before
        assert found
        await store.wipe_memory(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))
        assert await self._everything(store, BEN) == before
        assert await find_items(store, "berth", user_id=BEN) == found
        assert await find_items(store, "berth") == []

    async def test_a_wipe_over_another_head_is_refused(self, store: Store) -> None:
        """When memory has moved on since it was looked at, nothing is wiped."""
        await self._fill(store, ADA)
        before, version = await self._everything(store, ADA), await store.read_memory_version(ADA)
        for expected in (MemoryVersion(), replace(version, epoch=1), replace(version, revision=9)):
            with pytest.raises(ConflictError):
                await store.wipe_memory(ADA, expected=expected, entry=audit("wipe"))
        assert await self._everything(store, ADA) == before
        assert await store.read_memory_version(ADA) == version

    async def test_memory_begins_again_after_a_wipe(self, store: Store) -> None:
        """What was decided before a wipe is refused; the same ids can be written anew, and ordinals go on rising."""
        await self._fill(store, ADA)
        version = await store.read_memory_version(ADA)
        ordinals = [one.ordinal for one in await store.list_extractions(ADA, None, after_ordinal=0, limit_count=9)]
        await store.wipe_memory(ADA, expected=version, entry=audit("wipe"))
        with pytest.raises(ConflictError):
            await store.change_memory(replace(BARE, expected=version, items=(item("itm_9"),)))
        await change(store, replace(BARE, items=(item("itm_1"),), extraction=extraction("ext_1")))
        (newest,) = await store.list_extractions(ADA, None, after_ordinal=0, limit_count=9)
        assert newest.ordinal > max(ordinals)
        assert await store.list_revisions(ItemId("itm_1")) == [item("itm_1")]
        assert await find_items(store, "berth") == ["itm_1"]

    async def test_a_user_without_memory_can_be_wiped(self, store: Store) -> None:
        """A wipe of what never was counts nothing and raises the epoch, so that nothing in flight arrives."""
        assert await store.wipe_memory(BEN, expected=MemoryVersion(), entry=audit("wipe", user_id=BEN)) == EMPTY
        assert await store.read_memory_version(BEN) == MemoryVersion(revision=1, epoch=1)

    async def _fill(self, store: Store, user_id: UserId) -> SessionId:
        record = await open_session(store, session_record(f"ses_{user_id}", user_id=user_id))
        quote = evidence("berth", session_id=record.id)
        items = [
            item(f"itm_1{user_id}", "The berth is free.", quote, user_id=user_id),
            item(f"itm_2{user_id}", "The berth is dear.", user_id=user_id, agent_id=CLERK, tier="agent"),
            item(f"itm_3{user_id}", "No berth.", user_id=user_id, status="superseded"),
        ]
        topics = [
            topic(f"top_1{user_id}", user_id=user_id),
            topic(f"top_2{user_id}", user_id=user_id, tier="agent"),
            topic(f"top_3{user_id}", user_id=user_id, agent_id=CLERK, tier="agent"),
        ]
        first = MemoryChange(
            user_id=user_id,
            agent_id=GUIDE,
            expected=MemoryVersion(),
            items=tuple(items),
            topics=tuple(topics),
            extraction=extraction(f"ext_1{user_id}", user_id=user_id),
            session=SessionMemory(session_id=record.id, snapshot="berth", has_snapshot=True),
            dream=dream(f"drm_1{user_id}", *topics, user_id=user_id),
            read_through=1,
            files=(file("/memories/berth", "Free.", user_id=user_id),),
            audit=(audit(user_id=user_id),),
        )
        await store.change_memory(first)
        second = replace(
            first,
            items=(replace(items[0], revision=2, statement="The berth is let."),),
            topics=(rewritten(topics[0], "Let."),),
            extraction=extraction(f"ext_2{user_id}", user_id=user_id, agent_id=CLERK),
            audit=(),
        )
        await change(store, second)
        return record.id

    async def test_a_wipe_takes_leases_away(self, store: Store) -> None:
        """After a wipe the next dream of its user begins at once; other work's and another user's lease stays."""
        names = [
            LeaseName(user_id=ADA, work="dream", about=GUIDE),
            LeaseName(user_id=ADA, work="refresh", about=GUIDE),
            LeaseName(user_id=BEN, work="dream", about=GUIDE),
        ]
        for name in names:
            assert await store.claim_lease(name, holder="one", secs=LEASE_SECS)
        entry = replace(audit(), action="wipe")
        await store.wipe_memory(ADA, expected=await store.read_memory_version(ADA), entry=entry)
        given = [await store.claim_lease(name, holder="two", secs=LEASE_SECS) for name in names]
        assert given == [True, False, False]

    async def _everything(self, store: Store, user_id: UserId) -> list[object]:
        """All that memory has of a user, but its version and its audit."""
        statuses = ("active", "superseded", "expired", "quarantined", "erased")
        items = await store.list_items(user_id, None, statuses=statuses, limit_count=99)  # type: ignore[arg-type]  # by name
        revisions = [await store.list_revisions(one.id) for one in items]
        topics = await store.list_topic_revisions(user_id, None, "harbour")
        extractions = await store.list_extractions(user_id, None, after_ordinal=0, limit_count=99)
        dreams = await store.list_dreams(user_id, None, limit_count=99)
        cursors = [cursor for agent_id in (GUIDE, CLERK) if (cursor := await store.read_cursor(user_id, agent_id))]
        files = await store.read_files(user_id)
        return [*items, *revisions, *topics, *extractions, *dreams, *cursors, *files]
