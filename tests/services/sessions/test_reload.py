"""What a handle reads of its session in several reads, while another writer commits between them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from everfold import Session
from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.bootstrap import make_engine
from everfold.config import Settings
from everfold.core.compaction.layout import Layout
from everfold.core.log.sessions import SessionRecord
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.errors import ConflictError
from everfold.services.sessions.live import load_session
from everfold.testing.kit.builders import talk, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

LIMIT = 4000
pytestmark = pytest.mark.anyio


class _Meeting(SqliteStore):
    """A store in which something happens once, directly before one of the reads of a reload."""

    meanwhile: Callable[[], Awaitable[object]] | None = None
    place = ""

    async def get_session(self, session_id: SessionId) -> SessionRecord:
        """See the port."""
        await self._meet("record")
        return await super().get_session(session_id)

    async def read_layout(self, compaction_id: CompactionId) -> Layout:
        """See the port."""
        await self._meet("layout")
        return await super().read_layout(compaction_id)

    async def _meet(self, place: str) -> None:
        if place == self.place and (meanwhile := self.meanwhile) is not None:
            self.meanwhile = None
            await meanwhile()


async def erase(writer: Session) -> None:
    """Erase a message that a digest has read."""
    await writer.erase(3)


async def fold_on(writer: Session) -> None:
    """Commit another compaction."""
    await writer.append(talk(8, first=60))
    await writer.compact(keep_recent=2)


async def change_limit(writer: Session) -> None:
    """Change the settings."""
    await writer.configure(system="Be brief.")


@pytest.mark.parametrize("place", ["record", "layout"])
@pytest.mark.parametrize("change", [erase, fold_on, change_limit])
async def test_a_commit_between_the_reads_is_seen_by_the_next(
    change: Callable[[Session], Awaitable[None]], place: str
) -> None:
    """State, record and layout are three reads: what changes after the first is refused to be written upon, and read again."""
    store = _Meeting(IN_MEMORY)
    writer = await make_engine(store, Settings(), clock=FakeClock(), ids=CountingIds()).session(limit=LIMIT)
    await writer.append([*talk(6), user("Where is the harbour?")])
    live = await load_session(store, writer.record)
    await writer.compact(keep_recent=4)
    store.place, store.meanwhile = place, lambda: change(writer)

    await live.reload(store)
    assert store.meanwhile is None
    stale = live.state
    with pytest.raises(ConflictError):
        await store.write_state(
            live.record.id, replace(stale, revision=stale.revision + 1), expected_revision=stale.revision
        )
    await live.reload(store)
    fresh = await load_session(store, writer.record)
    assert (live.state, live.record, live.layout) == (fresh.state, fresh.record, fresh.layout)
    assert live.state.revision > stale.revision
    assert await live.load_messages(store, [1, 2, 3]) == await fresh.load_messages(store, [1, 2, 3])
    await store.close()
