"""Messages: what is said in a session.

Reads of messages are not audited one by one; the audit is of memory. Erasing is audited under the name of the key.
"""

from typing import Annotated

from fastapi import Path, Query
from starlette.exceptions import HTTPException

from everfold.core.log.sessions import NO_END
from everfold.server.access import AnyKey, Context, OfSession, OfTurn
from everfold.server.answers import LargeAnswer
from everfold.server.routing import Fields, make_router
from everfold.server.schemas.messages import (
    AppendedSchema,
    AskedLookup,
    AskedMessages,
    ErasedMessageSchema,
    LookupSchema,
    MessageDetailSchema,
    MessagePageSchema,
    NewMessages,
    NewRetraction,
    RetractedSchema,
)
from everfold.services.forgetting.erase import Erased
from everfold.services.forgetting.retract import Retracted

router = make_router("messages")

Seq = Annotated[int, Path(ge=1, le=NO_END, description="The message's number.", examples=[17])]


@router.post("/api/sessions/{session}/messages", response_model=AppendedSchema, status_code=201)
async def append_messages(turn: OfTurn, runtime: Context, new: NewMessages) -> LargeAnswer:
    """Append messages, all or none, and call the hooks of turns that begin or end.

    At most `server.messages_per_request` of them.
    """
    most_count = runtime.settings.server.messages_per_request
    if len(new.messages) > most_count:
        raise HTTPException(
            413,
            f"the request has {len(new.messages):,} messages, at most {most_count:,} are taken; send several requests, or "
            "raise server.messages_per_request",
        )
    async with turn as session:
        seqs = await session.append(
            new.messages,
            origin=new.origin,
            source=new.source,
            said_at=new.said_at,
            client_id=new.client_id,
            client_ids=new.client_ids,
        )
    return LargeAnswer({"seqs": seqs}, status_code=201)


@router.get("/api/sessions/{session}/messages", response_model=MessagePageSchema)
async def list_messages(opened: OfSession, asked: Annotated[AskedMessages, Query()]) -> LargeAnswer:
    """List messages by range, around one, or page by page; erased ones are tombstones."""
    inspector = opened.inspect
    if asked.around is not None:
        stretch = await inspector.read_around(asked.around, before=asked.before, after=asked.neighbours_after)
    else:
        stretch = await inspector.read_range(asked.first_seq, asked.last_seq)
    return LargeAnswer(MessagePageSchema.show(stretch))


@router.get("/api/sessions/{session}/lookup", response_model=LookupSchema)
async def look_up_messages(opened: OfSession, asked: Annotated[AskedLookup, Query()]) -> Fields:
    """Find messages by their client ids or by the SHA-256 of their stored JSON; unknown ones are left out."""
    return {"seqs": await opened.integration.lookup(asked.client_id, hashes=asked.hash)}


@router.get("/api/sessions/{session}/messages/{seq}", response_model=MessageDetailSchema)
async def get_message(
    opened: OfSession,
    seq: Seq,
    page: Annotated[int | None, Query(ge=1, description="Only this page of its text.", examples=[None])] = None,
) -> LargeAnswer:
    """Read one message, or one page of its text."""
    return LargeAnswer(MessageDetailSchema.show(await opened.inspect.read_message(seq, page=page)))


@router.post("/api/sessions/{session}/retract", response_model=RetractedSchema)
async def retract_messages(caller: AnyKey, opened: OfSession, asked: NewRetraction) -> Retracted:
    """Retract the newest messages: they leave window, recall, search and later digests, and keep their numbers."""
    return await opened.retract(asked.count, last=asked.last, actor=caller.actor)


@router.delete("/api/sessions/{session}/messages/{seq}", response_model=ErasedMessageSchema)
async def erase_message(caller: AnyKey, opened: OfSession, seq: Seq) -> Erased:
    """Erase a message and everything derived from it, in the log and in memory; a tombstone stays."""
    return await opened.erase(seq, actor=caller.actor)
