"""What every store holds to about calls of a model. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

import pytest

from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import ConflictError, NotFoundError, StoreUnavailableError
from everfold.ports.stores import Store
from everfold.testing.kit.builders import ADA, BEN, minute

EVENT = CompactionId("evt_1")
SESSION = SessionId("ses_1")


def call(id_: str, *, cost_usd: float | None = None, at: int = 0) -> ModelCall:
    """A call that was made so many minutes after the start, of whom and for what a test does not say."""
    return ModelCall(
        id=id_,
        user_id=ADA,
        session_id=SESSION,
        compaction_id=EVENT,
        purpose="digest",
        model="script:given",
        answered_by="script",
        call_number=1,
        started_at=minute(at),
        duration_ms=1500,
        outcome="complete",
        cost_usd=cost_usd,
    )


class UsageContract:
    """A call is recorded once and reads back equal; sums count what is known, listings are paged."""

    async def test_a_recorded_call_reads_back_equal(self, store: Store) -> None:
        """Every field of a call is what it was, whether filled or empty."""
        whole = replace(
            call("call_1", cost_usd=0.012345678901),
            call_number=2,
            outcome="length",
            input_tokens=9000,
            cached_tokens=4000,
            output_tokens=500,
            answered_by="gpt-5-mini-2031-01-01",
        )
        bare = replace(
            call("call_2"),
            session_id=None,
            compaction_id=None,
            answered_by="",
            outcome="rate_limited",
            is_uncounted=True,
        )
        for one in (whole, bare):
            await store.record_call(one)
        assert await store.list_calls(limit_count=9) == [whole, bare]

    async def test_a_model_is_named_in_whole_characters(self, store: Store) -> None:
        """Of a name that a provider gave, NUL and halves of characters are replaced, and the call is recorded."""
        await store.record_call(replace(call("call_1"), answered_by="gpt-\0\ud83d-mini"))
        assert [one.answered_by for one in await store.list_calls(limit_count=9)] == ["gpt-\ufffd\ufffd-mini"]

    async def test_a_call_is_recorded_once(self, store: Store) -> None:
        """A second call under the same id is refused, and the first stays as it was."""
        first = call("call_1", cost_usd=0.5)
        await store.record_call(first)
        with pytest.raises(ConflictError):
            await store.record_call(replace(first, cost_usd=9.0))
        assert await store.list_calls(limit_count=9) == [first]

    async def test_costs_are_summed(self, store: Store) -> None:
        """A sum counts calls since the moment, of the compaction, or both; an unknown cost counts nothing."""
        assert await store.sum_cost_usd() == 0
        assert await store.sum_cost_usd(since=minute(0), compaction_id=EVENT) == 0
        other = replace(call("call_3", cost_usd=4.0, at=20), compaction_id=CompactionId("evt_2"), user_id=BEN)
        none = replace(call("call_5", cost_usd=16.0, at=40), compaction_id=None, session_id=None)
        calls = [call("call_1", cost_usd=1.0), call("call_2", cost_usd=2.0, at=10), other, call("call_4", at=30), none]
        for one in calls:
            await store.record_call(one)
        assert await store.sum_cost_usd() == 23.0
        assert await store.sum_cost_usd(since=minute(10)) == 22.0
        assert await store.sum_cost_usd(since=minute(41)) == 0
        assert await store.sum_cost_usd(compaction_id=EVENT) == 3.0
        assert await store.sum_cost_usd(compaction_id=EVENT, since=minute(1)) == 2.0
        assert await store.sum_cost_usd(compaction_id=CompactionId("evt_none")) == 0

    async def test_calls_are_paged(self, store: Store) -> None:
        """Pages of any size give every call once, in the order of recording, not of ids or times."""
        ids = ["call_3", "call_1", "call_5", "call_2", "call_4"]
        for at, id_ in enumerate(ids):
            await store.record_call(call(id_, at=-at))
        for size in (1, 2, 9):
            listed: list[str] = []
            while page := await store.list_calls(after=listed[-1] if listed else None, limit_count=size):
                assert len(page) <= size
                listed += [one.id for one in page]
            assert listed == ids

    async def test_a_listing_is_of_what_was_asked(self, store: Store) -> None:
        """Calls of a user, a session or a compaction are theirs alone, after a cursor too."""
        await store.record_call(call("call_1"))
        await store.record_call(replace(call("call_2"), user_id=BEN, session_id=SessionId("ses_2")))
        await store.record_call(replace(call("call_3"), compaction_id=CompactionId("evt_2")))
        await store.record_call(replace(call("call_4"), compaction_id=None, session_id=None))

        async def list_ids(**asked: str) -> list[str]:
            return [one.id for one in await store.list_calls(**asked, limit_count=9)]  # type: ignore[arg-type]  # by name

        assert await list_ids(user_id=ADA) == ["call_1", "call_3", "call_4"]
        assert await list_ids(user_id=ADA, after="call_1") == ["call_3", "call_4"]
        assert await list_ids(session_id=SESSION) == ["call_1", "call_3"]
        assert await list_ids(compaction_id=EVENT) == ["call_1", "call_2"]
        assert await list_ids(compaction_id=EVENT, user_id=BEN) == ["call_2"]
        assert await list_ids(session_id="ses_none") == []

    async def test_a_cursor_that_is_none_is_refused(self, store: Store) -> None:
        """A listing after an unknown call, or one that it cannot hold, is refused rather than empty."""
        await store.record_call(call("call_1"))
        with pytest.raises(NotFoundError):
            await store.list_calls(after="call_none", limit_count=9)
        for only in ({"user_id": BEN}, {"session_id": SessionId("ses_2")}, {"compaction_id": CompactionId("evt_2")}):
            with pytest.raises(NotFoundError):
                await store.list_calls(**only, after="call_1", limit_count=9)

    async def test_a_closed_store_records_nothing(self, store: Store) -> None:
        """After closing, calls are neither recorded nor read."""
        await store.close()
        for asking in (store.record_call(call("call_1")), store.sum_cost_usd(), store.list_calls(limit_count=9)):
            with pytest.raises(StoreUnavailableError):
                await asking
