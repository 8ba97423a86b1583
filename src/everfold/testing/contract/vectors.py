"""What every store holds to about vectors. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from heapq import nlargest

import pytest

from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.recall.vectors import (
    KINDS,
    Embeddable,
    Near,
    Space,
    Vector,
    VectorKind,
    VectorRef,
    VectorRow,
    compare,
    normalise,
)
from everfold.errors import InvalidInputError, StoreUnavailableError
from everfold.ports.stores import Store
from everfold.testing.contract.clusters import Clusters
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    CLERK,
    GUIDE,
    append_wires,
    assistant,
    branch_session,
    calls,
    incoming,
    open_session,
    plan_bare_erasure,
    result,
    session_record,
    user,
)
from everfold.testing.kit.memory_builders import audit, erased, item, put, topic

SPACE = Space("hash:8", 8)
OTHER = Space("openai:small", 8)
EAST: Vector = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NORTH: Vector = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NORTH_EAST: Vector = (3.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


async def missing(
    store: Store, kind: VectorKind = "message", *, user_id: UserId = ADA, space: Space = SPACE
) -> list[Embeddable]:
    """Everything of a kind without a vector."""
    return await store.list_missing(user_id, kind, space, limit_count=99)


async def missing_refs(store: Store, kind: VectorKind = "message", *, user_id: UserId = ADA) -> list[VectorRef]:
    """What it stands for."""
    return [words.ref for words in await missing(store, kind, user_id=user_id)]


async def embed(
    store: Store,
    vector: Vector = EAST,
    *,
    kinds: Sequence[VectorKind] = KINDS,
    user_id: UserId = ADA,
    space: Space = SPACE,
) -> int:
    """Give everything that has no vector this one."""
    rows = [
        VectorRow(ref=words.ref, content_hash=words.content_hash, vector=vector)
        for kind in kinds
        for words in await missing(store, kind, user_id=user_id, space=space)
    ]
    return await store.put_vectors(user_id, space, rows)


async def near(
    store: Store,
    vector: Vector = EAST,
    *,
    kinds: Sequence[VectorKind] = KINDS,
    user_id: UserId = ADA,
    agent_id: AgentId | None = None,
    space: Space = SPACE,
    limit_count: int = 99,
) -> list[Near]:
    """What is found near a vector."""
    return await store.find_near(
        vector, user_id=user_id, agent_id=agent_id, kinds=kinds, space=space, limit_count=limit_count
    )


async def found(store: Store, user_id: UserId = ADA, agent_id: AgentId | None = None) -> set[str]:
    """What is found near a vector that everything has, as the ids of sessions, items and topics."""
    return {one.ref.owner_id for one in await near(store, user_id=user_id, agent_id=agent_id)}


def _compare_to(unit: Vector, units: Mapping[VectorRef, Vector], ref: VectorRef) -> float:
    return compare(unit, units[ref])


class VectorContract:
    """A vector is found by those whom it is for, as long as what it was made of is there, and no longer."""

    async def test_what_has_words_is_missing_until_it_has_a_vector(self, store: Store) -> None:
        """What a person and the model said, active items and active topics are listed with their words, then no more."""
        session = await open_session(store, None, user("The berth is free."), assistant("Noted."))
        await put(store, item("itm_1", "Berth 4 is mine."), topic("top_1", name="the_harbour"))
        said = await missing(store)
        assert [(words.ref, words.text) for words in said] == [
            (VectorRef("message", session.id, 1), "The berth is free."),
            (VectorRef("message", session.id, 2), "Noted."),
        ]
        assert [words.text for words in await missing(store, "item")] == ["Berth 4 is mine."]
        assert [words.text.splitlines()[0] for words in await missing(store, "topic")] == ["the harbour"]
        assert await embed(store) == 4
        assert [await missing(store, kind) for kind in KINDS] == [[], [], []]

    async def test_what_nobody_said_is_not_embedded(self, store: Store) -> None:
        """Calls, results, system messages, scheduled and injected ones and empty ones have no words to embed."""
        session = await open_session(store)
        await append_wires(
            store,
            session.id,
            incoming(user("A tick."), origin="system", source="tick"),
            incoming(user("A meeting."), origin="external", source="injection"),
            user("..."),
            calls("call_1"),
            result("call_1", "The tool said so."),
            user("I said this."),
        )
        await put(store, item("itm_1", status="quarantined"))
        assert [words.text for words in await missing(store)] == ["I said this."]
        assert await missing(store, "item") == []

    async def test_secrets_stay_here(self, store: Store) -> None:
        """What goes to an embedder is without secrets and lone surrogates."""
        await open_session(store, None, user("My key is sk-proj-Zx81kQv0TmWb27LrYd94Ns and \ud83d the berth is 4."))
        [words] = await missing(store)
        assert "Zx81kQv0TmWb27LrYd94Ns" not in words.text
        assert words.text.endswith("and ? the berth is 4.")

    async def test_missing_ones_are_paged(self, store: Store) -> None:
        """Page after page gives each once, in the order of arrival over all sessions of the user."""
        first = await open_session(store, None, user("One."), user("Two."))
        second = await open_session(store, session_record("ses_2", parent=first), user("Three."))
        await append_wires(store, first.id, user("Four."))
        pages: list[str] = []
        after: VectorRef | None = None
        while page := await store.list_missing(ADA, "message", SPACE, after=after, limit_count=3):
            pages += [words.text for words in page]
            after = page[-1].ref
        assert pages == ["One.", "Two.", "Three.", "Four."]
        assert second.id != first.id
        assert await store.list_missing(ADA, "message", SPACE, limit_count=0) == []
        unknown = VectorRef("message", "ses_gone", 9)
        assert len(await store.list_missing(ADA, "message", SPACE, after=unknown, limit_count=9)) == 4

    async def test_nearest_first(self, store: Store) -> None:
        """Answers come by the cosine, which they carry; lengths do not matter, and no more come than asked for."""
        await put(store, item("itm_1", "East."), item("itm_2", "North."), item("itm_3", "Between."), item("itm_4"))
        vectors = {"East.": EAST, "North.": NORTH, "Between.": NORTH_EAST}
        rows = [
            VectorRow(ref=words.ref, content_hash=words.content_hash, vector=vectors[words.text])
            for words in await missing(store, "item")
            if words.text in vectors
        ]
        assert await store.put_vectors(ADA, SPACE, rows) == 3
        answers = await near(store, tuple(7 * number for number in EAST))
        assert [one.ref for one in answers] == [VectorRef("item", f"itm_{n}") for n in (1, 3, 2)]
        assert [one.similarity for one in answers] == pytest.approx([1.0, 0.5**0.5, 0.0], abs=1e-6)
        assert [one.ref.owner_id for one in await near(store, NORTH, limit_count=1)] == ["itm_2"]
        assert await near(store, limit_count=0) == []

    async def test_a_vector_without_a_direction(self, store: Store) -> None:
        """All zeros, or what is no number, is neither kept nor near anything."""
        await put(store, item("itm_1"))
        zero = (0.0,) * 8
        assert await embed(store, zero) == 0
        assert await embed(store, (float("nan"),) * 8) == 0
        assert await embed(store) == 1
        assert await near(store, zero) == []

    async def test_only_the_kinds_that_are_asked_for(self, store: Store) -> None:
        """Messages, items and topics are found together or apart."""
        session = await open_session(store, None, user("Hello."))
        await put(store, item("itm_1"), topic("top_1"))
        await embed(store)
        assert [one.ref.owner_id for one in await near(store, kinds=("message",))] == [session.id]
        assert [one.ref.owner_id for one in await near(store, kinds=("topic",))] == ["top_1"]
        assert {one.ref.owner_id for one in await near(store, kinds=("item", "topic"))} == {"itm_1", "top_1"}
        assert await near(store, kinds=()) == []

    async def test_users_and_agents_are_apart(self, store: Store) -> None:
        """No user finds another user's vectors; an agent finds its own and those of the user tier, the owner all."""
        ada = await open_session(store, None, user("Ada to the guide."))
        clerk = await open_session(store, session_record("ses_2", agent_id=CLERK), user("Ada to the clerk."))
        ben = await open_session(store, session_record("ses_3", user_id=BEN), user("Ben."))
        await put(store, item("itm_user"), item("itm_guide", tier="agent"))
        await put(store, replace(item("itm_clerk", tier="agent", agent_id=CLERK)), topic("top_user"))
        await put(store, topic("top_clerk", tier="agent", agent_id=CLERK), topic("top_guide", tier="agent"))
        await put(store, item("itm_ben", user_id=BEN))
        assert (await embed(store), await embed(store, user_id=BEN)) == (8, 2)
        shared = {"itm_user", "top_user"}
        assert await found(store, agent_id=GUIDE) == {ada.id, "itm_guide", "top_guide", *shared}
        assert await found(store, agent_id=CLERK) == {clerk.id, "itm_clerk", "top_clerk", *shared}
        assert await found(store) == await found(store, agent_id=GUIDE) | await found(store, agent_id=CLERK)
        assert await found(store, BEN) == {ben.id, "itm_ben"}
        assert await found(store, agent_id=AgentId("agt_new")) == shared
        assert await found(store, UserId("usr_nobody")) == set()

    async def test_nobody_gives_another_users_words_a_vector(self, store: Store) -> None:
        """A row that names another user's message or item is left out."""
        await open_session(store, None, user("Ada."))
        await put(store, item("itm_1"))
        rows = [
            VectorRow(ref=words.ref, content_hash=words.content_hash, vector=EAST)
            for kind in KINDS
            for words in await missing(store, kind)
        ]
        await open_session(store, session_record("ses_2", user_id=BEN), user("Ben."))
        assert len(rows) == 2
        assert await store.put_vectors(BEN, SPACE, rows) == 0
        assert await store.put_vectors(UserId("usr_nobody"), SPACE, rows) == 0
        assert await store.count_vectors(ADA) == await store.count_vectors(BEN) == {}

    async def test_spaces_are_apart(self, store: Store) -> None:
        """What one model embedded is not found by another's vectors, nor by the same model's of another size."""
        await put(store, item("itm_1"))
        assert await embed(store) == 1
        assert await near(store, space=OTHER) == []
        assert await embed(store, space=OTHER) == 1
        assert len(await near(store, space=OTHER)) == len(await near(store)) == 1
        smaller = Space(SPACE.model, 4)
        assert await near(store, EAST[:4], space=smaller) == []
        assert await store.count_vectors(ADA) == {SPACE: 1, OTHER: 1}

    async def test_a_vector_of_another_size_is_refused(self, store: Store) -> None:
        """A vector that does not fit its space is an error, whether it is kept or searched with, and nothing is kept."""
        await put(store, item("itm_1"), item("itm_2", "Another."))
        with pytest.raises(InvalidInputError, match="3 numbers; expected 8"):
            await near(store, EAST[:3])
        one, two = await missing(store, "item")
        rows = [
            VectorRow(ref=one.ref, content_hash=one.content_hash, vector=EAST),
            VectorRow(ref=two.ref, content_hash=two.content_hash, vector=EAST[:3]),
        ]
        with pytest.raises(InvalidInputError, match="3 numbers; expected 8"):
            await store.put_vectors(ADA, SPACE, rows)
        assert await store.count_vectors(ADA) == {}

    async def test_a_newer_vector_replaces(self, store: Store) -> None:
        """The same words embedded again have one vector, the newer."""
        await put(store, item("itm_1"))
        [words] = await missing(store, "item")
        for vector in (EAST, NORTH):
            row = VectorRow(ref=words.ref, content_hash=words.content_hash, vector=vector)
            assert await store.put_vectors(ADA, SPACE, [row]) == 1
        assert await store.count_vectors(ADA) == {SPACE: 1}
        assert [one.similarity for one in await near(store, NORTH)] == pytest.approx([1.0])

    async def test_an_erased_message_has_no_vector(self, store: Store) -> None:
        """An erase takes the vectors of every space; what an embedder made of it meanwhile is not kept."""
        session = await open_session(store, None, user("Secret."), user("Plain."))
        late = await missing(store)
        await embed(store)
        await embed(store, space=OTHER)
        await store.erase_message(await plan_bare_erasure(store, session.id, 1), erased_at=audit(at=90).at)
        assert (
            [one.ref.seq for one in await near(store)] == [one.ref.seq for one in await near(store, space=OTHER)] == [2]
        )
        assert await store.count_vectors(ADA) == {SPACE: 1, OTHER: 1}
        rows = [VectorRow(ref=words.ref, content_hash=words.content_hash, vector=EAST) for words in late]
        assert await store.put_vectors(ADA, SPACE, rows) == 1
        assert await missing(store) == []
        assert [one.ref.seq for one in await near(store)] == [2]

    async def test_an_item_that_is_no_longer_active_has_no_vector(self, store: Store) -> None:
        """Superseded, quarantined and erased items are not found; one that comes back is missing first."""
        rows = [item(f"itm_{n}", f"Berth {n} is mine.") for n in range(4)]
        await put(store, *rows)
        await embed(store)
        await put(
            store,
            replace(rows[0], status="superseded", revision=2),
            replace(rows[1], status="quarantined", revision=2),
            erased(rows[2]),
            has_erased=True,
        )
        assert await found(store) == {"itm_3"}
        assert await store.count_vectors(ADA) == {SPACE: 1}
        await put(store, replace(rows[0], revision=3))
        assert await missing_refs(store, "item") == [VectorRef("item", "itm_0")]
        assert await found(store) == {"itm_3"}

    async def test_other_words_want_another_vector(self, store: Store) -> None:
        """A changed statement or topic is missing again; what was embedded of the old words is not kept, nor found."""
        first, written = item("itm_1", "Berth 4."), topic("top_1")
        await put(store, first, written)
        late = [await missing(store, kind) for kind in ("item", "topic")]
        await embed(store)
        await put(store, replace(item("itm_1", "Berth 5."), revision=2), replace(written, content="New.", revision=2))
        assert await found(store) == set()
        rows = [
            VectorRow(ref=words.ref, content_hash=words.content_hash, vector=EAST)
            for listed in late
            for words in listed
        ]
        assert len(rows) == 2
        assert await store.put_vectors(ADA, SPACE, rows) == 0
        assert [words.text for words in await missing(store, "item")] == ["Berth 5."]
        assert await missing_refs(store, "topic") == [VectorRef("topic", "top_1")]

    async def test_said_again_keeps_its_vector(self, store: Store) -> None:
        """A revision with the same words needs no embedder."""
        first = item("itm_1")
        await put(store, first)
        await embed(store)
        await put(store, replace(first, revision=2, shelf="archive"))
        assert await missing(store, "item") == []
        assert await found(store) == {"itm_1"}

    async def test_a_wipe_takes_vectors(self, store: Store) -> None:
        """A wipe of memory leaves the vectors of messages and of other users, and no other."""
        session = await open_session(store, None, user("Hello."))
        await put(store, item("itm_1"), topic("top_1"))
        await put(store, item("itm_ben", user_id=BEN))
        await embed(store)
        await embed(store, user_id=BEN)
        await embed(store, space=OTHER)
        counts = await store.wipe_memory(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))
        assert counts["vectors"] == 4
        assert await found(store) == {session.id}
        assert await store.count_vectors(ADA) == {SPACE: 1, OTHER: 1}
        wiped = await store.wipe_user(ADA, expected=await store.read_memory_version(ADA), entry=audit("wipe"))
        assert wiped.counts["vectors"] == 2
        assert await store.count_vectors(ADA) == {}
        assert await store.count_vectors(BEN) == {SPACE: 1}

    async def test_tending_changes_nothing_that_is_found(self, store: Store) -> None:
        """What a store prepares for many vectors gives the same to a user with few, and nothing to an unknown one."""
        await put(store, item("itm_1"), item("itm_2", "Another."))
        await embed(store)
        before = await near(store)
        await store.tend_vectors(ADA)
        await store.tend_vectors(UserId("usr_nobody"))
        assert await near(store) == before
        assert len(before) == 2

    async def test_dropping(self, store: Store) -> None:
        """All vectors of a user go, or those of every space but one; what has none is missing again."""
        await put(store, item("itm_1"), item("itm_2", "Another."))
        await put(store, item("itm_ben", user_id=BEN))
        for user_id in (ADA, BEN):
            await embed(store, user_id=user_id)
        await embed(store, space=OTHER)
        assert await store.drop_vectors(ADA, keep=OTHER, limit_count=1) == 1
        assert await store.drop_vectors(ADA, keep=OTHER, limit_count=9) == 1
        assert await store.count_vectors(ADA) == {OTHER: 2}
        assert len(await missing(store, "item")) == 2
        assert await store.drop_vectors(ADA, keep=Space("never", 3)) == 2
        assert await store.drop_vectors(ADA) == await store.drop_vectors(UserId("usr_nobody")) == 0
        assert await store.count_vectors(BEN) == {SPACE: 1}

    async def test_a_branch_finds_what_it_shares_once(self, store: Store) -> None:
        """A shared message has one vector, under the session that stores it."""
        parent = await open_session(store, None, user("One."), user("Two."))
        state = await store.read_state(parent.id)
        branch = await branch_session(store, parent, "ses_2", state=state)
        await append_wires(store, branch.id, user("Three."))
        assert await embed(store) == 3
        refs = [(one.ref.owner_id, one.ref.seq) for one in await near(store)]
        assert sorted(refs) == [(parent.id, 1), (parent.id, 2), (branch.id, 3)]

    async def test_recall_of_the_exact_search(self, store: Store) -> None:
        """Among clustered vectors at least 98 of 100 of the nearest ten are found, with exact similarities, in order."""
        clusters, count, asked_count = Clusters(7, dimensions=96, theme_count=15), 1_500, 30
        space = Space("clusters", clusters.dimensions)
        await put(store, *[item(f"itm_{n}", f"Berth {n} of row {n % 7}.") for n in range(count)])
        vectors: dict[VectorRef, Vector] = {}
        for words in await store.list_missing(ADA, "item", space, limit_count=count):
            vectors[words.ref] = clusters.draw()
            row = VectorRow(ref=words.ref, content_hash=words.content_hash, vector=vectors[words.ref])
            await store.put_vectors(ADA, space, [row])
        units = {ref: normalise(vector) or () for ref, vector in vectors.items()}
        hits_count = 0
        for _ in range(asked_count):
            question = clusters.ask()
            unit = normalise(question) or ()
            exact = nlargest(10, units, key=partial(_compare_to, unit, units))
            answers = await near(store, question, space=space, limit_count=10)
            similarities = [one.similarity for one in answers]
            assert similarities == sorted(similarities, reverse=True)
            assert similarities == pytest.approx([compare(unit, units[one.ref]) for one in answers], abs=1e-4)
            hits_count += len({one.ref for one in answers}.intersection(exact))
        assert hits_count / (10 * asked_count) >= 0.98

    async def test_a_closed_store_says_so(self, store: Store) -> None:
        """Every method raises the same error once the store is closed."""
        await store.close()
        for asked in (
            near(store),
            missing(store),
            store.put_vectors(ADA, SPACE, []),
            store.count_vectors(ADA),
            store.drop_vectors(ADA),
            store.require_search(),
        ):
            with pytest.raises(StoreUnavailableError):
                await asked
