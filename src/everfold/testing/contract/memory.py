"""What every store holds to about items. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from everfold.core.memory.items import Item, ItemId, ItemStatus, Shelf
from everfold.core.memory.records import MemoryChange, MemoryVersion
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.text.searching import SearchQuery, plan_query
from everfold.errors import ConflictError, InvalidInputError, NotFoundError, StoreUnavailableError
from everfold.ports.stores import Store
from everfold.testing.contract.history import find, places
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    CLERK,
    GUIDE,
    append_wires,
    minute,
    open_session,
    plan_bare_erasure,
    user,
)
from everfold.testing.kit.memory_builders import audit, change, dream, erased, evidence, extraction, item, put, topic

NOBODY = UserId("usr_nobody")
COMMON_COUNT = 600
"""More items with a word than any store ranks to find what is alike."""


def ids(items: Sequence[Item]) -> list[str]:
    """Their ids, in order."""
    return [one.id for one in items]


async def find_items(
    store: Store, question: str, *, user_id: UserId = ADA, agent_id: AgentId | None = None, limit_count: int = 9
) -> list[str]:
    """The ids that a question finds, best first."""
    hits = await store.search_items(plan_query(question), user_id, agent_id, limit_count=limit_count)
    assert all(score > 0 for _, score in hits)
    assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
    return ids([one for one, _ in hits])


async def list_ids(store: Store, user_id: UserId = ADA, agent_id: AgentId | None = None, **asked: object) -> list[str]:
    """The ids of a listing."""
    return ids(await store.list_items(user_id, agent_id, **{"limit_count": 99, **asked}))  # type: ignore[arg-type]  # by name


async def find_same(store: Store, user_id: UserId, identities: Sequence[str]) -> list[Item]:
    """The items with these identities."""
    return list((await store.find_related(user_id, None, identities=identities)).same)


async def find_like(
    store: Store, query: SearchQuery, user_id: UserId, agent_id: AgentId, *, limit_count: int
) -> list[Item]:
    """The items that share words with a query."""
    return list((await store.find_related(user_id, agent_id, queries=[query], like_count=limit_count)).like)


class ItemContract:
    """Items are read as they were written, to whom they are for, and a change is written whole or not at all."""

    async def test_an_item_reads_back_equal(self, store: Store) -> None:
        """Every field of a revision is what it was, whether filled or empty, lone surrogates and microseconds too."""
        bare = item("itm_1")
        whole = replace(
            item("itm_2", "odd \ud83d \x00 end", evidence("q \udc00", seq=4), evidence("r", session_id="ses_gone")),
            agent_id=CLERK,
            tier="agent",
            kind="open_item",
            origin="external",
            confidence=0.1,
            valid_to=minute(9) + timedelta(microseconds=1),
            status="quarantined",
            shelf="archive",
            revision=7,
            supersedes=ItemId("itm_1"),
            superseded_by=ItemId("itm_3"),
            is_explicit=True,
            is_by_hand=True,
            threats=("identity \ud800", "exfiltration"),
            written_by="import",
        )
        await put(store, bare, whole)
        assert await store.list_revisions(bare.id) == [bare]
        assert await store.list_revisions(whole.id) == [whole]

    async def test_memory_begins_at_nothing(self, store: Store) -> None:
        """A user who is not known has an empty memory, and asking does not change that."""
        assert await store.read_memory_version(NOBODY) == MemoryVersion()
        assert await list_ids(store, NOBODY) == await find_items(store, "berth", user_id=NOBODY) == []
        assert await find_same(store, NOBODY, ["x"]) == []
        assert await store.find_quoting(SessionId("ses_nobody"), [1]) == []
        assert await store.read_memory_version(NOBODY) == MemoryVersion()

    async def test_a_change_moves_the_head(self, store: Store) -> None:
        """The version that a change gives is the one that is read afterwards; each user has one of their own."""
        versions = [await put(store, item("itm_1")), await put(store, item("itm_1", revision=2))]
        assert versions == [MemoryVersion(revision=1), MemoryVersion(revision=2)]
        assert await put(store, topic("top_1"), has_erased=True) == MemoryVersion(revision=3, epoch=1)
        assert await store.read_memory_version(ADA) == MemoryVersion(revision=3, epoch=1)
        assert await store.read_memory_version(BEN) == MemoryVersion()

    async def test_bookkeeping_does_not_move_the_head(self, store: Store) -> None:
        """A change without items and topics is written and makes no other decision stale."""
        await put(store, item("itm_1"))
        plan = MemoryChange(
            user_id=ADA,
            agent_id=GUIDE,
            expected=MemoryVersion(revision=1),
            extraction=extraction("ext_1"),
            read_through=1,
            audit=(audit(),),
        )
        assert await store.change_memory(plan) == await store.read_memory_version(ADA) == MemoryVersion(revision=1)
        assert await store.read_cursor(ADA, GUIDE) == 1
        assert await store.list_audit(ADA, limit_count=9) == [audit()]

    async def test_a_refused_change_writes_nothing(self, store: Store) -> None:
        """A change over another revision or epoch is refused whole: nothing of what it holds is there afterwards."""
        session = await open_session(store)
        first = item("itm_1", "The berth is free.", evidence("free", session_id=session.id))
        await put(store, first)
        kept = await store.read_session_memory(session.id)
        plan = MemoryChange(
            user_id=ADA,
            agent_id=GUIDE,
            expected=MemoryVersion(),
            items=(replace(first, revision=2, status="superseded"), item("itm_2", "The crane is broken.")),
            topics=(topic("top_1"),),
            extraction=extraction("ext_1"),
            session=replace(kept, extracted_seq=5),
            dream=dream("drm_1", topic("top_1")),
            read_through=1,
            audit=(audit(),),
        )
        for expected in (MemoryVersion(), MemoryVersion(revision=2), MemoryVersion(revision=1, epoch=1)):
            with pytest.raises(ConflictError):
                await store.change_memory(replace(plan, expected=expected))
        taken = replace(plan, expected=MemoryVersion(revision=1), items=(*plan.items, replace(first, revision=1)))
        with pytest.raises(ConflictError):
            await store.change_memory(taken)
        assert await store.read_memory_version(ADA) == MemoryVersion(revision=1)
        assert await store.list_revisions(first.id) == [first]
        assert await list_ids(store) == await find_items(store, "berth crane") == ["itm_1"]
        assert await store.list_topics(ADA, None) == []
        assert await store.list_dreams(ADA, None, limit_count=9) == []
        assert await store.list_extractions(ADA, None, after_ordinal=0, limit_count=9) == []
        assert await store.read_session_memory(session.id) == kept
        assert await store.read_cursor(ADA, GUIDE) == 0
        assert await store.list_audit(ADA, limit_count=9) == []
        with pytest.raises(NotFoundError):
            await store.list_revisions(ItemId("itm_2"))

    async def test_a_change_is_of_one_user(self, store: Store) -> None:
        """Nothing of another user can be in a change, and an id that another user's memory has is refused."""
        await put(store, item("itm_1"), topic("top_1"))
        await change(
            store, MemoryChange(user_id=ADA, agent_id=GUIDE, expected=MemoryVersion(), dream=dream("drm_1", topic("t")))
        )
        session = await open_session(store)
        bare = MemoryChange(user_id=BEN, agent_id=GUIDE, expected=MemoryVersion())
        with pytest.raises(InvalidInputError):
            replace(bare, items=(item("itm_2"),))
        for plan in (
            replace(bare, items=(item("itm_1", user_id=BEN, revision=2),)),
            replace(bare, topics=(replace(topic("top_1", user_id=BEN), revision=2),)),
            replace(bare, dream=dream("drm_1", user_id=BEN)),
            replace(bare, session=await store.read_session_memory(session.id)),
        ):
            with pytest.raises(ConflictError):
                await store.change_memory(plan)
        assert await store.read_memory_version(BEN) == MemoryVersion()
        assert await list_ids(store, BEN) == []

    async def test_revisions_stay(self, store: Store) -> None:
        """Listings give the newest revision, the list of revisions all of them, oldest first; several in one change too."""
        first = item("itm_1", "One.")
        revisions = [first, replace(first, revision=2, statement="Two."), replace(first, revision=5, statement="Five.")]
        await put(store, revisions[0])
        await put(store, *revisions[1:])
        assert await store.list_items(ADA, None, limit_count=9) == revisions[-1:]
        assert await store.list_revisions(first.id) == revisions
        other = item("itm_2", "Other.")
        await put(store, other)
        assert await store.list_histories(ADA, [other.id, ItemId("itm_none"), first.id]) == [[other], revisions]
        assert await store.list_histories(BEN, [first.id]) == await store.list_histories(ADA, []) == []

    async def test_items_are_read_by_their_ids(self, store: Store) -> None:
        """The newest revisions, whatever their status, in the order asked for, each once; the others are left out."""
        first, gone = item("itm_1"), item("itm_2", status="superseded")
        await put(store, first, gone)
        await put(store, newest := replace(first, revision=2, statement="Two."))
        asked = [ItemId("itm_9"), gone.id, first.id, gone.id]
        assert await store.read_items(ADA, GUIDE, asked) == await store.read_items(ADA, None, asked) == [gone, newest]
        assert await store.read_items(ADA, None, []) == []

    async def test_an_id_gives_no_item_of_another(self, store: Store) -> None:
        """By its id an item is read for its user alone, and one of the agent tier for its own agent and for the user."""
        own, noted = item("itm_1"), item("itm_2", tier="agent")
        await put(store, own, noted)
        await put(store, other := item("itm_3", user_id=BEN))
        asked = [own.id, noted.id, other.id]
        assert await store.read_items(ADA, GUIDE, asked) == await store.read_items(ADA, None, asked) == [own, noted]
        assert await store.read_items(ADA, AgentId("other"), asked) == [own]
        assert await store.read_items(BEN, GUIDE, asked) == [other]
        assert await store.read_items(UserId("usr_nobody"), None, asked) == []

    async def test_a_stale_revision_is_refused(self, store: Store) -> None:
        """A revision that does not come after the newest one is not written, even over the right version."""
        await put(store, item("itm_1", revision=3))
        for revision in (1, 3):
            with pytest.raises(ConflictError):
                await put(store, item("itm_1", "Older.", revision=revision))
        assert await store.list_revisions(ItemId("itm_1")) == [item("itm_1", revision=3)]

    async def test_a_listing_is_paged(self, store: Store) -> None:
        """Pages of any size give every item once, in the order in which memory first had them, edits or not."""
        wanted = [f"itm_{number}" for number in (5, 1, 4, 2, 3, 0)]
        for at, id_ in enumerate(wanted):
            shelf: Shelf = "archive" if at % 3 == 0 else "block"
            tiered = item(id_, tier="agent" if at % 2 else "user", status="superseded" if at == 4 else "active")
            await put(store, replace(tiered, shelf=shelf))
        await put(store, item("itm_5", revision=2))
        for agent_id in (None, GUIDE):
            for size in (1, 2, 9):
                listed: list[str] = []
                while page := await list_ids(
                    store,
                    ADA,
                    agent_id,
                    statuses=("active", "superseded", "active"),
                    after=listed[-1] if listed else None,
                    limit_count=size,
                ):
                    assert len(page) <= size
                    listed += page
                assert listed == wanted
        assert await list_ids(store, statuses=("superseded",)) == ["itm_3"]
        assert await list_ids(store, statuses=()) == []
        assert await list_ids(store, is_block=True) == ["itm_5", "itm_1", "itm_4", "itm_0"]
        assert await list_ids(store, is_block=True, limit_count=2) == ["itm_5", "itm_1"]
        with pytest.raises(NotFoundError):
            await list_ids(store, after="itm_none")

    async def test_a_page_goes_on_only_after_an_item_of_its_list(self, store: Store) -> None:
        """An item of another user, or of another agent's tier, is as unknown as one that never was."""
        await put(store, item("itm_1"), item("itm_2", tier="agent"))
        await put(store, item("itm_3", user_id=BEN))
        assert await list_ids(store, ADA, GUIDE, after="itm_2") == await list_ids(store, ADA, None, after="itm_2") == []
        for user_id, agent_id, after in ((ADA, GUIDE, "itm_3"), (ADA, CLERK, "itm_2"), (BEN, None, "itm_1")):
            with pytest.raises(NotFoundError, match=f"there is no item '{after}'"):
                await list_ids(store, user_id, agent_id, after=after)

    async def test_changes_since_a_revision_are_listed(self, store: Store) -> None:
        """What a later change wrote is listed, in memory's own order and to whom it is for, and nothing else."""
        for number in (1, 2, 3):
            await put(store, item(f"itm_{number}", tier="agent" if number == 2 else "user"))
        await put(store, item("itm_1", revision=2))
        assert await list_ids(store, changed_after=0) == ["itm_1", "itm_2", "itm_3"]
        assert await list_ids(store, changed_after=1) == ["itm_1", "itm_2", "itm_3"]
        assert await list_ids(store, changed_after=2) == ["itm_1", "itm_3"]
        assert await list_ids(store, changed_after=2, after="itm_1") == ["itm_3"]
        assert await list_ids(store, changed_after=2, limit_count=1) == ["itm_1"]
        assert await list_ids(store, ADA, CLERK, changed_after=0) == ["itm_1", "itm_3"]
        assert await list_ids(store, changed_after=4) == []
        archived = replace(item("itm_3", revision=2), shelf="archive")
        await put(store, archived, replace(item("itm_1", revision=3), status="expired"))
        assert await list_ids(store, changed_after=4) == ["itm_3"]
        assert await list_ids(store, changed_after=4, is_block=True) == []
        assert await list_ids(store, changed_after=4, statuses=("active", "expired")) == ["itm_1", "itm_3"]

    async def test_nothing_crosses(self, store: Store) -> None:
        """Of two users with two agents each is given the user tier and their own; the owner all of theirs alone."""
        for user_id in (ADA, BEN):
            for agent_id in (GUIDE, CLERK):
                for tier in ("user", "agent"):
                    id_ = f"{user_id}_{agent_id}_{tier}"
                    await put(store, item(id_, f"berth {id_}", user_id=user_id, agent_id=agent_id, tier=tier))
        for user_id in (ADA, BEN):
            shared = [f"{user_id}_{agent_id}_user" for agent_id in (GUIDE, CLERK)]
            for agent_id in (GUIDE, CLERK, AgentId("agt_other")):
                own = {*shared, f"{user_id}_{agent_id}_agent"} & set(await list_ids(store, user_id))
                assert set(await list_ids(store, user_id, agent_id)) == own
                assert set(await list_ids(store, user_id, agent_id, is_block=True, changed_after=0)) == own
                assert set(await find_items(store, "berth", user_id=user_id, agent_id=agent_id)) == own
            assert len(await find_items(store, "berth", user_id=user_id)) == len(await list_ids(store, user_id)) == 4
        assert await find_items(store, "berth", user_id=NOBODY, agent_id=GUIDE) == []

    async def test_an_item_can_change_hands(self, store: Store) -> None:
        """An item is for whom its newest revision is: listings, search and identities follow tier and statement."""
        note = item("itm_1", "The crane is broken.", tier="agent")
        await put(store, note)
        assert await list_ids(store, ADA, CLERK) == await find_items(store, "crane", agent_id=CLERK) == []
        shared = item("itm_1", "The ferry is late.", tier="user", revision=2)
        await put(store, shared)
        assert await list_ids(store, ADA, CLERK) == await find_items(store, "ferry", agent_id=CLERK) == ["itm_1"]
        assert await find_items(store, "crane") == []
        assert await find_same(store, ADA, [note.identity]) == []
        assert await find_same(store, ADA, [shared.identity]) == [shared]

    async def test_the_same_is_found(self, store: Store) -> None:
        """Items are found by identity whatever their status, each once, in memory's order, and only their owner's."""
        late = item("itm_9", "The ferry is late.", status="superseded")
        again = item("itm_1", "the FERRY is late")
        other = item("itm_2", "The crane is broken.")
        await put(store, late, again, other)
        await put(store, item("itm_3", "The ferry is late.", user_id=BEN))
        wanted = [other.identity, late.identity, late.identity, "none"]
        assert await find_same(store, ADA, wanted) == [late, again, other]
        assert await find_same(store, ADA, []) == []
        assert ids(await find_same(store, BEN, wanted)) == ["itm_3"]

    async def test_what_quotes_a_message_is_found(self, store: Store) -> None:
        """An item that any revision of which quotes a message is found by it, in memory's order, as it is now, once."""
        both = item("itm_2", "A.", evidence("a", seq=1), evidence("b", seq=2), evidence("a again", seq=1))
        await put(store, both, item("itm_1", "B.", evidence("b", seq=2)), item("itm_3", "C."))
        newest = replace(both, evidence=both.evidence[1:2], revision=2, status="superseded")
        await put(store, newest)
        assert await store.find_quoting(SessionId("ses_1"), [1]) == [newest]
        assert ids(await store.find_quoting(SessionId("ses_1"), [2])) == ["itm_2", "itm_1"]
        assert ids(await store.find_quoting(SessionId("ses_1"), [1, 2])) == ["itm_2", "itm_1"]
        assert await store.find_quoting(SessionId("ses_1"), []) == []
        assert await store.find_quoting(SessionId("ses_2"), [1]) == []

    async def test_what_is_gone_of_a_message_is_found(self, store: Store) -> None:
        """The items that quote a message and are erased, expired or superseded come with what is related, the user's alone."""
        quote = evidence("a", seq=1)
        statuses: tuple[ItemStatus, ...] = ("expired", "erased", "superseded")
        gone = [replace(item(f"itm_{status}", "A.", quote), status=status) for status in statuses]
        others = [replace(item(f"itm_{status}", "A.", quote), status=status) for status in ("active", "quarantined")]
        await put(store, *gone, *others, item("itm_5", "B.", evidence("b", seq=2), status="expired"))
        messages = [(SessionId("ses_1"), 1), (SessionId("ses_1"), 3), (SessionId("ses_1"), 1)]
        assert list((await store.find_related(ADA, GUIDE, messages=messages)).gone) == gone
        assert (await store.find_related(ADA, GUIDE)).gone == ()
        assert (await store.find_related(BEN, GUIDE, messages=messages)).gone == ()

    async def test_items_are_found_by_their_words(self, store: Store) -> None:
        """Statement and quotes are searched, rarer and more words rank higher, and of equal items the newer comes first."""
        await put(
            store,
            item("itm_1", "The berth costs 17 euros."),
            item("itm_2", "The berth is free in winter."),
            item("itm_3", "Ben is called at noon.", evidence("my brother Ben: call him at noon")),
            item("itm_4", "Papers are in the harbour office."),
            item("itm_5", "Papers are in the harbour office."),
            item("itm_6", "明日の会議は三時からです。"),
        )
        assert (await find_items(store, "What does the berth cost in euros?"))[0] == "itm_1"
        assert set(await find_items(store, "berth")) == {"itm_1", "itm_2"}
        assert await find_items(store, "brother") == ["itm_3"]
        assert await find_items(store, "harbour papers") == ["itm_5", "itm_4"]
        assert await find_items(store, "harbour papers", limit_count=1) == ["itm_5"]
        assert await find_items(store, "会議") == await find_items(store, "議") == ["itm_6"]
        assert await find_items(store, '"free in winter"') == ["itm_2"]
        assert await find_items(store, "u") == await find_items(store, "") == await find_items(store, "zeppelin") == []

    async def test_items_that_are_alike_are_found_by_rare_words_and_among_many_by_their_age(self, store: Store) -> None:
        """What shares rare words comes first, the best first; then the newest of those that share a common word."""
        told = item("itm_told", "The berth of the zeppelin is booked.")
        noted = replace(item("itm_noted", "The berth of the zeppelin is free in winter."), tier="agent", agent_id=CLERK)
        many = [item(f"itm_{number}", f"The berth number {number} is free.") for number in range(COMMON_COUNT)]
        await put(store, told, noted, *many)
        await put(store, replace(many[-1], revision=2, status="expired"))
        query, newest = plan_query("The berth of the zeppelin costs much."), [one.id for one in many[-2:-5:-1]]
        like = ids(await find_like(store, query, ADA, GUIDE, limit_count=4))
        assert like == ["itm_told", *newest]
        assert set(ids(await find_like(store, query, ADA, CLERK, limit_count=2))) == {"itm_told", "itm_noted"}
        assert ids(await find_like(store, plan_query("berth"), ADA, GUIDE, limit_count=3)) == newest
        assert await find_like(store, plan_query("u"), ADA, GUIDE, limit_count=3) == []
        assert await find_like(store, query, BEN, GUIDE, limit_count=3) == []
        assert await find_like(store, query, NOBODY, GUIDE, limit_count=3) == []

    async def test_only_active_items_are_found(self, store: Store) -> None:
        """An item that is no longer active is not found, and is again when it is active again."""
        await put(store, item("itm_1", "The crane is broken."), item("itm_2", "x crane", status="quarantined"))
        statuses: tuple[ItemStatus, ...] = ("superseded", "expired", "quarantined")
        for revision, status in enumerate(statuses, 2):
            await put(store, replace(item("itm_1", "The crane is broken.", revision=revision), status=status))
            assert await find_items(store, "crane") == []
        await put(store, item("itm_1", "The crane is mended.", revision=9))
        assert await find_items(store, "crane") == await find_items(store, "mended") == ["itm_1"]
        assert await find_items(store, "broken") == []

    async def test_an_erased_item_is_a_tombstone(self, store: Store) -> None:
        """Of an erased item only the last revision is left: no older one, no evidence, no word, no identity."""
        first = item("itm_1", "The alibi is false.", evidence("alibi"))
        second = replace(first, revision=2, status="superseded")
        await put(store, first, item("itm_2", "The berth is free.", evidence("free")))
        await put(store, second)
        await put(store, erased(second), has_erased=True)
        assert await store.list_revisions(first.id) == [erased(second)]
        assert ids(await store.find_quoting(SessionId("ses_1"), [1])) == ["itm_2"]
        assert await find_same(store, ADA, [first.identity]) == []
        assert await find_items(store, "alibi") == []
        assert await list_ids(store, statuses=("erased",)) == ["itm_1"]
        assert await list_ids(store) == await find_items(store, "berth") == ["itm_2"]
        assert await store.check_integrity() == []

    async def test_an_item_that_an_erase_rewrites_forgets(self, store: Store) -> None:
        """What keeps another source after an erase has no older revision that still quotes the erased one."""
        kept = evidence("the berth is free", seq=2)
        first = item("itm_1", "The berth is free.", evidence("free, the alibi said"), kept)
        await put(store, first)
        rewritten = replace(first, evidence=(kept,), revision=2, written_by="erase")
        await put(store, rewritten, has_erased=True)
        assert await store.list_revisions(first.id) == [rewritten]
        assert await find_items(store, "alibi") == []
        assert await store.find_quoting(SessionId("ses_1"), [1]) == []
        assert await store.find_quoting(SessionId("ses_1"), [2]) == [rewritten]

    async def test_an_erase_of_a_message_changes_memory(self, store: Store) -> None:
        """A message and what memory made of it go at once; changes apply one after the other."""
        record = await open_session(store, None, user("The alibi is false."), user("Next."))
        first = item("itm_1", "The alibi is false.", evidence("The alibi is false.", session_id=record.id))
        version = await put(store, first)
        bare = MemoryChange(user_id=ADA, agent_id=GUIDE, expected=version, items=(erased(first),), has_erased=True)
        again = replace(bare, expected=bare.next_version, items=(item("itm_2"),), has_erased=False)
        erasure = replace(await plan_bare_erasure(store, record.id, 1), memory=(bare, again))
        await store.erase_message(erasure, erased_at=minute(900))
        assert await store.read_messages(record.id, [1]) == []
        assert await store.list_revisions(first.id) == [erased(first)]
        assert await list_ids(store) == ["itm_2"]
        assert await store.read_memory_version(ADA) == again.next_version == MemoryVersion(revision=3, epoch=1)

    async def test_an_erase_over_another_memory_is_refused(self, store: Store) -> None:
        """When memory has moved on since an erase was planned, the message stays too, and all that was made of it."""
        record = await open_session(store, None, user("The alibi is false."))
        first = item("itm_1", "The alibi is false.", evidence("The alibi is false.", session_id=record.id))
        version = await put(store, first)
        bare = MemoryChange(user_id=ADA, agent_id=GUIDE, expected=version, items=(erased(first),), has_erased=True)
        state = await store.read_state(record.id)
        for plans in ((replace(bare, expected=MemoryVersion()),), (bare, bare)):
            erasure = replace(await plan_bare_erasure(store, record.id, 1), memory=plans)
            with pytest.raises(ConflictError):
                await store.erase_message(erasure, erased_at=minute(900))
            assert await store.read_state(record.id) == state
            assert len(await store.read_messages(record.id, [1])) == 1
            assert (record.id, 1) in places(await find(store, "alibi"))
            assert await store.list_revisions(first.id) == [first]
            assert await store.read_memory_version(ADA) == version
        erasure = replace(await plan_bare_erasure(store, record.id, 1), memory=(bare,))
        await append_wires(store, record.id, user("one more"))
        with pytest.raises(ConflictError):
            await store.erase_message(erasure, erased_at=minute(900))
        assert await store.list_revisions(first.id) == [first]

    async def test_a_closed_store_has_no_items(self, store: Store) -> None:
        """After closing, memory is neither read nor changed."""
        await store.close()
        for asking in (put(store, item("itm_1")), store.read_memory_version(ADA), list_ids(store)):
            with pytest.raises(StoreUnavailableError):
                await asking
