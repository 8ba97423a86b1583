"""Messages: what is said in a session.

Reads of messages are not audited one by one; the audit is of memory. Erasing is audited under the name of the key.
"""

from typing import Annotated

from fastapi import Path, Query

from everfold.server.access import AnyKey, OfSession, OfTurn
from everfold.server.answers import LargeAnswer
from everfold.server.routing import make_router
from everfold.server.shapes.messages import (
    Appended,
    AskedMessages,
    ErasedMessage,
    MessageDetail,
    MessagePage,
    NewMessages,
    show_erased,
    show_message_detail,
    show_stretch,
)

router = make_router("messages")

Seq = Annotated[int, Path(ge=1, description="The message's number.", examples=[17])]


@router.post("/api/sessions/{session}/messages", response_model=Appended, status_code=201)
async def append_messages(turn: OfTurn, new: NewMessages) -> LargeAnswer:
    """Append messages, all or none; the hooks of a turn that begins or ends with them are called."""
    async with turn as session:
        seqs = await session.append(
            new.messages, origin=new.origin, source=new.source, said_at=new.said_at, client_id=new.client_id
        )
    return LargeAnswer({"seqs": seqs}, status_code=201)


@router.get("/api/sessions/{session}/messages", response_model=MessagePage)
async def list_messages(opened: OfSession, asked: Annotated[AskedMessages, Query()]) -> LargeAnswer:
    """Messages by range, around one, or page by page; tombstones stand for erased ones."""
    inspector = opened.inspector
    if asked.around is not None:
        stretch = await inspector.read_around(asked.around, before=asked.before, after=asked.neighbours_after)
    else:
        stretch = await inspector.read_range(asked.first_seq, asked.last_seq)
    return LargeAnswer(show_stretch(stretch))


@router.get("/api/sessions/{session}/messages/{seq}", response_model=MessageDetail)
async def get_message(
    opened: OfSession,
    seq: Seq,
    page: Annotated[int | None, Query(ge=1, description="Only this page of its text.", examples=[None])] = None,
) -> LargeAnswer:
    """One message: all of it, or a page of its text where it is long."""
    message, of_text = await opened.inspector.read_message(seq, page=page)
    return LargeAnswer(show_message_detail(message, of_text))


@router.delete("/api/sessions/{session}/messages/{seq}")
async def erase_message(caller: AnyKey, opened: OfSession, seq: Seq) -> ErasedMessage:
    """Erase a message and all that was derived from it, in the log and in memory; a tombstone stays."""
    return show_erased(await opened.erase(seq, actor=caller.actor))
