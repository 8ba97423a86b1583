"""Memory files in SQL. They are changed with the rest of memory, by `everfold.adapters.sql.memory.change_memory`."""

from typing import cast

from everfold.adapters.sql.codec import blob_to_text, from_micros, text_to_blob, to_micros
from everfold.adapters.sql.database import Database
from everfold.adapters.sql.owners import find_agent_key, find_user_key, get_agent_key
from everfold.core.memory.files import FileEntry, FilePlace, MemoryFile
from everfold.core.primitives.ids import AgentId, UserId


def list_files(database: Database, user_id: UserId, agent_id: AgentId) -> list[FileEntry]:
    """See `FileStore.list_files`."""
    user_key, agent_key = find_user_key(database, user_id), find_agent_key(database, agent_id)
    rows = database.rows("list_files", user_key=user_key, agent_key=agent_key)
    return [FileEntry(cast("str", path), cast("int", chars_count)) for path, chars_count in rows]


def read_file(database: Database, user_id: UserId, agent_id: AgentId, path: str) -> MemoryFile | None:
    """See `FileStore.read_file`."""
    user_key, agent_key = find_user_key(database, user_id), find_agent_key(database, agent_id)
    row = database.row("read_file", user_key=user_key, agent_key=agent_key, path=path)
    return None if row is None else _make_file(user_id, agent_id, path, *row)


def read_files(database: Database, user_id: UserId) -> list[MemoryFile]:
    """See `FileStore.read_files`."""
    rows = database.rows("read_files", user_key=find_user_key(database, user_id))
    files = (
        _make_file(user_id, AgentId(cast("str", agent_id)), cast("str", path), content, at)
        for agent_id, path, content, at in rows
    )
    return sorted(files, key=lambda file: file.place)


def _make_file(user_id: UserId, agent_id: AgentId, path: str, content: object, written_at: object) -> MemoryFile:
    return MemoryFile(
        user_id=user_id,
        agent_id=agent_id,
        path=path,
        content=blob_to_text(content) or "",
        written_at=from_micros(written_at),
    )


def write_file(database: Database, user_key: int, file: MemoryFile) -> None:
    """Store a file, in place of the one with its path."""
    database.run(
        "write_file",
        user_key=user_key,
        agent_key=get_agent_key(database, file.agent_id),
        path=file.path,
        written_at=to_micros(file.written_at),
        chars_count=len(file.content),
        content=text_to_blob(file.content),
    )


def delete_file(database: Database, user_key: int, place: FilePlace) -> None:
    """Remove a file; nothing happens where there is none."""
    agent_key = get_agent_key(database, place.agent_id)
    database.run("delete_file", user_key=user_key, agent_key=agent_key, path=place.path)
