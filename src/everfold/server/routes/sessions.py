"""Sessions: which there are, and how they follow each other."""

from everfold.server.access import OfSession
from everfold.server.routing import make_router
from everfold.server.shapes.sessions import SessionShape, show_session

router = make_router("sessions")


@router.get("/api/sessions/{session}")
async def get_session(opened: OfSession) -> SessionShape:
    """One session."""
    return show_session(opened.record)
