"""What every store holds to about the states of a compaction. See `everfold.testing.contract`."""

# ruff: noqa: S101  # assertions are what a contract suite is made of

from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, get_args

import pytest

from everfold.core.compaction.record import Compaction, Outcome
from everfold.core.compaction.transitions import (
    COMPACTION,
    LAYOUT,
    Cause,
    CompactionState,
    Ending,
    LayoutState,
    find_next,
)
from everfold.core.log.state import SessionState
from everfold.errors import ConflictError
from everfold.ports.stores import Store
from everfold.testing.contract.compaction import LATER, list_all
from everfold.testing.contract.work import after_revision, begin, draft_of, of_another, revise
from everfold.testing.kit.builders import RUN_OUT_SECS, Compacting, open_session, plan_bare_erasure, talk


class Position(NamedTuple):
    """Where a compaction is: in a state, and with its layout in force or not."""

    state: CompactionState
    layout: LayoutState


def list_causes() -> tuple[Cause, ...]:
    """What can happen to a compaction that was begun."""
    return tuple(cause for cause in COMPACTION if None not in COMPACTION[cause])


def find_next_position(position: Position, cause: Cause) -> Position | None:
    """Where a cause leads by the table; None where it is refused."""
    state = find_next(position.state, position.layout, cause)
    return None if state is None else Position(state, LAYOUT[cause][position.layout])


def find_paths() -> dict[Position, tuple[Cause, ...]]:
    """Every position that a compaction can come to, with the shortest way from its beginning."""
    begun = Position("pending", "held")
    paths: dict[Position, tuple[Cause, ...]] = {begun: ()}
    found = [begun]
    for position in found:  # grows while it is read
        for cause in list_causes():
            after = find_next_position(position, cause)
            if after is not None and after not in paths:
                paths[after] = (*paths[position], cause)
                found.append(after)
    return paths


PATHS: Final = find_paths()


@dataclass(slots=True, kw_only=True)
class Driver:
    """Does to one compaction of a store what the causes stand for."""

    store: Store
    begun: Compacting

    async def read(self) -> Position:
        """Where the compaction is."""
        compaction = await self.store.get_compaction(self.begun.compaction.id)
        return Position(compaction.state, "committed" if compaction.is_committed else "held")

    async def do(self, cause: Cause) -> None:
        """Do it; the leases that it gives have run out already."""
        compaction = await self.store.get_compaction(self.begun.compaction.id)
        state = await self.store.read_state(compaction.session_id)
        if cause in get_args(Ending):
            await self._end(compaction, state, cause)  # type: ignore[arg-type]  # as the line above says
        elif cause == "erase":
            await self.store.erase_message(
                await plan_bare_erasure(self.store, compaction.session_id, 3), erased_at=LATER
            )
        elif cause in {"commit", "digest", "reopen"}:
            await self._write(compaction, state, cause)
        else:
            await self._work(compaction, state, cause)

    def _work(self, compaction: Compaction, state: SessionState, cause: Cause) -> Awaitable[object]:
        store, attempt = self.store, compaction.attempts
        if cause == "claim":
            return store.claim_compaction(compaction.id, secs=RUN_OUT_SECS)
        if cause == "renew":
            return store.renew_compaction(compaction.id, attempt=attempt, secs=RUN_OUT_SECS)
        if cause == "release":
            return store.release_compaction(compaction.id, attempt=attempt, problem="", wait_secs=None)
        if cause == "keep draft":
            return store.keep_draft(
                compaction.id, draft_of(epoch=state.epoch), attempt=attempt, extraction=compaction.extraction
            )
        raise NotImplementedError(f"the contract does not know how to do {cause!r}; add it")

    def _write(self, compaction: Compaction, state: SessionState, cause: Cause) -> Awaitable[None]:
        expected = state.revision
        if cause == "reopen":
            after = replace(state, revision=expected + 1)
            return self.store.reopen_compaction(compaction.id, after, expected_revision=expected)
        if cause == "commit":
            after = replace(self.begun.after, revision=expected + 1)
            return self.store.commit_compaction(
                compaction.id, self.begun.fold, after, expected_revision=expected, committed_at=LATER, outcome=None
            )
        revision, done = revise(self.begun, state, f"{compaction.id}_revision")
        after = after_revision(state, revision)
        return self.store.revise_compaction(
            compaction.id, revision, done, after, expected_revision=expected, outcome=None
        )

    def _end(self, compaction: Compaction, state: SessionState, ending: Ending) -> Awaitable[None]:
        outcome = Outcome(state=ending, digest=compaction.digest, extraction=compaction.extraction)
        after = replace(state, revision=state.revision + 1, pending_compactions=())
        return self.store.end_compaction(
            compaction.id, outcome, after, expected_revision=state.revision, ended_at=LATER
        )


async def drive(store: Store, position: Position, name: str) -> Driver:
    """A compaction of a session of its own, brought to a position."""
    record = await open_session(store, of_another(f"ses_{name}"), *talk(8))
    driver = Driver(store=store, begun=await begin(store, record.id, f"evt_{name}"))
    for cause in PATHS[position]:
        await driver.do(cause)
    assert await driver.read() == position
    return driver


class TransitionContract:
    """A compaction moves as `everfold.core.compaction.transitions` lists, and in no other way."""

    @pytest.mark.parametrize("position", PATHS, ids="-".join)
    async def test_a_compaction_moves_as_the_table_lists(self, store: Store, position: Position) -> None:
        """From each position each listed cause leads where the table says."""
        for number, cause in enumerate(list_causes()):
            after = find_next_position(position, cause)
            if after is not None:
                driver = await drive(store, position, str(number))
                await driver.do(cause)
                assert await driver.read() == after, cause

    @pytest.mark.parametrize("position", PATHS, ids="-".join)
    async def test_a_store_refuses_what_the_table_does_not_list(self, store: Store, position: Position) -> None:
        """From each position each other cause is a conflict that changes nothing; an erase skips such a compaction."""
        driver = await drive(store, position, "1")
        session_id = driver.begun.compaction.session_id
        before = await list_all(store, session_id), await store.read_state(session_id)
        for cause in list_causes():
            if find_next_position(position, cause) is None and cause != "erase":
                with pytest.raises(ConflictError):
                    await driver.do(cause)
                assert (await list_all(store, session_id), await store.read_state(session_id)) == before, cause
        if find_next_position(position, "erase") is None:
            await driver.do("erase")
            assert await driver.read() == position
