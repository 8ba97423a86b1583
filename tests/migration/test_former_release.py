"""A database of the version before opens, and every session in it renders the same bytes.

`tests/data/databases/0014.db.gz` was written by the code before the rooms, from generated conversations: digests made of
quotes and of a model, rollups, a degraded compaction, branches, a rewind, an erase, a pin, a refresh, memory and lone
surrogates. `0014.json.gz` holds what that code then rendered of each session, for both providers.
"""

import gzip
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

import everfold
from everfold.adapters.sql.packing import inflate, unpack_revisions, unpack_row
from everfold.adapters.sqlite.store import SqliteStore

pytestmark = pytest.mark.anyio
SETTINGS: dict[str, dict[str, object]] = {
    "memory": {"system": "structured"},
    "compaction": {"synchronous": False},
    "recall": {"enabled": False},  # as it was by default then
}

MADE_ANEW = "ses_0660ea931516f2d70b26e3a4fd8195"
"""The one session without a stored snapshot, for an erase: its snapshot is made by the code of today."""
HEADING_COUNTED = "[Memory holds 1 more; search it.]\\n"
"""What its snapshot said of a topic that had no model's text. That is a heading now, and no snapshot counts it."""

_LINES = (
    "SELECT sessions.id, seq, lines FROM messages JOIN sessions ON sessions.key = session_key WHERE lines IS NOT NULL"
)


@pytest.fixture
def former(project: Path, tmp_path: Path) -> str:
    """The url of a copy of the database."""
    packed = project / "tests" / "data" / "databases" / "0014.db.gz"
    (tmp_path / "former.db").write_bytes(gzip.decompress(packed.read_bytes()))
    return f"sqlite:///{tmp_path / 'former.db'}"


@pytest.fixture
def rendered(project: Path) -> dict[str, dict[str, Any]]:
    """What each session rendered to, by its id and the provider."""
    packed = project / "tests" / "data" / "databases" / "0014.json.gz"
    requests: dict[str, dict[str, Any]] = json.loads(gzip.decompress(packed.read_bytes()))
    return requests


async def test_every_session_renders_as_before(former: str, rendered: dict[str, dict[str, Any]]) -> None:
    """Each session's window is, for each provider, what it was, byte for byte, but for a heading that was counted once."""
    async with everfold.open(former, settings=SETTINGS) as engine:
        shown = {
            record.id: await (await engine.session(id=record.id)).window(preview=True)
            for record in await engine.list_sessions()
        }
        now = {
            name: {provider: window.render(provider) for provider in ("openai", "anthropic")}
            for name, window in shown.items()
        }
    spelled = {name: _spell(requests) for name, requests in rendered.items()}
    counted = [name for name, requests in spelled.items() if HEADING_COUNTED in "".join(requests.values())]
    assert MADE_ANEW in counted
    spelled[MADE_ANEW] = {
        provider: request.replace(HEADING_COUNTED, "") for provider, request in spelled[MADE_ANEW].items()
    }
    assert {name: _spell(requests) for name, requests in now.items()} == spelled


async def test_every_session_verifies(former: str) -> None:
    """All certificates, digests and search rows of the former database are sound."""
    async with everfold.open(former, settings=SETTINGS) as engine:
        for record in await engine.list_sessions():
            verification = await (await engine.session(id=record.id)).verify()
            assert verification.is_sound, verification
        assert await engine.admin.check_store() == []


async def test_every_session_goes_on(former: str) -> None:
    """What was begun before the upgrade takes a message and shows a window that ends with it."""
    async with everfold.open(former, settings=SETTINGS) as engine:
        for record in await engine.list_sessions():
            session = await engine.session(id=record.id)
            await session.append({"role": "user", "content": "And what is next?"})
            messages = (await session.window()).render("openai")["messages"]
            assert "And what is next?" in str(messages[-1])


def _spell(requests: dict[str, Any]) -> dict[str, str]:
    """Requests as JSON text, every key in its order."""
    return {provider: json.dumps(request) for provider, request in requests.items()}


async def test_every_item_reads_as_before(former: str, tmp_path: Path) -> None:
    """Every revision, extraction and audit entry of the former database is read as it was written, from less room."""
    before = _read_memory_rows(tmp_path / "former.db")
    async with everfold.open(former, settings=SETTINGS):
        pass
    with closing(apsw.Connection(str(tmp_path / "former.db"))) as connection:
        sizes = {name: connection.execute(f"SELECT sum(length(content)) FROM {name}").get for name in before}
    after = _read_memory_rows(tmp_path / "former.db")
    assert after == before
    assert all(rows for rows in before.values())
    assert all(sizes[name] < sum(map(len, rows)) for name, rows in before.items())


def _read_memory_rows(path: Path) -> dict[str, list[bytes]]:
    """The plain rows of memory by table; the revisions of an item with the newest last."""
    found: dict[str, list[bytes]] = {"items": [], "item_revisions": [], "extractions": [], "memory_audit": []}
    with closing(apsw.Connection(str(path))) as connection:
        for key, newest in connection.execute("SELECT key, content FROM items ORDER BY key"):
            rows = connection.execute("SELECT content FROM item_revisions WHERE item_key = ? ORDER BY revision", (key,))
            *older, last = unpack_revisions([content for (content,) in rows], newest)
            found["items"].append(last)
            found["item_revisions"] += older
        for name in ("extractions", "memory_audit"):
            rows = connection.execute(
                f"SELECT content FROM {name} ORDER BY id"
                if name == "extractions"
                else f"SELECT content FROM {name} ORDER BY key"
            )
            found[name] = [unpack_row(content) for (content,) in rows]
    return {name: [_rename(row) for row in rows] for name, rows in found.items()}


def _rename(row: bytes) -> bytes:
    """A row as migration 15 leaves it."""
    return row.replace(b'"event_id":', b'"compaction_id":')


async def test_every_quote_and_certificate_reads_as_before(former: str) -> None:
    """Every extract line and certificate of the former database reads as it was written, from less room."""
    path = former.removeprefix("sqlite:///")
    with closing(apsw.Connection(path)) as connection:
        before = {(session_id, seq): json.loads(lines) for session_id, seq, lines in connection.execute(_LINES)}
        certificates = dict(connection.execute("SELECT id, certificate FROM events WHERE certificate IS NOT NULL"))
    assert before
    assert certificates
    store = await SqliteStore.open(path)
    try:
        for (session_id, seq), lines in before.items():
            (note,) = await store.read_notes(session_id, [seq])
            (message,) = await store.read_messages(session_id, [seq])
            assert note.lines == message.lines
            assert [(line.score, line.start, line.quote) for line in note.lines] == [tuple(row[1:4]) for row in lines]
    finally:
        await store.close()
    with closing(apsw.Connection(path)) as connection:
        sizes = {(session_id, seq): len(lines) for session_id, seq, lines in connection.execute(_LINES)}
        packed = dict(connection.execute("SELECT id, certificate FROM compactions WHERE certificate IS NOT NULL"))
    assert {name: inflate(blob) for name, blob in packed.items()} == certificates
    assert sum(map(len, packed.values())) * 2 < sum(map(len, certificates.values()))
    assert sum(sizes.values()) * 2 < sum(len(json.dumps(lines)) for lines in before.values())
