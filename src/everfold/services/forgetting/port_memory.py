"""Port: a user's memory, with their sessions where they are asked for, leaves as one document, and comes back from one, all of it or nothing."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final, get_args

from everfold.core.log.budget import Policy
from everfold.core.log.following import FollowedTranscript
from everfold.core.log.sessions import NO_END, SessionRecord
from everfold.core.memory.items import Item, ItemStatus
from everfold.core.memory.records import AuditAction, AuditEntry, MemoryVersion
from everfold.core.merging.importing import clean_imported
from everfold.core.portability.documents import (
    PortableMemory,
    give_memory,
    read_document,
    rename_sessions,
    write_document,
)
from everfold.core.portability.restoring import plan_sessions
from everfold.core.portability.sessions import PortableFollowed, PortableMessage, PortableSession
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.json_values import JsonObject, encode_json
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.ports.system import Clock, Ids
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import tell_all_memory, tell_appended

MOST_TRIES: Final = 16
_PAGE: Final = 500


async def export_memory(
    store: Store, user_id: UserId, *, clock: Clock, transcripts: bool = False, actor: str = "user"
) -> JsonObject:
    """All that memory has of a user, as it was at one moment, and their sessions where they are asked for. O(all of it).

    A message that is appended meanwhile may be missing; one that is erased meanwhile is.

    Raises:
        ConflictError: memory was changed by others at each of `MOST_TRIES` tries.
    """
    for _ in range(MOST_TRIES):
        version = await store.read_memory_version(user_id)
        memory = await read_memory(store, user_id)
        if transcripts:
            try:
                memory = replace(memory, sessions=await read_sessions(store, user_id))
            except NotFoundError:  # a session was erased meanwhile
                continue
        if await store.read_memory_version(user_id) == version:
            await store.record_audit([_enter(memory, clock, actor, "export")])
            return write_document(memory)
    raise ConflictError(
        f"the memory of user {user_id} was changed by others at each of {MOST_TRIES} tries; try again", user=user_id
    )


async def import_memory(
    store: Store,
    ensure_user_id: Callable[[], Awaitable[UserId]],
    document: object,
    *,
    clock: Clock,
    ids: Ids,
    stream: Stream,
    policy_of: Callable[[AgentId], Policy],
    transcripts: bool = True,
    actor: str = "user",
) -> MemoryVersion:
    """Store the memory of a document as that of a user who has none, and give where it stands then.

    Sessions of the document come back with it. One whose id was erased from this store gets another.

    Args:
        store: Where to.
        ensure_user_id: Whose it becomes; only asked when the document is sound, and its sessions are not in the store.
        document: What an export gave.
        clock: The time.
        ids: Makes ids.
        stream: Where it is told.
        policy_of: How sessions of an agent compact.
        transcripts: Also store its sessions, where it has some.
        actor: For the audit.

    Raises:
        InvalidInputError: the document is broken, or of a newer version; says what and where. Nothing was stored.
        ConflictError: the user has a memory or sessions already, or one of its ids is taken. Nothing was stored.
    """
    memory = read_document(document)
    plan_sessions(memory.sessions or (), memory.user_id, policy_of)
    memory = await _rename_erased(store, memory, ids) if transcripts else replace(memory, sessions=None)
    memory = clean_imported(give_memory(memory, await ensure_user_id()))
    version = await store.read_memory_version(memory.user_id)
    if memory.sessions:
        await _refuse_sessions(store, memory.user_id)
    sessions = plan_sessions(memory.sessions or (), memory.user_id, policy_of)
    entry = _enter(memory, clock, actor, "import")
    version = await store.import_memory(memory, expected=version, entry=entry, sessions=sessions)
    for session in sessions:
        if session.plans:
            last_seq = session.plans[-1].state.last_seq
            tell_appended(stream, session.record.id, last_seq=last_seq, count=last_seq)
    tell_all_memory(stream, memory.user_id)
    return version


async def _refuse_sessions(store: Store, user_id: UserId) -> None:
    """Refuse to add sessions to those of a user: a second import of a document could not be told from the first."""
    if await store.list_sessions(user_id=user_id, agent_id=None, after=None, limit_count=1):
        raise ConflictError(
            f"user {user_id} has sessions already; import without those of the export (transcripts=False, "
            "--no-transcripts), or wipe them first",
            user=user_id,
        )


async def _rename_erased(store: Store, memory: PortableMemory, ids: Ids) -> PortableMemory:
    used = await store.list_used([session.id for session in memory.sessions or ()])
    there = sorted(session_id for session_id, is_there in used.items() if is_there)
    if there:
        raise ConflictError(
            f"{len(there)} sessions of the export are in this store, such as {there[0]}; "
            "import without them (transcripts=False, --no-transcripts), or wipe them first",
            session=there[0],
        )
    return rename_sessions(memory, {session_id: SessionId(ids.new_id("ses_")) for session_id in used})


async def read_memory(store: Store, user_id: UserId) -> PortableMemory:
    """All that memory has of a user. O(all of it)."""
    items: list[tuple[Item, ...]] = []
    after = None
    while page := await store.list_items(user_id, None, statuses=get_args(ItemStatus), after=after, limit_count=_PAGE):
        items += map(tuple, await store.list_histories(user_id, [item.id for item in page]))
        after = page[-1].id
    extractions = await store.list_extractions(user_id, None, after_ordinal=0, limit_count=NO_END)
    dreams = await store.list_dreams(user_id, None, limit_count=NO_END)
    agents = sorted({one.agent_id for one in extractions} | {dream.agent_id for dream in dreams})
    cursors = [(agent_id, await store.read_cursor(user_id, agent_id)) for agent_id in agents]
    return PortableMemory(
        user_id=user_id,
        items=tuple(items),
        topics=tuple(tuple(revisions) for revisions in await store.list_topic_histories(user_id)),
        dreams=tuple(reversed(dreams)),
        extractions=tuple(replace(one, is_session_gone=False) for one in extractions),
        cursors=tuple((agent_id, read_through) for agent_id, read_through in cursors if read_through),
        audit=tuple(reversed(await store.list_audit(user_id, limit_count=NO_END))),
        files=tuple(await store.read_files(user_id)),
        followed=tuple(one for one in await store.list_followed(user_id) if one.session_id is None or one.holds_erased),
    )


async def read_sessions(store: Store, user_id: UserId) -> tuple[PortableSession, ...]:
    """All sessions of a user with the messages that each stores itself, in the order of their creation. O(all of them).

    What names something else is read before it, since logs grow meanwhile: sessions before the messages that they share,
    all of them at once; what is known of a log before its state, and the log only up to that state.

    Raises:
        NotFoundError: a session was erased meanwhile.
    """
    followed = await store.list_followed(user_id)
    records = await store.list_sessions(user_id=user_id, agent_id=None, after=None, limit_count=NO_END)
    return tuple([await _read_session(store, record, followed) for record in records])


async def _read_session(store: Store, record: SessionRecord, followed: Sequence[FollowedTranscript]) -> PortableSession:
    memory = await store.read_session_memory(record.id)
    client_list = await store.read_client_list(record.id)
    state = await store.read_state(record.id)
    step = state.open_step
    return PortableSession(
        id=record.id,
        agent_id=record.agent_id,
        parent_id=record.parent_id,
        branch_seq=record.branch_seq,
        started_by=record.started_by,
        created_at=record.created_at,
        is_current=record.is_current,
        session_key=record.session_key,
        title=record.title,
        limit_tokens=record.settings.limit_tokens,
        system=record.settings.prompt.system,
        tools=encode_json(list(record.settings.prompt.tools)),
        extracted_seq=memory.extracted_seq,
        model_seq=memory.model_seq,
        tokens_count=memory.tokens_count,
        calls_count=memory.calls_count,
        messages=await _read_messages(store, record, state.last_seq),
        client_list=client_list,
        followed=tuple(_read_followed(one) for one in followed if one.session_id == record.id),
        pending_calls=step.pending if step else (),
        answered_calls=step.answered if step else (),
        closed_calls=state.closed_calls,
    )


async def _read_messages(store: Store, record: SessionRecord, last_seq: int) -> tuple[PortableMessage, ...]:
    found: list[PortableMessage] = []
    after = record.branch_seq
    while page := await store.list_stored(record.id, after_seq=after, limit_count=min(_PAGE, last_seq - after)):
        found += page
        after = page[-1].seq
    return tuple(found)


def _read_followed(one: FollowedTranscript) -> PortableFollowed:
    return PortableFollowed(
        name=one.name, path=one.path, file_id=one.file_id, read_bytes=one.read_bytes, left_seq=one.left_seq
    )


def _enter(memory: PortableMemory, clock: Clock, actor: str, action: AuditAction) -> AuditEntry:
    counts = {
        "items": len(memory.items),
        "topics": len(memory.topics),
        "dreams": len(memory.dreams),
        "extractions": len(memory.extractions),
    }
    if memory.sessions is not None:
        counts["transcripts"] = len(memory.sessions)
        counts["messages"] = sum(len(session.messages) for session in memory.sessions)
    return AuditEntry(
        at=clock.now(),
        user_id=memory.user_id,
        agent_id=None,
        actor=actor,
        action=action,
        counts=tuple(counts.items()),
    )
