"""Users of a database that knew them by any text: each gets a UUID, and the default one adopts what was its own."""

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

import everfold
from everfold.adapters.sql.queries import load_migrations
from everfold.adapters.sqlite.connection import open_database
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.access.users import Binding
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.text.searching import plan_query
from everfold.errors import ConflictError
from everfold.testing.contract.usage import call
from everfold.testing.kit.builders import append_wires, session_record, talk

pytestmark = pytest.mark.anyio
NIL = "00000000-0000-0000-0000-000000000000"
OWN = "6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"
WORDS = ("alder", "birch", "cedar", "elder")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
FORMER = """
DELETE FROM migrations WHERE name >= '0006';
DROP TABLE user_bindings;
DROP INDEX users_default;
ALTER TABLE users DROP COLUMN name;
ALTER TABLE users DROP COLUMN is_default;
ALTER TABLE users DROP COLUMN created_at;
ALTER TABLE sessions DROP COLUMN title;
ALTER TABLE sessions DROP COLUMN folded_title;
ALTER TABLE sessions DROP COLUMN thread;
CREATE UNIQUE INDEX sessions_current ON sessions (user_key, agent_key) WHERE is_current = 1;
"""
"""Takes the migration back, where none came after it."""
LATER = [
    f"DROP {kind} {name}"
    for migration, text in load_migrations("sqlite")
    if migration >= "0007" and not migration.startswith(("0010", "0015", "0017", "0025"))
    for kind, name in re.findall(r"CREATE (?:VIRTUAL |UNIQUE )?(TABLE|INDEX|TRIGGER) (\w+)", text)
]
"""Takes back what came after it: tables, indexes and triggers; those of leases are gone since 0022."""
RENAMED = """
ALTER TABLE compactions RENAME TO events;
ALTER TABLE digests RENAME COLUMN compaction_id TO event_id;
ALTER TABLE model_calls RENAME COLUMN compaction_id TO event_id;
ALTER TABLE session_memory RENAME COLUMN snapshot_compaction TO snapshot_event;
ALTER TABLE memory_versions RENAME TO memory_heads;
ALTER TABLE api_keys RENAME TO access_keys;
DROP INDEX compactions_degraded;
DROP INDEX compactions_revises;
DROP INDEX compactions_session;
DROP INDEX compactions_waiting;
DROP INDEX digests_compaction;
DROP INDEX model_calls_compaction;
DROP INDEX api_keys_name;
CREATE INDEX events_degraded ON events(begun_at) WHERE state = 'degraded';
CREATE INDEX events_revises ON events(revises) WHERE revises IS NOT NULL;
CREATE INDEX events_session ON events(session_key, ordinal);
CREATE INDEX events_waiting ON events(session_key) WHERE state IN ('pending', 'running', 'ready');
CREATE INDEX digests_event ON digests(event_id);
CREATE INDEX model_calls_event ON model_calls(event_id) WHERE event_id IS NOT NULL;
CREATE UNIQUE INDEX access_keys_name ON access_keys(name) WHERE revoked_at IS NULL;
"""
"""Takes back the names of migration 0015."""
INDEXED = """
CREATE INDEX session_memory_user ON session_memory (user_key);
CREATE INDEX turn_recalls_user ON turn_recalls (user_key);
"""
UNOWNED = """
DROP INDEX messages_seq;
DROP INDEX messages_client;
DROP INDEX session_states_owner;
ALTER TABLE session_states DROP COLUMN user_key;
ALTER TABLE messages DROP COLUMN user_key;
ALTER TABLE events DROP COLUMN user_key;
ALTER TABLE digests DROP COLUMN user_key;
CREATE UNIQUE INDEX messages_seq ON messages (session_key, seq);
CREATE UNIQUE INDEX messages_client ON messages (session_key, client_id) WHERE client_id IS NOT NULL;
"""
"""Both take back the owners of migration 0025: what the others drop, and what they leave."""


async def make_former(path: Path, names: Sequence[str], *, agents: Sequence[str] = ("guide",)) -> None:
    """A database of the release before, in which each user has talked with each agent about a word of their own."""
    store = await SqliteStore.open(str(path))
    for at, name in enumerate(names):
        for agent in agents:
            record = session_record(f"ses_{at}_{agent}", user_id=UserId(name), agent_id=AgentId(agent))
            await store.create_session(record, SessionState())
            await append_wires(store, record.id, *talk(3, topic=f"harbour {WORDS[at]} {agent}"))
        await store.record_call(replace(call(f"call_{at}"), user_id=UserId(name)))
    await store.close()
    with closing(apsw.Connection(str(path))) as database:
        database.execute(";".join([INDEXED, RENAMED, *reversed(LATER), UNOWNED, FORMER]))


def read_ids(path: Path) -> dict[str, str]:
    """The id of each user by their name, or their id where they have none."""
    with closing(apsw.Connection(str(path))) as database:
        return {str(name or id_): str(id_) for id_, name in database.execute("SELECT id, name FROM users")}


async def find(path: Path, user_id: str, words: str) -> set[tuple[str, int]]:
    """Where a user finds some words."""
    store = await SqliteStore.open(str(path))
    hits = await store.search(
        plan_query(words), user_id=UserId(user_id), agent_id=None, session_id=None, limit_count=200
    )
    await store.close()
    return {(hit.session_id, hit.seq) for hit in hits}


async def test_every_id_becomes_a_uuid(tmp_path: Path) -> None:
    """A name is bound to its user under a new UUID, a UUID stays in lower case, and calls of models go along."""
    path = tmp_path / "old.db"
    await make_former(path, ["ada", OWN.upper(), "Ben Å"])
    store = await SqliteStore.open(str(path))
    ada, own, ben = await store.list_users(after=None, limit_count=9)
    calls = await store.list_calls(limit_count=9)
    records = await store.list_sessions(user_id=None, agent_id=None, after=None, limit_count=9)
    default = await store.find_default()
    await store.close()
    assert (ada.name, own.name, ben.name) == ("ada", "", "Ben Å")
    assert own.id == OWN
    assert UUID.fullmatch(ada.id)
    assert UUID.fullmatch(ben.id)
    assert ada.id != ben.id
    assert [user.bindings for user in (ada, own, ben)] == [
        (Binding(channel="name", own_id="ada"),),
        (),
        (Binding(channel="name", own_id="Ben Å"),),
    ]
    assert [it.user_id for it in calls] == [it.user_id for it in records] == [ada.id, own.id, ben.id]
    assert ada.created_at == records[0].created_at
    assert default is None


async def test_ids_that_differ_in_case_stay_apart(tmp_path: Path) -> None:
    """Of one UUID in two cases the one in lower case keeps it, and the other keeps its sessions under a new one."""
    path = tmp_path / "old.db"
    await make_former(path, [OWN.upper(), OWN, OWN[:8].upper() + OWN[8:]])
    open_database(str(path)).close()
    ids = read_ids(path)
    assert len(set(ids.values())) == 3
    assert ids[OWN] == OWN
    assert await find(path, OWN, WORDS[1])
    assert not await find(path, OWN, f"{WORDS[0]} {WORDS[2]}")


@pytest.mark.parametrize(
    "names",
    [["default"], ["test"], [NIL], ["ada", NIL, "test", "default"], ["test", "ada", NIL], ["default", "ben", "test"]],
    ids=repr,
)
async def test_the_default_user_adopts_its_own(tmp_path: Path, names: list[str]) -> None:
    """What `default`, the nil UUID and "test" had is the default user's, found by search, and no other user's is."""
    path = tmp_path / "old.db"
    await make_former(path, names, agents=["guide", "clerk"])
    adopted = [at for at, name in enumerate(names) if name in {"default", "test", NIL}]
    async with everfold.open(f"sqlite:///{path}") as engine:
        user = await engine.get_user("default")
        records = await engine.list_sessions(user="default")
        assert {record.id for record in records} == {
            f"ses_{at}_{agent}" for at in adopted for agent in ("guide", "clerk")
        }
        assert await engine.list_sessions(user=user.id) == records
        for record in records:
            assert await (await engine.session(id=record.id)).search("harbour")
            assert (await (await engine.session(id=record.id)).verify()).is_sound
        for at, name in enumerate(names):
            hits = await engine.search(WORDS[at], limit=50)
            assert bool(hits) == (at in adopted)
            assert {hit.session for hit in hits} <= {f"ses_{at}_guide", f"ses_{at}_clerk"}
            if at not in adopted:
                assert {hit.session for hit in await engine.search("harbour", user=name, limit=50)} == {
                    f"ses_{at}_guide",
                    f"ses_{at}_clerk",
                }
        clerk = await engine.search("harbour", agent="clerk", limit=200)
        assert {hit.session for hit in clerk} == {f"ses_{at}_clerk" for at in adopted}
        assert user.name == "default"
        assert len(await engine.list_users()) == len(names) - len(adopted) + 1


async def test_adopted_rows_are_what_an_append_writes(tmp_path: Path) -> None:
    """The index after an adoption equals, word for word and place for place, one that was written for that user."""
    rows = []
    for folder, names in (("adopted", ["default", "test"]), ("plain", ["default", "default"])):
        path = tmp_path / f"{folder}.db"
        if folder == "adopted":
            await make_former(path, names)
        else:
            store = await SqliteStore.open(str(path))
            for at, name in enumerate(names):
                record = session_record(f"ses_{at}_guide", user_id=UserId(name), is_current=at == 0)
                await store.create_session(record, SessionState())
                await append_wires(store, record.id, *talk(3, topic=f"harbour {WORDS[at]} guide"))
            await store.close()
        open_database(str(path)).close()
        with closing(apsw.Connection(str(path))) as database:
            database.execute("CREATE VIRTUAL TABLE temp.places USING fts5vocab (main, message_index, instance)")
            rows.append(list(database.execute("SELECT * FROM temp.places ORDER BY doc, col, offset")))
            database.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
    assert rows[0] == rows[1]
    assert len(rows[0]) > 100


@pytest.mark.parametrize(
    "names", [["default", "test", NIL], ["test", "default"], ["test", NIL], [NIL, "test"]], ids=repr
)
async def test_one_adopted_session_is_current(tmp_path: Path, names: list[str]) -> None:
    """The default user's own current session stays so; where it has none, the one who becomes it keeps theirs."""
    path = tmp_path / "old.db"
    await make_former(path, names)
    async with everfold.open(f"sqlite:///{path}") as engine:
        current = [record.id for record in await engine.list_sessions() if record.is_current]
        first = min(names, key=["default", NIL, "test"].index)
        assert current == [f"ses_{names.index(first)}_guide"]
        assert (await engine.session(agent="guide")).id == current[0]


async def test_a_name_still_reaches_what_was_adopted(tmp_path: Path) -> None:
    """Who asked for the user "test" before gets the same session after, and it is the default user's."""
    path = tmp_path / "old.db"
    await make_former(path, ["test"])
    async with everfold.open(f"sqlite:///{path}") as engine:
        session = await engine.session(user="test", agent="guide")
        assert session.id == "ses_0_guide"
        assert session.record.user_id == (await engine.get_user("default")).id


async def test_an_adoption_happens_once(tmp_path: Path) -> None:
    """Opening again changes no id, and a user "test" of a database that never adopted one is not the default one."""
    path = tmp_path / "old.db"
    await make_former(path, ["default", "ada"])
    seen = []
    for _ in range(3):
        async with everfold.open(f"sqlite:///{path}") as engine:
            await engine.session(user="test")
            seen.append([(user.id, user.name) for user in await engine.list_users()])
    assert seen[0] == seen[1] == seen[2]
    assert [name for _, name in seen[0]] == ["default", "ada", "test"]


async def test_an_adoption_that_fails_is_tried_again(tmp_path: Path) -> None:
    """A migration that cannot finish changes nothing; once it can, the next opening does all of it."""
    path = tmp_path / "old.db"
    await make_former(path, ["default", "test", "ada"])
    with closing(apsw.Connection(str(path))) as database:
        database.execute(
            "CREATE TRIGGER broken BEFORE DELETE ON users BEGIN SELECT raise(ABORT, 'no space for that'); END"
        )
        schema = list(database.execute("SELECT * FROM users"))
    with pytest.raises(ConflictError, match="no space"):
        open_database(str(path))
    with closing(apsw.Connection(str(path))) as database:
        assert list(database.execute("SELECT * FROM users")) == schema
        database.execute("DROP TRIGGER broken")
    async with everfold.open(f"sqlite:///{path}") as engine:
        assert {hit.session for hit in await engine.search("harbour", limit=50)} == {"ses_0_guide", "ses_1_guide"}
