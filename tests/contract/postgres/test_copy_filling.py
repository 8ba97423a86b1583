"""What the benchmarks fill by COPY is what the engine writes message by message."""

import psycopg
from bench.copy_filling import EACH_COUNT, FILLED, fill, name_session, name_user, write_patterns
from bench.recall import Babble

import everfold

SETTINGS = {"recall": {"enabled": False}, "compaction": {"synchronous": True}}
USERS_COUNT = 5
WITH_OWNER = """
SELECT table_name FROM information_schema.columns
WHERE table_schema = 'public' AND column_name = 'user_key' ORDER BY table_name
"""


def count_rows(server_url: str, user_id: str) -> dict[str, int]:
    """How many rows each table has of a user."""
    with psycopg.connect(server_url) as connection:
        [(key,)] = connection.execute("SELECT key FROM users WHERE id = %s", (user_id,)).fetchall()
        tables = [name for (name,) in connection.execute(WITH_OWNER)]
        counts = {
            table: int(connection.execute(f"SELECT count(*) FROM {table} WHERE user_key = %s", (key,)).fetchall()[0][0])
            for table in tables
        }
    return {table: count for table, count in counts.items() if count}


async def test_a_filled_session_is_as_one_that_was_appended(database_url: str, server_url: str) -> None:
    """It has the same rows, shows the same request, finds the same, verifies, and goes on; no other user sees it."""
    async with everfold.open(database_url, settings=SETTINGS) as engine:
        patterns = await write_patterns(engine, server_url, Babble(3), 2)
        appended = await engine.list_sessions()
        fill(server_url, patterns, USERS_COUNT)
        for number in range(USERS_COUNT):
            user_id, model = name_user(number), appended[number % 2]
            session = await engine.session(id=name_session(number))
            like = await engine.session(id=model.id)
            assert count_rows(server_url, user_id) == count_rows(server_url, model.user_id)
            assert set(count_rows(server_url, user_id)) == {*FILLED, "session_owners"} - {"users"}
            shown = (await session.window(preview=True)).render("openai")
            assert shown == (await like.window(preview=True)).render("openai")
            question = str((await like.messages(7, 7))[0].wire["content"])
            found = await engine.search(question, user=user_id, limit=20)
            expected = await engine.search(question, user=model.user_id, limit=20)
            assert [(hit.seq, hit.excerpt) for hit in found] == [(hit.seq, hit.excerpt) for hit in expected]
            assert {hit.session for hit in found} == {session.id}
            assert (await session.verify()).is_sound
        session = await engine.session(user=name_user(0))
        assert session.id == name_session(0)
        await session.append({"role": "user", "content": "The harbour master keeps a heron."})
        assert [hit.seq for hit in await engine.search("heron", user=name_user(0))] == [EACH_COUNT + 1]
        assert await engine.search("heron", user=name_user(2)) == []
        assert await engine.admin.check_store() == []
