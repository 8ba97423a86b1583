"""What one connection remembers of the sessions that it has seen."""

from pathlib import Path

import pytest

from everfold.adapters.sql import places
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.primitives.ids import UserId
from everfold.testing.kit.builders import append_wires, open_session, session_record, user


async def test_a_connection_remembers_no_more_than_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sessions it has seen, it remembers at most so many, and finds those again that it has forgotten."""
    monkeypatch.setattr(places, "MOST_PLACES", 3)
    store = await SqliteStore.open(str(tmp_path / "everfold.db"))
    remembered = store._reader.places._places
    ids = []
    for number in range(8):
        record = await open_session(store, session_record(f"ses_{number}", user_id=UserId(f"user {number}")))
        await append_wires(store, record.id, user(f"Berth {number}."))
        ids.append(record.id)
    for number, session_id in [*enumerate(ids)] * 2:
        [content] = await store.read_contents(session_id, 1, 1)
        assert f"Berth {number}.".encode() in content.content
        assert 0 < len(remembered) <= 3
    await store.close()
