"""Memory in SQLite and PostgreSQL, driven by the same operations: both answer the same, and nothing crosses users or agents."""

import shutil
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import get_args

from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tests.support.postgres import renew_database
from tests.support.sizes import examples, some

from everfold.adapters.postgres.store import PostgresStore
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.memory.items import Item, ItemId, ItemStatus, Shelf, Tier, identify
from everfold.core.memory.records import AuditPlace, MemoryChange, MemoryVersion
from everfold.core.memory.topics import Topic
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.text.searching import plan_query
from everfold.errors import EverfoldError
from everfold.ports.stores import Store
from everfold.testing.kit.builders import ADA, BEN, CLERK, GUIDE, minute, open_session, session_record
from everfold.testing.kit.memory_builders import audit, dream, erased, evidence, extraction, item, topic

STATUSES: tuple[ItemStatus, ...] = get_args(ItemStatus)
OWNERS = st.sampled_from([ADA, BEN])
AGENTS = st.sampled_from([GUIDE, CLERK])
TIERS: st.SearchStrategy[Tier] = st.sampled_from(["user", "agent"])
NUMBERS = st.integers(0, 5)
WORDS = ("harbour", "berth", "crane", "papers \ud83d", "会議", "noon", "")
STATEMENTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
QUOTES = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(1, 3)), max_size=2)
QUESTIONS = st.sampled_from(["harbour", "berth crane", "会議", '"crane noon"', "papers noon berth", "zeppelin"])


def id_of(user_id: UserId, number: int) -> str:
    """An id that is one user's own."""
    return f"{user_id}_{number}"


@st.composite
def st_items(draw: st.DrawFn, user_id: UserId) -> Item:
    """A revision of one of a user's few items; its number is given when it is written."""
    agent_id, tier, statement = draw(AGENTS), draw(TIERS), draw(STATEMENTS)
    quotes = [evidence(quote, session_id=f"ses_{user_id}", seq=seq) for quote, seq in draw(QUOTES)]
    made = item(id_of(user_id, draw(NUMBERS)), statement, *quotes, user_id=user_id, agent_id=agent_id, tier=tier)
    shelf: Shelf = draw(st.sampled_from(["block", "archive"]))
    status: ItemStatus = draw(st.sampled_from([*STATUSES, "active", "active", "active"]))
    return replace(made, shelf=shelf, status=status)


@st.composite
def st_changes(draw: st.DrawFn) -> MemoryChange:
    """A change of some user's memory, over whatever head there is."""
    user_id, agent_id = draw(OWNERS), draw(AGENTS)
    items = draw(st.lists(st_items(user_id), max_size=4))
    numbers = draw(st.lists(NUMBERS, max_size=2))
    topics = [
        topic(id_of(user_id, number), f"name{number % 3}", user_id=user_id, agent_id=agent_id, tier=draw(TIERS))
        for number in numbers
    ]
    number = draw(NUMBERS)
    return MemoryChange(
        user_id=user_id,
        agent_id=agent_id,
        expected=MemoryVersion(),
        items=tuple(items),
        topics=tuple(replace(one, status=draw(st.sampled_from(["active", "superseded", "erased"]))) for one in topics),
        extraction=draw(
            st.sampled_from([None, extraction(id_of(user_id, number), user_id=user_id, agent_id=agent_id)])
        ),
        dream=draw(st.sampled_from([None, dream(id_of(user_id, number), *topics, user_id=user_id, agent_id=agent_id)])),
        read_through=draw(st.sampled_from([None, number])),
        audit=draw(st.sampled_from([(), (audit(at=number, user_id=user_id),)])),
        has_erased=draw(st.sampled_from([False, False, False, True])),
    )


class MemoryMachine(RuleBasedStateMachine):
    """Two stores side by side, each open twice; every rule does the same in both and compares what came of it."""

    def __init__(self, server_url: str) -> None:
        super().__init__()
        renew_database(server_url)
        self.stack = ExitStack()
        self.folder = Path(mkdtemp())
        self.portal: BlockingPortal = self.stack.enter_context(start_blocking_portal())
        path = str(self.folder / "memory.db")
        self.pairs: list[list[Store]] = [
            [self.portal.call(SqliteStore.open, path) for _ in range(2)],
            [self.portal.call(PostgresStore.open, server_url) for _ in range(2)],
        ]
        self.turn = 0
        for user_id in (ADA, BEN):
            self.both(partial(open_session, record=session_record(f"ses_{user_id}", user_id=user_id)))

    def both(self, ask: Callable[[Store], Awaitable[object]]) -> object:
        """What both stores answer, or the error that both raise."""
        answers = [self.portal.call(self._attempt, ask, stores[self.turn]) for stores in self.pairs]
        assert answers[0] == answers[1]
        return answers[0]

    @staticmethod
    async def _attempt(ask: Callable[[Store], Awaitable[object]], store: Store) -> object:
        try:
            return await ask(store)
        except EverfoldError as error:
            return type(error), error.code

    @initialize(plans=st.lists(st_changes(), min_size=2, max_size=4))
    def begin(self, plans: list[MemoryChange]) -> None:
        """There is always something in memory."""
        for plan in plans:
            self.change(plan)

    @rule()
    def change_connection(self) -> None:
        """Go on by the other connection to each store."""
        self.turn = 1 - self.turn

    @rule(plan=st_changes())
    def change(self, plan: MemoryChange) -> None:
        """Change memory over the head that there is, each item and topic by its next revision."""

        async def ask(store: Store) -> object:
            head = await store.read_memory_version(plan.user_id)
            items, topics = await self._follow(store, plan)
            return await store.change_memory(replace(plan, expected=head, items=items, topics=topics))

        self.both(ask)

    @staticmethod
    async def _follow(store: Store, plan: MemoryChange) -> tuple[tuple[Item, ...], tuple[Topic, ...]]:
        """The rows of a change as the newest revisions; what is erased is blank."""
        held = await store.list_items(plan.user_id, None, statuses=STATUSES, limit_count=999)
        revisions = {one.id: one.revision for one in held}
        items: list[Item] = []
        for one in plan.items:
            revisions[one.id] = revisions.get(one.id, 0) + 1
            blank = erased(one) if one.status == "erased" else one
            items.append(replace(blank, revision=revisions[one.id]))
        written: dict[str, int] = {}
        for name in ("name0", "name1", "name2"):
            for former in await store.list_topic_revisions(plan.user_id, None, name):
                written[former.id] = former.revision
        topics: list[Topic] = []
        for row in plan.topics:
            written[row.id] = written.get(row.id, 0) + 1
            topics.append(replace(row, revision=written[row.id]))
        return tuple(items), tuple(topics)

    @rule(plan=st_changes(), revision=st.integers(0, 4), epoch=st.integers(0, 2))
    def change_over_some_head(self, plan: MemoryChange, revision: int, epoch: int) -> None:
        """Change memory over a head that is most often another one, with revisions that may be stale."""
        expected = MemoryVersion(revision=revision, epoch=epoch)
        self.both(lambda store: store.change_memory(replace(plan, expected=expected)))

    @rule(user_id=OWNERS, text=st.sampled_from(["", "- harbour \ud83d"]), seq=st.integers(1, 9), lag=st.integers(0, 3))
    def keep_for_session(self, user_id: UserId, text: str, seq: int, lag: int) -> None:
        """Freeze a snapshot of memory as it is, or was."""

        async def ask(store: Store) -> object:
            kept = await store.read_session_memory(SessionId(f"ses_{user_id}"))
            revision = max((await store.read_memory_version(user_id)).revision - lag, 0)
            new = replace(kept, extracted_seq=seq, snapshot=text, snapshot_revision=revision, has_snapshot=True)
            await store.write_session_memory(new, expected=kept)
            return new

        self.both(ask)

    @rule(user_id=OWNERS, agent_id=st.one_of(st.none(), AGENTS), question=QUESTIONS)
    def search(self, user_id: UserId, agent_id: AgentId | None, question: str) -> None:
        """Both find the same items, and only those of whom they are for; their scores are their own."""

        async def ask(store: Store) -> object:
            hits = await store.search_items(plan_query(question), user_id, agent_id, limit_count=99)
            assert all(score > 0 for _, score in hits)
            for found, _ in hits:
                assert (found.user_id, found.status) == (user_id, "active")
                assert found.tier == "user" or agent_id in (None, found.agent_id)
            return {found.id: found for found, _ in hits}

        self.both(ask)

    @rule(
        user_id=OWNERS,
        agent_id=st.one_of(st.none(), AGENTS),
        statuses=st.lists(st.sampled_from(STATUSES)),
        is_block=st.booleans(),
        changed_after=st.one_of(st.none(), st.integers(0, 9)),
        size=st.integers(1, 4),
    )
    def list_items(
        self,
        user_id: UserId,
        agent_id: AgentId | None,
        statuses: list[ItemStatus],
        changed_after: int | None,
        size: int,
        *,
        is_block: bool,
    ) -> None:
        """Pages of any size are the same in both, and together they are the whole listing."""

        async def ask(store: Store) -> object:
            async def page(after: ItemId | None, limit_count: int) -> list[Item]:
                return await store.list_items(
                    user_id,
                    agent_id,
                    statuses=statuses,
                    is_block=is_block,
                    changed_after=changed_after,
                    after=after,
                    limit_count=limit_count,
                )

            whole, pages = await page(None, 999), list[Item]()
            while found := await page(pages[-1].id if pages else None, size):
                pages += found
            assert pages == whole
            return whole

        self.both(ask)

    @rule(user_id=OWNERS)
    def wipe(self, user_id: UserId) -> None:
        """Wipe one user's memory; the other one's is as it was."""
        other = BEN if user_id == ADA else ADA

        async def ask(store: Store) -> object:
            before = await self._read_all(store, other)
            head = await store.read_memory_version(user_id)
            counts = await store.wipe_memory(user_id, expected=head, entry=audit("wipe", user_id=user_id))
            assert await self._read_all(store, other) == before
            return counts

        self.both(ask)

    @staticmethod
    async def _read_all(store: Store, user_id: UserId) -> object:
        items = await store.list_items(user_id, None, statuses=STATUSES, limit_count=999)
        identities = [identify(word, tier="user", agent_id=GUIDE) for word in WORDS]
        views = [
            (await store.list_items(user_id, agent_id, limit_count=999), await store.list_topics(user_id, agent_id))
            for agent_id in (GUIDE, CLERK)
        ]
        return (
            await store.read_memory_version(user_id),
            [await store.list_revisions(one.id) for one in items],
            await store.find_related(
                user_id, GUIDE, identities=[*identities, *(one.identity for one in items)], block_count=9
            ),
            [await store.find_quoting(SessionId(f"ses_{user_id}"), [seq]) for seq in (1, 2, 3)],
            views,
            [await store.list_topic_revisions(user_id, None, f"name{number}") for number in range(3)],
            await store.list_dreams(user_id, None, limit_count=999),
            await store.list_extractions(user_id, None, after_ordinal=0, limit_count=999),
            await store.list_extractions(user_id, GUIDE, after_ordinal=1, limit_count=2),
            await store.list_latest_extractions(user_id, None, before_ordinal=None, limit_count=2),
            await store.list_latest_extractions(user_id, GUIDE, before_ordinal=3, limit_count=9),
            [await store.read_cursor(user_id, agent_id) for agent_id in (GUIDE, CLERK)],
            await store.read_session_memory(SessionId(f"ses_{user_id}")),
            await store.list_audit(user_id, limit_count=999),
            await store.list_audit(user_id, before=AuditPlace(minute(3)), limit_count=2),
            await store.list_audit(user_id, action="erase", limit_count=3),
        )

    @invariant()
    def all_is_equal(self) -> None:
        """Every read of both users is the same in both stores, and a file is sound."""

        async def ask(store: Store) -> object:
            problems = await store.check_integrity()
            return [await self._read_all(store, user_id) for user_id in (ADA, BEN)], problems

        answer = self.both(ask)
        assert isinstance(answer, tuple)
        assert answer[-1] == []

    def teardown(self) -> None:
        """Close all."""
        for store in chain(*self.pairs):
            self.portal.call(store.close)
        self.stack.close()
        shutil.rmtree(self.folder)


SETTINGS = settings(
    max_examples=examples(25),
    stateful_step_count=some(20, 15),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def test_both_stores_answer_the_same(server_url: str) -> None:
    """The same, for many courses of events; what is asserted is in the rules and the invariant of the machine."""
    run_state_machine_as_test(partial(MemoryMachine, server_url), settings=SETTINGS)
