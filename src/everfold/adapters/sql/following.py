"""Followed transcripts in SQL. Each function is one call of the port, inside the transaction that the store opened."""

from typing import cast

from everfold.adapters.sql.codec import blob_to_text, text_to_blob
from everfold.adapters.sql.database import Database
from everfold.adapters.sql.memory_records import find_session_keys
from everfold.adapters.sql.owners import find_agent_key, find_user_key, get_agent_key, get_user_key
from everfold.core.log.following import FollowedTranscript
from everfold.core.primitives.ids import AgentId, SessionId, UserId


def find_followed(database: Database, user_id: UserId, agent_id: AgentId, name: str) -> FollowedTranscript | None:
    """See `FollowingStore.find_followed`."""
    user_key, agent_key = find_user_key(database, user_id), find_agent_key(database, agent_id)
    row = database.row("find_followed", user_key=user_key, agent_key=agent_key, conversation=name)
    return None if row is None else _make_followed(user_id, agent_id, name, *row)


def list_followed(database: Database, user_id: UserId | None) -> list[FollowedTranscript]:
    """See `FollowingStore.list_followed`."""
    rows = database.rows("list_followed") if user_id is None else database.rows("list_followed_of", user_id=user_id)
    return [_make_followed(*row) for row in rows]


def keep_followed(database: Database, followed: FollowedTranscript) -> None:
    """See `FollowingStore.keep_followed`."""
    session_id = followed.session_id
    database.run(
        "keep_followed",
        user_key=get_user_key(database, followed.user_id),
        agent_key=get_agent_key(database, followed.agent_id),
        conversation=followed.name,
        session_key=None if session_id is None else find_session_keys(database, session_id)[0],
        path=text_to_blob(followed.path),
        file_id=followed.file_id,
        read_bytes=followed.read_bytes,
        left_seq=followed.left_seq,
    )


def restore_followed(database: Database, followed: FollowedTranscript) -> None:
    """Store the position of an erased session where there is none of the same name."""
    if find_followed(database, followed.user_id, followed.agent_id, followed.name) is None:
        keep_followed(database, followed)


def leave_followed(database: Database, user_key: int, session_key: int) -> None:
    """Take everything but name and position from what is followed into a session that is erased."""
    database.run("leave_followed", user_key=user_key, session_key=session_key, path=text_to_blob(""))


def _make_followed(
    user_id: object,
    agent_id: object,
    name: object,
    session_id: object,
    path: object,
    file_id: object,
    read_bytes: object,
    left_seq: object,
) -> FollowedTranscript:
    return FollowedTranscript(
        user_id=UserId(cast("str", user_id)),
        agent_id=AgentId(cast("str", agent_id)),
        name=cast("str", name),
        session_id=None if session_id is None else SessionId(cast("str", session_id)),
        path=blob_to_text(path) or "",
        file_id=cast("str", file_id),
        read_bytes=cast("int", read_bytes),
        left_seq=cast("int", left_seq),
    )
