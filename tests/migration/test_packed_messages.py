"""Messages of a release that stored their JSON as it is."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

import everfold
from everfold.adapters.sql.packed_messages import unpack_message

pytestmark = pytest.mark.anyio

SAID = "I would like to remember that the kiln of the north pier was loaded on Monday, and that it costs 40 euros. "


async def test_plain_messages_are_packed_and_read_the_same(tmp_path: Path) -> None:
    """A file with plain JSON opens, takes less room for it, and gives the same bytes to a provider."""
    path = tmp_path / "old.db"
    before = await _show(path, [{"role": "user", "content": f"{SAID}{number}"} for number in range(9)])
    with closing(apsw.Connection(str(path))) as database:
        database.create_scalar_function("plain", lambda *values: unpack_message(values[0]), 1)
        database.execute("UPDATE messages SET content = plain(content), lines = plain(lines)")
        database.execute("DELETE FROM migrations WHERE name LIKE '%packed_messages.sql'")
        plain_bytes = _count_bytes(database)
    assert await _show(path) == before
    with closing(apsw.Connection(str(path))) as database:
        assert _count_bytes(database) < plain_bytes * 2 / 3


async def _show(path: Path, said: list[dict[str, str]] | None = None) -> object:
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(user="ada", agent="guide", limit=8_000)
        for message in said or ():
            await session.append(message)
        assert (await session.verify()).is_sound
        return (await session.window()).render("openai")


def _count_bytes(database: apsw.Connection) -> int:
    rows = database.execute("SELECT length(content) + coalesce(length(lines), 0) FROM messages").fetchall()
    return sum(count for (count,) in rows)
