"""Import: store every conversation of a transcript as a session of its own, or nothing of it.

Theory of operation. Everything that can refuse a file is decided before the first write: each message is read, and each
conversation is planned in memory from an empty log. Only then are the plans written, some hundred messages at a time. What
may stop it then is the store alone; what it leaves then are sessions that are not current.

A conversation whose client has an id for it, and for its lines, is known again from when its session is there: what a
second import has beyond the first goes to the end of the session that the first one made, or has half made.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from everfold.core.log.appending import AppendPlan, Incoming, plan_append
from everfold.core.log.budget import UsableBudget, require_budget, share_budget
from everfold.core.log.following import FollowedTranscript, name_transcript
from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionSettings
from everfold.core.log.state import UNCALIBRATED, SessionState
from everfold.core.log.titles import clean_title
from everfold.core.log.transcripts import Conversation, Transcript, TranscriptMessage, name_lines
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.errors import ConflictError, InvalidInputError
from everfold.ports.stores import Store
from everfold.services.sessions.append import append_once, read_incoming
from everfold.services.sessions.live import LiveSession, load_session
from everfold.services.sessions.open_session import Opener
from everfold.services.sessions.read import MOST_READ
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import tell_appended

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
    """A conversation as the appends that will write it into an empty log."""

    name: str
    key: str | None
    title: str
    settings: SessionSettings
    messages: tuple[TranscriptMessage, ...]
    plans: tuple[AppendPlan, ...]


def read_messages(messages: Sequence[TranscriptMessage], *, now: datetime) -> tuple[Incoming, ...]:
    """Messages of a file, ready to be placed; one without a time was said when the one before it was, the first `now`.

    Raises:
        InvalidInputError: one of them is no message; with `line`.
    """
    return tuple(_read_message(message, message.said_at or now) for message in _date(messages, now))


def _date(messages: Sequence[TranscriptMessage], now: datetime) -> Iterator[TranscriptMessage]:
    said_at = now
    for message in messages:
        said_at = message.said_at or said_at
        yield replace(message, said_at=said_at)


async def leave_out_stored(
    store: Store, live: LiveSession, messages: Sequence[TranscriptMessage], *, now: datetime
) -> list[TranscriptMessage]:
    """What a session does not have of some messages, dated as `read_messages` dates them; of one that grew, the new lines."""
    labels = [] if live.opening else [label for message in messages for label in message.labels]
    known: set[str] = set()
    for at in range(0, len(labels), MOST_READ):
        known |= (await store.find_client_ids(live.record.id, labels[at : at + MOST_READ])).keys()
    new: list[TranscriptMessage] = []
    for message in _date(messages, now):
        if (rest := message.after(known)) is not None:
            new.append(rest)
            known.update(rest.labels)
    return new


def _read_message(message: TranscriptMessage, said_at: datetime) -> Incoming:
    try:
        return read_incoming(
            message.wire,
            said_at=said_at,
            wire_format=message.wire_format,
            origin=message.origin,
            source=message.source,
            client_id=message.label,
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
    stream: Stream,
    ensure_user_id: Callable[[], Awaitable[UserId]],
    agent_id: AgentId,
    settings: SessionSettings,
) -> AsyncIterator[Imported]:
    """Store a transcript, and tell after every batch how far it is.

    The sessions stand beside the current one of the user and the agent; where there is none, the first becomes it.

    Raises:
        InvalidInputError: a message does not fit its conversation; with `line`. Nothing was stored.
        BudgetUnsatisfiableError: a system prompt leaves no room within the limit. Nothing was stored.
    """
    now = opener.clock.now()
    placed = [
        await _place(conversation, settings, now=now)
        for conversation in transcript.conversations
        if conversation.messages
    ]
    user_id = await ensure_user_id()
    first_id: SessionId | None = None
    for conversation in placed:
        known = await _find_known(store, conversation, user_id, agent_id)
        if known is not None and known.session_id is not None:
            live = await load_session(store, await store.get_session(known.session_id))
            yield await _add_rest(store, opener, conversation, live, stream)
        else:
            live = await opener.add(
                user_id, agent_id, "", conversation.settings, is_hidden=True, title=conversation.title
            )
            if known is not None:
                await store.keep_followed(replace(known, session_id=live.record.id))
            async for step in _write(store, opener, conversation, live, stream):
                yield step
        if not live.record.session_key:
            first_id = first_id or live.record.id
    if first_id is not None and await store.find_current_session(user_id, agent_id) is None:
        await store.make_current(first_id)


async def _find_known(
    store: Store, conversation: _Placed, user_id: UserId, agent_id: AgentId
) -> FollowedTranscript | None:
    """Where a conversation was imported before; None where its client has no id for it."""
    if conversation.key is None:
        return None
    name = name_transcript(conversation.key)
    found = await store.find_followed(user_id, agent_id, name)
    return found or FollowedTranscript(user_id=user_id, agent_id=agent_id, name=name, session_id=None)


async def _write(
    store: Store, opener: Opener, conversation: _Placed, live: LiveSession, stream: Stream
) -> AsyncIterator[Imported]:
    """Store a conversation in a new session; what another import of it was first to store is not stored again."""
    session_id, count = live.record.id, conversation.plans[-1].state.last_seq
    for plan in conversation.plans:
        try:
            await store.append(session_id, plan, expected_revision=plan.state.revision - 1)
        except ConflictError:
            if conversation.key is None:
                raise
            await live.reload(store)
            yield await _add_rest(store, opener, conversation, live, stream)
            return
        stored_count = plan.state.last_seq
        if stored_count == count:
            tell_appended(stream, session_id, last_seq=count, count=count)
        yield Imported(name=conversation.name, session=session_id, stored_count=stored_count, messages_count=count)


async def _add_rest(store: Store, opener: Opener, conversation: _Placed, live: LiveSession, stream: Stream) -> Imported:
    """Append what a session does not have of a conversation yet, and give it the title that it lacks."""
    session_id = live.record.id
    await opener.add_title(live, conversation.title)
    now = opener.clock.now()
    new = await leave_out_stored(store, live, conversation.messages, now=now)
    for start in range(0, len(new), BATCH_COUNT):
        batch = read_messages(new[start : start + BATCH_COUNT], now=now)
        _, plan = await append_once(store, live, batch, overlaps=True)
        if plan is not None:
            tell_appended(stream, session_id, last_seq=plan.state.last_seq, count=len(plan.appended))
    count = live.state.last_seq
    return Imported(name=conversation.name, session=session_id, stored_count=count, messages_count=count)


async def _place(conversation: Conversation, defaults: SessionSettings, *, now: datetime) -> _Placed:
    """Plan a conversation from an empty log to its end, and let others through between its batches."""
    settings = replace(defaults, prompt=conversation.prompt)
    messages = name_lines(conversation.messages) if conversation.key else _without_lines(conversation.messages)
    read = read_messages(messages, now=now)
    require_budget(
        _room(settings, SessionState()),
        settings.policy,
        calibration=UNCALIBRATED,
        whose=f"conversation {conversation.name}",
    )
    try:
        plans = tuple([plan async for plan in _plan_batches(read, settings, session=conversation.name)])
    except InvalidInputError as error:
        line = error.ids.get("line", conversation.messages[0].line)
        raise InvalidInputError(f"line {line}: {error}. {_NOT_STORED}", **{**error.ids, "line": line}) from error
    return _Placed(
        name=conversation.name,
        key=conversation.key,
        title=clean_title(conversation.title),
        settings=settings,
        messages=messages,
        plans=plans,
    )


def _without_lines(messages: Sequence[TranscriptMessage]) -> tuple[TranscriptMessage, ...]:
    return tuple(replace(message, labels=()) for message in messages)


async def _plan_batches(
    messages: Sequence[Incoming], settings: SessionSettings, *, session: str
) -> AsyncIterator[AppendPlan]:
    state = SessionState()
    step: dict[int, Message] = {}
    for start in range(0, len(messages), BATCH_COUNT):
        batch = messages[start : start + BATCH_COUNT]
        plan = plan_append(state, batch, _room(settings, state), step=step, session=session)
        state = plan.state
        first_open_seq = state.open_step.first_seq if state.open_step else state.last_seq + 1
        placed = [*step.values(), *(appended.message for appended in plan.appended)]
        step = {message.seq: message for message in placed if message.seq >= first_open_seq}
        yield plan
        await asyncio.sleep(0)


def _room(settings: SessionSettings, state: SessionState) -> UsableBudget:
    prompt_tokens = settings.prompt_tokens + state.fixed_tokens
    return share_budget(settings.limit_tokens, settings.policy, prompt_tokens=prompt_tokens, calibration=UNCALIBRATED)
