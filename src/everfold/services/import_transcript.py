"""Import: store every conversation of a transcript as a session of its own, or nothing of it.

Theory of operation. Everything that can refuse a file is decided before the first write: each message is read, and each
conversation is placed in memory from an empty log. Only then is it written, some hundred messages at a time.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from everfold.core.appending import Incoming, plan_append
from everfold.core.room import require_room, share_room
from everfold.core.sessions import AgentId, SessionId, SessionSettings, UserId
from everfold.core.state import UNCALIBRATED, SessionState
from everfold.core.transcripts import Conversation, Transcript, TranscriptMessage
from everfold.errors import InvalidInputError
from everfold.ports.stores import Store
from everfold.services.append import append_messages, read_incoming
from everfold.services.open_session import Opener

BATCH_COUNT = 500
"""Messages of one transaction: enough that its cost is nothing to each, few enough that others may write between."""

_NOT_STORED = "Nothing of this file was stored."


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """How far the import of one conversation is."""

    name: str
    session: SessionId
    stored_count: int
    messages_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A conversation that is known to fit an empty log."""

    name: str
    settings: SessionSettings
    messages: tuple[Incoming, ...]


def read_messages(messages: Sequence[TranscriptMessage], *, now: datetime) -> tuple[Incoming, ...]:
    """Messages of a file, ready to be placed; one without a time was said when the one before it was, the first `now`.

    Raises:
        InvalidInputError: one of them is no message; with `line`.
    """
    read: list[Incoming] = []
    for message in messages:
        said_at = message.said_at or (read[-1].said_at if read else now)
        read.append(_read_message(message, said_at))
    return tuple(read)


def _read_message(message: TranscriptMessage, said_at: datetime) -> Incoming:
    try:
        return read_incoming(
            message.wire,
            said_at=said_at,
            wire_format=message.wire_format,
            origin=message.origin,
            source=message.source,
            line=message.line,
        )
    except InvalidInputError as error:
        ids = {**error.ids, "line": message.line}
        raise InvalidInputError(f"line {message.line}: {error}", **ids) from error


async def import_transcript(
    store: Store,
    opener: Opener,
    transcript: Transcript,
    *,
    user_id: UserId,
    agent_id: AgentId,
    settings: SessionSettings,
) -> AsyncIterator[Imported]:
    """Store a transcript, and tell after every batch how far it is.

    The sessions stand beside the current one of the user and the agent; where there is none, the last becomes it.

    Raises:
        InvalidInputError: a message does not fit its conversation; with `line`. Nothing was stored.
        BudgetUnsatisfiableError: a system prompt leaves no room within the limit. Nothing was stored.
    """
    now = opener.clock.now()
    placed = [
        _place(conversation, settings, now=now) for conversation in transcript.conversations if conversation.messages
    ]
    for conversation in placed:
        live = await opener.add(user_id, agent_id, conversation.settings)
        for start in range(0, len(conversation.messages), BATCH_COUNT):
            await append_messages(store, live, conversation.messages[start : start + BATCH_COUNT])
            yield Imported(
                name=conversation.name,
                session=live.record.id,
                stored_count=live.state.last_seq,
                messages_count=len(conversation.messages),
            )


def _place(conversation: Conversation, defaults: SessionSettings, *, now: datetime) -> _Placed:
    """Check that a conversation fits a new session."""
    settings = replace(defaults, prompt=conversation.prompt)
    messages = read_messages(conversation.messages, now=now)
    room = share_room(
        settings.limit_tokens, settings.policy, prompt_tokens=settings.prompt_tokens, calibration=UNCALIBRATED
    )
    require_room(room, settings.policy, calibration=UNCALIBRATED, session=conversation.name)
    try:
        plan_append(SessionState(), messages, room, step={}, session=conversation.name)
    except InvalidInputError as error:
        line = error.ids.get("line", conversation.messages[0].line)
        raise InvalidInputError(f"line {line}: {error}. {_NOT_STORED}", **{**error.ids, "line": line}) from error
    return _Placed(name=conversation.name, settings=settings, messages=messages)
