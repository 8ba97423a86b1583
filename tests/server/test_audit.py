"""The audit and the extractions over HTTP."""

from dataclasses import replace

import httpx2
import pytest
from tests.server.conftest import Served
from tests.server.memory_rows import ADA, BEN, DESK, SHOP, fact, store_of

from everfold.core.memory.records import MemoryChange, MemoryVersion
from everfold.errors import StoreUnavailableError
from everfold.testing.kit.memory_builders import audit, change, extraction, put

pytestmark = pytest.mark.anyio

AUDIT = f"/api/users/{ADA}/memory/audit"
EXTRACTIONS = f"/api/users/{ADA}/extractions"


async def read_all(client: httpx2.AsyncClient, path: str) -> list[dict[str, object]]:
    """Every entry, page by page."""
    entries: list[dict[str, object]] = []
    cursor = ""
    while cursor is not None:
        page = (await client.get(f"{path}{cursor and f'&cursor={cursor}'}")).json()
        entries += page["entries"]
        cursor = page["next_cursor"]
    return entries


async def test_pages_give_each_entry_once(served: Served, admin: httpx2.AsyncClient) -> None:
    """Pages of the audit give every entry that was there once, newest first, also those of one moment."""
    rows = [audit("write", at=at // 3, user_id=ADA, about=f"itm_{at}") for at in range(8)]
    await store_of(served).record_audit([*rows, audit(user_id=BEN)])
    entries = await read_all(admin, f"{AUDIT}?limit=3")
    assert [entry["about"] for entry in entries if entry["action"] == "write"] == [
        [f"itm_{at}"] for at in reversed(range(8))
    ]


async def test_an_action_narrows_the_audit(served: Served, admin: httpx2.AsyncClient) -> None:
    """With an action only entries of it are given, page by page, each once."""
    rows = [audit("erase" if at % 2 else "write", at=at, user_id=ADA, about=f"itm_{at}") for at in range(9)]
    await store_of(served).record_audit(rows)
    entries = await read_all(admin, f"{AUDIT}?action=erase&limit=3")
    assert [entry["about"] for entry in entries] == [[f"itm_{at}"] for at in (7, 5, 3, 1)]
    assert (await admin.get(f"{AUDIT}?action=other")).status_code == 422


async def test_a_time_range_narrows_the_audit(served: Served, admin: httpx2.AsyncClient) -> None:
    """With `since` and `until` entries of that time are given, the first moment with them, page by page, each once."""
    rows = [audit("write", at=at, user_id=ADA, about=f"itm_{at}") for at in range(9)]
    await store_of(served).record_audit(rows)
    since, until = (rows[at].at.isoformat().replace("+00:00", "Z") for at in (2, 7))
    for limit in (2, 5, 100):
        entries = await read_all(admin, f"{AUDIT}?action=write&since={since}&until={until}&limit={limit}")
        assert [entry["about"] for entry in entries] == [[f"itm_{at}"] for at in (6, 5, 4, 3, 2)]
    assert await read_all(admin, f"{AUDIT}?action=write&until={since}&limit=100") == [
        one for one in await read_all(admin, f"{AUDIT}?action=write") if one["about"] in (["itm_0"], ["itm_1"])
    ]


async def test_an_entry_tells_whether_its_session_is_gone(served: Served, admin: httpx2.AsyncClient) -> None:
    """Where an entry names a session it says whether that was erased; where it names none it says nothing of one."""
    engine = served.runtime.engine
    kept, gone = await engine.session(beside=True, user=ADA), await engine.session(beside=True, user=ADA)
    for session in (kept, gone):
        await session.append([{"role": "user", "content": "The mast is made of larch."}])
    rows = [audit("write", at=at, user_id=ADA, about=id_) for at, id_ in enumerate(("itm_1", kept.id, gone.id))]
    await store_of(served).record_audit(rows)
    await engine.erase_session(gone.id)
    entries = (await admin.get(f"{AUDIT}?action=write")).json()["entries"]
    assert [entry["session_deleted"] for entry in entries] == [True, False, None]


@pytest.mark.parametrize(
    "path", [f"/api/users/{ADA}/items", f"/api/users/{ADA}/dreams", f"/api/search?user={ADA}&q=berth"]
)
async def test_a_read_that_cannot_be_audited_shows_nothing(
    served: Served, admin: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Where the audit cannot record a read of memory, the request fails, and nothing of the memory is sent."""
    await put(store_of(served), fact("itm_1"))
    assert (await admin.get(path)).status_code == 200

    async def fail(entries: object) -> None:  # noqa: ARG001 - as the store is called
        raise StoreUnavailableError("the database is locked")

    monkeypatch.setattr(store_of(served), "record_audit", fail)
    assert (await admin.get(path)).status_code == 503


@pytest.mark.parametrize("cursor", ["x", "1", "-1.2", "1.2.3", "9" * 30, "99999999999999999999.1", "1.", "%00"])
async def test_a_cursor_of_another_form_is_malformed(admin: httpx2.AsyncClient, cursor: str) -> None:
    """A cursor that no page gave is refused with a text that says what to give."""
    answer = await admin.get(f"{AUDIT}?cursor={cursor}")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed_request")
    assert "next_cursor" in answer.json()["detail"]


async def test_extractions_come_from_the_newest_on(served: Served, admin: httpx2.AsyncClient) -> None:
    """Pages give each extraction once, newest first, with counts by kind; one whose session is gone says so."""
    store = store_of(served)
    session = await served.runtime.engine.session(user=ADA, agent=SHOP)
    for at in range(5):
        row = extraction(
            f"ext_{at}", user_id=ADA, agent_id=DESK if at % 2 else SHOP, session_id=session.id if at else "ses_gone"
        )
        row = replace(row, counts=(at, 0, 1, 0, 2), refused_count=at)
        plan = MemoryChange(user_id=ADA, agent_id=row.agent_id, expected=MemoryVersion(), extraction=row)
        await change(store, plan)
    entries = await read_all(admin, f"{EXTRACTIONS}?limit=2")
    assert [entry["id"] for entry in entries] == [f"ext_{at}" for at in reversed(range(5))]
    assert entries[0]["counts"] == {"facts": 4, "preferences": 0, "decisions": 1, "tasks": 0, "open_items": 2}
    assert [entry["session_deleted"] for entry in entries] == [False, False, False, False, True]
    assert (entries[0]["agent"], entries[0]["refused"], entries[0]["by"]) == ("shop", 4, "heuristic")


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "9" * 30])
async def test_an_ordinal_of_another_form_is_malformed(admin: httpx2.AsyncClient, cursor: str) -> None:
    """A cursor of extractions that is no number of ours is refused."""
    assert (await admin.get(f"{EXTRACTIONS}?cursor={cursor}")).status_code == 400
