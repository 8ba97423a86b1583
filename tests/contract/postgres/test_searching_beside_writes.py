"""Searches beside writes of the same user, over both kinds of store: what is stored behind a search's count of rows."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import pytest

from everfold.adapters.postgres.words import PostgresWords
from everfold.adapters.sql.database import TermCounts
from everfold.adapters.sqlite.words import SqliteWords
from everfold.bootstrap import open_store
from everfold.ports.stores import Store
from everfold.testing.contract.history import find, places
from everfold.testing.kit.builders import CLERK, GUIDE, append_wires, open_session, session_record, user

Write = Callable[[Store], Coroutine[Any, Any, object]]


@dataclass(frozen=True, slots=True)
class Processes:
    """One store, as two processes have it open."""

    searching: Store
    writing: Store
    monkeypatch: pytest.MonkeyPatch

    def write_between(self, write: Write) -> None:
        """Have the rows of the next search counted, then the write carried out, then the rows looked for."""
        loop = asyncio.get_running_loop()

        def write_now() -> None:
            self.monkeypatch.undo()
            asyncio.run_coroutine_threadsafe(write(self.writing), loop).result(timeout=60)

        for kind in (SqliteWords, PostgresWords):
            self.monkeypatch.setattr(kind, "read_counts", before(write_now, kind.read_counts))


def before(act: Callable[[], None], read: Callable[..., TermCounts]) -> Callable[..., TermCounts]:
    """The same function, which acts before."""

    def act_then_read(*arguments: object) -> TermCounts:
        act()
        return read(*arguments)

    return act_then_read


@pytest.fixture(params=["file_url", "database_url"])
async def processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Processes]:
    """An empty store of each kind."""
    url = request.getfixturevalue(request.param)
    opened = Processes(await open_store(url), await open_store(url), monkeypatch)
    yield opened
    await opened.searching.close()
    await opened.writing.close()


async def test_an_agent_never_sees_what_another_one_stores_meanwhile(processes: Processes) -> None:
    """A search of the user's one agent gives no message of a second agent that begins beside it."""
    own = await open_session(processes.searching, session_record("ses_1"), user("The kiwi ships on Fridays."))
    other = session_record("ses_2", agent_id=CLERK)
    processes.write_between(lambda store: open_session(store, other, user("The kiwi of the clerk.")))
    assert places(await find(processes.searching, "kiwi", agent_id=GUIDE)) == {(own.id, 1)}
    assert len(await find(processes.searching, "kiwi")) == 2


async def test_a_session_never_sees_what_another_one_stores_meanwhile(processes: Processes) -> None:
    """A search of the user's one session gives no message of a second session that begins beside it."""
    own = await open_session(processes.searching, session_record("ses_1"), user("The kiwi ships on Fridays."))
    other = session_record("ses_2", is_current=False)
    processes.write_between(lambda store: open_session(store, other, user("Another kiwi.")))
    assert places(await find(processes.searching, "kiwi", session_id=own.id)) == {(own.id, 1)}
    assert len(await find(processes.searching, "kiwi")) == 2


async def test_first_messages_are_found_beside_their_append(processes: Processes) -> None:
    """A search that began in an empty log gives what was appended meanwhile."""
    own = await open_session(processes.searching, session_record("ses_1"))
    processes.write_between(lambda store: append_wires(store, own.id, user("The kiwi ships."), user("A kiwi stays.")))
    assert places(await find(processes.searching, "kiwi")) == {(own.id, 1), (own.id, 2)}
