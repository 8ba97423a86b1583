"""What streams: chats and events of the engine, as server-sent events.

Source: WHATWG HTML, section 9.2 (server-sent events). Each event has a name and one line of JSON.
"""

from dataclasses import asdict, fields, is_dataclass

from fastapi.sse import ServerSentEvent
from pydantic import Field

from everfold.agents.chat_events import ChatEvent
from everfold.core.observation.events import EventsDropped
from everfold.server.answers import ExactAnswer, write_event
from everfold.server.schemas.schema import Given, Schema
from everfold.server.watching import Seen

OPENED = ServerSentEvent(comment="open")
"""Tells a reader, and whatever stands between, that the stream has begun."""

_KEPT_BACK = frozenset({"error", "agent_id"})
"""What is for who subscribes in the same process only, since it may quote a message, and what has another name here."""


class AskedChat(Given):
    """What is said to an agent."""

    message: str | None = Field(
        description="What is said; null to have answered what was said last, where its answer was stopped.",
        pattern=r"\S",
        examples=["Where is my locker?"],
    )
    user: str | None = Field(
        default=None,
        description="`default`, or the UUID of a user. Default: the API key's own user, else the default user.",
        examples=["default"],
    )
    session_id: str | None = Field(
        default=None,
        description="The session to talk in, which becomes the current one; left out: the current one.",
        examples=[None],
    )
    model: str | None = Field(
        default=None,
        min_length=1,
        description="Instead of the agent's own; only API keys of the scope admin choose.",
        examples=[None],
    )


class AskedStop(Given):
    """Which answer to stop."""

    session_id: str = Field(description="The session whose answer runs.", examples=["ses_01"])


class Stopped(Schema):
    """Whether an answer was stopped."""

    stopped: bool = Field(description="False where no answer was running.", examples=[True])


def show_chat_event(event: ChatEvent, session_id: str) -> ServerSentEvent:
    """Something that happened in a chat."""
    return write_event(event.kind, {**asdict(event), "session_id": session_id})


def show_done(session_id: str, last_seq: int) -> ServerSentEvent:
    """The end of an answer."""
    return write_event("done", {"session_id": session_id, "last_seq": last_seq})


def show_problem(answer: ExactAnswer) -> ServerSentEvent:
    """What ended a stream before its end: the problem document."""
    return ServerSentEvent(event="problem", raw_data=bytes(answer.body).decode())


def show_seen(seen: Seen) -> ServerSentEvent:
    """Something that the engine did, in ids and figures."""
    event = seen.event
    if isinstance(event, EventsDropped):
        return write_event("lost", {"kind": "lost", "dropped_count": event.dropped_count})
    told = {field.name: getattr(event, field.name) for field in fields(event) if field.name not in _KEPT_BACK}
    plain = {name: _to_plain(value) for name, value in told.items()}
    return write_event(event.kind, {**plain, "user_id": seen.user_id, "agent": seen.agent_id})


def _to_plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
