"""Messages: what is said in a session."""

from everfold.server.access import OfTurn
from everfold.server.routing import make_router
from everfold.server.shapes.sessions import Appended, NewMessages

router = make_router("messages")


@router.post("/api/sessions/{session}/messages", status_code=201)
async def append_messages(turn: OfTurn, new: NewMessages) -> Appended:
    """Append messages, all or none."""
    return Appended(seqs=await turn.append(new.messages, client_id=new.client_id))
