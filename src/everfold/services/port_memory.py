"""Port: a user's memory leaves as one document, and comes back from one, all of it or nothing."""

from dataclasses import replace
from typing import Final, get_args

from everfold.core.items import Item, ItemStatus
from everfold.core.json_values import JsonObject
from everfold.core.memory import AuditAction, AuditEntry, MemoryHead
from everfold.core.portable import PortableMemory, give_memory, read_document, write_document
from everfold.core.sessions import NO_END, UserId
from everfold.errors import ConflictError
from everfold.ports.stores import Store
from everfold.ports.system import Clock

MOST_TRIES: Final = 16
_PAGE: Final = 500


async def export_memory(store: Store, user_id: UserId, *, clock: Clock, actor: str = "user") -> JsonObject:
    """All that memory has of a user, as it was at one moment. O(all of it).

    Raises:
        ConflictError: memory was changed by others at each of `MOST_TRIES` tries.
    """
    for _ in range(MOST_TRIES):
        head = await store.read_head(user_id)
        memory = await read_memory(store, user_id)
        if await store.read_head(user_id) == head:
            await store.record_audit([_enter(memory, clock, actor, "export")])
            return write_document(memory)
    raise ConflictError(
        f"the memory of user {user_id} was changed by others at each of {MOST_TRIES} tries; try again", user=user_id
    )


async def import_memory(
    store: Store, user_id: UserId, document: object, *, clock: Clock, actor: str = "user"
) -> MemoryHead:
    """Store the memory of a document as that of a user who has none, and give where it stands then.

    Raises:
        InvalidInputError: the document is broken, or of a newer version; says what and where. Nothing was stored.
        ConflictError: the user has a memory already, or another user has one of its ids. Nothing was stored.
    """
    memory = give_memory(read_document(document), user_id)
    head = await store.read_head(user_id)
    return await store.import_memory(memory, expected=head, entry=_enter(memory, clock, actor, "import"))


async def read_memory(store: Store, user_id: UserId) -> PortableMemory:
    """All that memory has of a user. O(all of it)."""
    items: list[tuple[Item, ...]] = []
    after = None
    while page := await store.list_items(user_id, None, statuses=get_args(ItemStatus), after=after, limit_count=_PAGE):
        items += [tuple(await store.list_revisions(item.id)) for item in page]
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
    )


def _enter(memory: PortableMemory, clock: Clock, actor: str, action: AuditAction) -> AuditEntry:
    counts = {
        "items": len(memory.items),
        "topics": len(memory.topics),
        "dreams": len(memory.dreams),
        "extractions": len(memory.extractions),
    }
    return AuditEntry(
        at=clock.now(),
        user_id=memory.user_id,
        agent_id=None,
        actor=actor,
        action=action,
        counts=tuple(counts.items()),
    )
