"""A file as a server of many users has it, filled by copying rows: ten thousand users and a million messages in a minute."""

import asyncio
import uuid
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from bench.memory_filling import USER, fill_user, unsynced
from bench.opening import batched, open_engine
from bench.recall import Babble

EACH_COUNT = 100
"""Messages in the session of each user."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much there is."""

    users_count: int
    long_count: int
    items_count: int
    audit_count: int


FULL = Size(users_count=10_000, long_count=50_000, items_count=5_000, audit_count=20_000)
QUICK = Size(users_count=500, long_count=2_000, items_count=500, audit_count=1_000)


def fill_server(path: Path, size: Size) -> None:
    """One user with a long log, items and an audit, and many others with a session each."""
    with unsynced():
        asyncio.run(_fill_first(path, Babble(11), size))
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("synchronous", "off")
        connection.create_scalar_function("new_uuid", _new_uuid, 1, deterministic=True)
        with connection:
            _copy_users(connection, size)
            _copy_audit(connection, size)


async def _fill_first(path: Path, babble: Babble, size: Size) -> None:
    """The user whose rows are copied: a short session, a long one, items, and an entry of the audit."""
    await fill_user(path, babble, messages_count=EACH_COUNT, items_count=size.items_count)
    async with open_engine(path) as engine:
        session = await engine.session(beside=True, user=USER)
        for turns in batched(babble.talk(size.long_count), 500):
            await session.append([{"role": turn.role, "content": turn.text} for turn in turns])
        await (await engine.memory(user=USER)).note_read(actor="key:bench", about=("items",))


def _new_uuid(*numbers: object) -> str:
    return str(uuid.UUID(int=1_000_000 + int(str(numbers[0]))))


def _copy_users(connection: apsw.Connection, size: Size) -> None:
    """Users by number, each with a copy of the first user's short session."""
    connection.execute(
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
        "INSERT INTO users (key, id, name, created_at) "
        "SELECT 1000 + i, new_uuid(i), 'Person ' || printf('%05d', i * 7919 % 100000), i * 1000000 FROM n",
        (size.users_count,),
    )
    connection.execute(
        "INSERT INTO user_bindings SELECT 'telegram', key, key FROM users WHERE key > 1000 AND key % 2 = 0"
    )
    connection.execute(
        "INSERT INTO sessions (key, id, user_key, agent_key, parent_id, branch_seq, started_by, created_at, is_current, "
        "lineage, settings) SELECT 100000 + u.key, 'ses_b' || printf('%08d', u.key), u.key, s.agent_key, NULL, 0, s.started_by, "
        "s.created_at + u.key, 1, replace(s.lineage, s.id, 'ses_b' || printf('%08d', u.key)), s.settings "
        "FROM users AS u, sessions AS s WHERE u.key > 1000 AND s.key = 1"
    )
    connection.execute(
        "INSERT INTO session_states (user_key, session_key, revision, state) "
        "SELECT s.user_key, s.key, t.revision, t.state FROM sessions AS s, session_states AS t "
        "WHERE s.key > 100000 AND t.session_key = 1"
    )
    columns = [str(row[1]) for row in connection.execute("PRAGMA table_info(messages)")]
    names = [column for column in columns if column not in {"id", "user_key", "session_key", "client_id"}]
    taken = ", ".join(f"m.{column}" for column in names)
    connection.execute(
        f"INSERT INTO messages (user_key, session_key, {', '.join(names)}) SELECT s.user_key, s.key, {taken} "
        "FROM sessions AS s, messages AS m WHERE s.key > 100000 AND m.session_key = 1"
    )


def _copy_audit(connection: apsw.Connection, size: Size) -> None:
    """As many entries of the audit as asked for, like the first one."""
    connection.execute(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
        "INSERT INTO memory_audit (user_key, at, content) "
        "SELECT a.user_key, a.at + n.i, a.content FROM n, (SELECT * FROM memory_audit LIMIT 1) AS a",
        (size.audit_count,),
    )
