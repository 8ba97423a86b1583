"""What every store holds to about overviews. See `everfold.testing.contract`."""

# ruff: noqa: S101  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

from everfold.core.compaction.record import Outcome
from everfold.core.observation.overview import WorkCounts
from everfold.core.primitives.ids import SessionId, UserId
from everfold.ports.stores import Store
from everfold.testing.contract.compaction import LATER
from everfold.testing.contract.usage import call
from everfold.testing.contract.work import begin
from everfold.testing.kit.builders import append_wires, minute, open_session, session_record, talk

DEGRADED = Outcome(state="degraded", digest="failed", problem="the model was silent")


class OverviewContract:
    """An overview counts what is there over all users, and lists what waits and what failed."""

    async def test_an_empty_store_has_nothing(self, store: Store) -> None:
        """Nothing is counted, listed or summed before anything was stored."""
        assert await store.count_work() == WorkCounts(users_count=0, sessions_count=0, compactions_count=0)
        assert await store.list_unfinished(limit_count=9) == await store.list_degraded(limit_count=9) == []
        assert await store.list_agents() == []
        assert await store.sum_spend(since=minute(0)) == []

    async def test_what_waits_is_counted_and_listed(self, store: Store) -> None:
        """A compaction waits until it has ended; the users and sessions of everybody are counted."""
        begun = {}
        for name in ("ses_1", "ses_2"):
            record = session_record(name, user_id=UserId(f"usr_{name}"))
            await open_session(store, record)
            await append_wires(store, SessionId(name), *talk(30))
            begun[name] = (await begin(store, SessionId(name), f"evt_{name}")).compaction
        counts = await store.count_work()
        assert (counts.users_count, counts.sessions_count, counts.compactions_count) == (2, 2, 2)
        assert counts.waiting == (("pending", 2),)
        assert await store.list_agents() == [session_record("ses_1").agent_id]
        assert counts.oldest_at == min(compaction.begun_at for compaction in begun.values())
        listed = await store.list_unfinished(limit_count=9)
        assert sorted(compaction.id for compaction in listed) == ["evt_ses_1", "evt_ses_2"]
        assert len(await store.list_unfinished(limit_count=1)) == 1

    async def test_a_degraded_event_is_listed_apart(self, store: Store) -> None:
        """A compaction that ended degraded waits no more, and is found by a search for it."""
        await open_session(store, session_record("ses_1"))
        await append_wires(store, SessionId("ses_1"), *talk(30))
        begun = await begin(store, SessionId("ses_1"), "evt_1")
        await store.commit_compaction(
            begun.compaction.id,
            begun.fold,
            begun.after,
            expected_revision=begun.begun.revision,
            committed_at=LATER,
            outcome=DEGRADED,
        )
        counts = await store.count_work()
        assert (counts.waiting, counts.degraded_count, counts.oldest_at) == ((), 1, None)
        assert [compaction.id for compaction in await store.list_degraded(limit_count=9)] == ["evt_1"]
        assert await store.list_unfinished(limit_count=9) == []

    async def test_spend_is_summed_by_model_and_purpose(self, store: Store) -> None:
        """Calls from a moment on are counted by model and purpose; an unknown price counts nothing, and is told."""
        calls = [
            replace(call("call_1", cost_usd=9.0, at=0), input_tokens=1),
            replace(call("call_2", cost_usd=0.5, at=5), input_tokens=100, cached_tokens=40, output_tokens=10),
            replace(call("call_3", at=6), input_tokens=50, is_uncounted=True),
            replace(call("call_4", cost_usd=0.25, at=7), purpose="chat"),
        ]
        for one in calls:
            await store.record_call(one)
        spends = await store.sum_spend(since=minute(5))
        assert [(one.purpose, one.calls_count, one.cost_usd, one.uncounted_count) for one in spends] == [
            ("chat", 1, 0.25, 0),
            ("digest", 2, 0.5, 1),
        ]
        assert (spends[1].input_tokens, spends[1].cached_tokens, spends[1].output_tokens) == (150, 40, 10)
