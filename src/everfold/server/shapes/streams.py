"""What streams: chats and happenings, as server-sent events.

Source: WHATWG HTML, section 9.2 (server-sent events). Each event has a name and one line of JSON.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass

from fastapi.sse import ServerSentEvent
from pydantic import Field

from everfold.agents.chat_events import ChatEvent
from everfold.core.happenings import HappeningsDropped
from everfold.server.answers import ExactAnswer
from everfold.server.happenings import Seen
from everfold.server.shapes.shape import Given, Shape

OPENED = ServerSentEvent(comment="open")
"""Tells a reader, and whatever stands between, that the stream has begun."""

_KEPT_BACK = frozenset({"error", "agent_id"})
"""What is for who subscribes in the same process only, since it may quote a message, and what has another name here."""


class AskedChat(Given):
    """What is said to an agent."""

    message: str | None = Field(
        description="What is said; null to have answered what was said last, where that was cut.",
        pattern=r"\S",
        examples=["Where is my locker?"],
    )
    user: str | None = Field(
        default=None,
        description="`default`, or the UUID of a user. Left out: the key's own user, else the default one.",
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
        description="Instead of the agent's own; only keys of the scope admin choose.",
        examples=[None],
    )


class AskedCut(Given):
    """Which answer is to be stopped."""

    session_id: str = Field(description="The session in which it is on its way.", examples=["ses_01"])


class CutShape(Shape):
    """What became of the answer."""

    cut: bool = Field(description="False where none was on its way.", examples=[True])


def show_chat_event(event: ChatEvent, session_id: str) -> ServerSentEvent:
    """Something that happened in a chat."""
    return _write(event.kind, {**asdict(event), "session_id": session_id})


def show_done(session_id: str, last_seq: int) -> ServerSentEvent:
    """The end of an answer."""
    return _write("done", {"session_id": session_id, "last_seq": last_seq})


def show_problem(answer: ExactAnswer) -> ServerSentEvent:
    """What ended a stream before its end: the problem document."""
    return ServerSentEvent(event="problem", raw_data=bytes(answer.body).decode())


def show_happening(seen: Seen) -> ServerSentEvent:
    """Something that the engine did, in ids and figures."""
    happening = seen.happening
    if isinstance(happening, HappeningsDropped):
        return _write("lost", {"kind": "lost", "dropped_count": happening.dropped_count})
    told = {field.name: getattr(happening, field.name) for field in fields(happening) if field.name not in _KEPT_BACK}
    plain = {name: _to_plain(value) for name, value in told.items()}
    return _write(happening.kind, {**plain, "user_id": seen.user_id, "agent": seen.agent_id})


def _to_plain(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _write(name: str, data: Mapping[str, object]) -> ServerSentEvent:
    """An event whose data is ASCII: every text can be sent."""
    return ServerSentEvent(event=name, raw_data=json.dumps(data, separators=(",", ":")))
