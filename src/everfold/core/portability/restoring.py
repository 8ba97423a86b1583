"""Restoring sessions from a document: the same appends again, decided before anything is written.

Theory of operation. What a session keeps beside a message (its kind, sizes, lines, index rows) follows from the messages
before it, so the log is placed again from its beginning, as an append places it. A branch goes on from the state that its
parent's log had at the branch point. What a retracted or an erased message did to the log can no longer be seen: the
document says where the log could be cut, which results came late, and which calls are known. A stand-in takes the place of
an erased message while the log is placed, with the calls that the results behind it answer, or the answers that the calls
before it wait for, so that no step falls apart. What is stored of it is a tombstone.

Source: DESIGN section 3.1; `everfold.core.log.appending`.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import takewhile, zip_longest
from typing import Final, cast

from everfold.core.log.appending import Appended, AppendPlan, Incoming, plan_append
from everfold.core.log.budget import Policy, UsableBudget, share_budget
from everfold.core.log.client_lists import NO_LIST, ClientList
from everfold.core.log.following import FollowedTranscript
from everfold.core.log.messages import ROLES, Message, MessageView
from everfold.core.log.prompts import Prompt
from everfold.core.log.sessions import Segment, SessionRecord, SessionSettings, branch_lineage, find_holder
from everfold.core.log.state import REMEMBERED_CALLS, UNCALIBRATED, SessionState
from everfold.core.log.titles import clean_title
from everfold.core.log.wire import read_wire
from everfold.core.memory.records import SessionMemory
from everfold.core.portability.sessions import PortableFollowed, PortableMessage, PortableSession
from everfold.core.primitives.field_types import broken
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.json_values import JsonObject, JsonValue, decode_json, encode_json
from everfold.core.primitives.origins import choose_origin
from everfold.errors import InvalidInputError

_IN_STEP: Final = frozenset({"result", "late", "retracted"})
"""What may stand between the messages of a step."""
BATCH_COUNT: Final = 500
"""Messages that are placed at once. Source: `everfold.services.sessions.import_transcript`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredSession:
    """One session as it is written.

    Attributes:
        state: What it begins with.
        plans: Its appends, in their order.
        tombstones: The messages that are erased when all are written, and when they were.
        memory: How far memory has looked at it.
        client_list: What its client holds of it.
        followed: How far the clients' transcripts were imported into it.
    """

    record: SessionRecord
    state: SessionState
    plans: tuple[AppendPlan, ...]
    tombstones: tuple[tuple[int, datetime], ...]
    memory: SessionMemory
    client_list: ClientList = NO_LIST
    followed: tuple[FollowedTranscript, ...] = ()


def plan_sessions(
    sessions: Sequence[PortableSession], user_id: UserId, policy_of: Callable[[AgentId], Policy]
) -> tuple[RestoredSession, ...]:
    """Place the messages of sessions that were read from a document. O(messages).

    Args:
        sessions: Parents before those who share their messages.
        user_id: Whose they become.
        policy_of: How sessions of an agent compact from now on: it decides the visible forms.

    Raises:
        InvalidInputError: a message does not fit its log, or a branch point lies inside a step; says where.
    """
    records: dict[SessionId, SessionRecord] = {}
    for index, session in enumerate(sessions):
        records[session.id] = _make_record(session, user_id, records, policy_of, at=f"transcripts[{index}]")
    placed: dict[SessionId, _Placed] = {}
    for index, session in enumerate(sessions):
        at = f"transcripts[{index}]"
        record = records[session.id]
        stops = frozenset(
            one.branch_seq
            for one in records.values()
            if one.branch_seq and find_holder(one.lineage, one.branch_seq) == session.id
        )
        placed[session.id] = _place(session, record, placed, stops, at)
    return tuple(one.session for one in placed.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A session that was placed.

    Attributes:
        marks: The states of its log where others branch off.
        client_ids: Where in its log they are, shared ones too.
    """

    session: RestoredSession
    marks: dict[int, SessionState] = field(default_factory=dict)
    client_ids: dict[str, int] = field(default_factory=dict)


def _make_record(
    session: PortableSession,
    user_id: UserId,
    records: dict[SessionId, SessionRecord],
    policy_of: Callable[[AgentId], Policy],
    *,
    at: str,
) -> SessionRecord:
    lineage: tuple[Segment, ...] = (Segment(session_id=session.id),)
    if session.branch_seq and session.parent_id is not None:
        parent = records[session.parent_id]
        if parent.agent_id != session.agent_id:
            raise broken(at, f"it shares messages of {parent.id!r}, which is another agent's")
        lineage = branch_lineage(parent.lineage, branch_seq=session.branch_seq, last_ordinal=0, session_id=session.id)
    prompt = Prompt(system=session.system, tools=tuple(cast("list[JsonValue]", decode_json(session.tools))))
    return SessionRecord(
        id=session.id,
        user_id=user_id,
        agent_id=session.agent_id,
        parent_id=session.parent_id,
        branch_seq=session.branch_seq,
        started_by=session.started_by,
        created_at=session.created_at,
        lineage=lineage,
        settings=SessionSettings(limit_tokens=session.limit_tokens, prompt=prompt, policy=policy_of(session.agent_id)),
        is_current=session.is_current,
        session_key=session.session_key,
        title=clean_title(session.title),
    )


def _place(
    session: PortableSession,
    record: SessionRecord,
    placed: dict[SessionId, _Placed],
    stops: frozenset[int],
    at: str,
) -> _Placed:
    first = SessionState()
    if session.branch_seq:
        holder = placed[find_holder(record.lineage, session.branch_seq)]
        if session.branch_seq not in holder.marks:
            raise broken(at, f"it branches at message {session.branch_seq}, where its parent's log cannot be cut")
        first = replace(holder.marks[session.branch_seq], revision=0)
    incoming = _read_messages(session, at)
    state, plans, marks = first, list[AppendPlan](), dict[int, SessionState]()
    step: dict[int, Message] = {}
    for batch in _split(incoming, session.branch_seq, stops):
        try:
            plan = plan_append(state, batch, _room(record.settings, state), step=step, session=session.id)
        except InvalidInputError as error:
            raise broken(at, str(error)) from error
        state = plan.state
        first_open_seq = state.open_step.first_seq if state.open_step else state.last_seq + 1
        known = [*step.values(), *(one.message for one in plan.appended)]
        step = {message.seq: message for message in known if message.seq >= first_open_seq}
        if state.last_seq in stops and state.open_step is None:
            marks[state.last_seq] = state
        plans.append(_bury(plan, session))
    if plans:
        plans[-1] = replace(plans[-1], state=_remember_calls(state, session))
    else:
        first = _remember_calls(first, session)
    restored = RestoredSession(
        record=record,
        state=first,
        plans=tuple(plans),
        tombstones=tuple((one.seq, one.erased_at) for one in session.messages if one.erased_at is not None),
        memory=SessionMemory(
            session_id=session.id,
            extracted_seq=session.extracted_seq,
            model_seq=session.model_seq,
            tokens_count=session.tokens_count,
            calls_count=session.calls_count,
        ),
        client_list=session.client_list,
        followed=tuple(_follow(record, one) for one in session.followed),
    )
    return _Placed(session=restored, marks=marks, client_ids=_list_client_ids(session, placed, at))


def _remember_calls(state: SessionState, session: PortableSession) -> SessionState:
    """The state with the calls that a document says are known: those of retracted and of erased messages too."""
    closed_calls = session.closed_calls
    return state if closed_calls is None else replace(state, closed_calls=closed_calls[-REMEMBERED_CALLS:])


def _follow(record: SessionRecord, one: PortableFollowed) -> FollowedTranscript:
    return FollowedTranscript(
        user_id=record.user_id,
        agent_id=record.agent_id,
        name=one.name,
        session_id=record.id,
        path=one.path,
        file_id=one.file_id,
        read_bytes=one.read_bytes,
        left_seq=one.left_seq,
    )


def _list_client_ids(session: PortableSession, placed: dict[SessionId, _Placed], at: str) -> dict[str, int]:
    found: dict[str, int] = {}
    if session.branch_seq and session.parent_id is not None:
        shared = placed[session.parent_id].client_ids.items()
        found = {id_: seq for id_, seq in shared if seq <= session.branch_seq}
    for index, message in enumerate(session.messages):
        if message.client_id is None:
            continue
        if message.client_id in found:
            raise broken(f"{at}.messages[{index}]", f"the client id {message.client_id!r} stands twice")
        found[message.client_id] = message.seq
    return found


def _split(incoming: Sequence[Incoming], branch_seq: int, stops: frozenset[int]) -> Iterator[Sequence[Incoming]]:
    """The messages in batches that end wherever another session branches off."""
    start = 0
    for at in range(1, len(incoming) + 1):
        if at == len(incoming) or at - start == BATCH_COUNT or branch_seq + at in stops:
            yield incoming[start:at]
            start = at


def _room(settings: SessionSettings, state: SessionState) -> UsableBudget:
    prompt_tokens = settings.prompt_tokens + state.fixed_tokens
    return share_budget(settings.limit_tokens, settings.policy, prompt_tokens=prompt_tokens, calibration=UNCALIBRATED)


# --- messages as they arrive again


def _read_messages(session: PortableSession, at: str) -> list[Incoming]:
    """The messages ready to be placed."""
    views: dict[int, MessageView] = {}
    for index, message in enumerate(session.messages):
        if message.erased_at is None:
            views[message.seq] = _read_view(message, f"{at}.messages[{index}]")
    stand_ins = _make_stand_ins(session, views)
    views |= {seq: read_wire(cast("JsonObject", decode_json(one.content))) for seq, one in stand_ins.items()}
    return [
        _make_incoming(stand_ins.get(one.seq, one), views[one.seq], later)
        for one, later in zip_longest(session.messages, session.messages[1:])
    ]


def _read_view(message: PortableMessage, at: str) -> MessageView:
    try:
        view = read_wire(cast("JsonObject", decode_json(message.content)), wire_format=message.format)
        choose_origin(view.role, message.origin, source=message.source)
    except InvalidInputError as error:
        raise broken(at, str(error)) from error
    return view


def _make_incoming(message: PortableMessage, view: MessageView, later: PortableMessage | None) -> Incoming:
    """A message ready to be placed, before a later one."""
    is_boundary = message.is_boundary
    return Incoming(
        cast("JsonObject", decode_json(message.content)),
        message.content,
        hashlib.sha256(message.content).hexdigest(),
        view,
        message.origin,
        message.source,
        message.said_at,
        client_id=message.client_id,
        kind=message.kind if message.kind in {"late", "retracted"} else None,
        ends_step=later is not None and later.kind not in _IN_STEP if is_boundary is None else is_boundary,
    )


def _make_stand_ins(session: PortableSession, views: dict[int, MessageView]) -> dict[int, PortableMessage]:
    """A message in the place of each erased one."""
    found: dict[int, PortableMessage] = {}
    for index, message in enumerate(session.messages):
        if message.kind == "assistant":
            found |= _Step(session, index, views).make_stand_ins()
        elif message.erased_at is not None and message.seq not in found:
            found[message.seq] = _make_stand_in(message)
    return found


def _make_stand_in(message: PortableMessage) -> PortableMessage:
    """A message in the place of an erased one that has no call, and whose results answer none that is waiting."""
    if message.kind in {"late", "result"}:
        return _write_answers(replace(message, kind="late"), [_name_call(message)])
    return _write(message, "system" if ROLES[message.kind] == "system" else "user", "")


class _Step:
    """An assistant message of a document with the results of its calls, some of which may be erased."""

    def __init__(self, session: PortableSession, index: int, views: dict[int, MessageView]) -> None:
        self.views = views
        self.head = session.messages[index]
        rest = (session.messages[at] for at in range(index + 1, len(session.messages)))
        behind = [*takewhile(lambda one: one.kind in _IN_STEP, rest)]
        self.results = [one for one in behind if one.kind == "result"]
        is_last = index + 1 + len(behind) == len(session.messages)
        self.pending = session.pending_calls if is_last else ()
        self.answered = session.answered_calls if is_last else ()
        last = self.results[-1] if self.results else self.head
        self.goes_on = last.is_boundary is False
        self.calls = self._list_calls()

    def make_stand_ins(self) -> dict[int, PortableMessage]:
        """A message in the place of each erased one whose calls, or whose answers to these, are known or can be chosen."""
        results = {one.seq: one for one in self.results}
        found = {seq: _write_answers(results[seq], ids) for seq, ids in self._share_answers().items() if ids}
        return found if self.head.seq in self.views else {**found, self.head.seq: _write_calls(self.head, self.calls)}

    def _list_calls(self) -> list[str]:
        """The calls of the message; of an erased one those that are known, and one more where the step waits for another."""
        if self.head.seq in self.views:
            return [call.id for call in self.views[self.head.seq].calls]
        if self.pending:
            return [*self.answered, *self.pending]
        ids = [id_ for one in self.results for id_ in _list_answered(one, self.views) or [_name_call(one)]]
        return [*ids, _name_call(self.head)] if self.goes_on else ids

    def _share_answers(self) -> dict[int, list[str]]:
        """Each erased result answers one call that nothing else answers, the last all that are left where the step ends there."""
        answered = {id_ for one in self.results for id_ in _list_answered(one, self.views)}
        left = [id_ for id_ in self.calls if id_ not in answered and id_ not in self.pending]
        erased = [one.seq for one in self.results if one.erased_at is not None]
        found = {seq: left[at : at + 1] for at, seq in enumerate(erased)}
        if erased and not self.goes_on:
            found[erased[-1]] = left[len(erased) - 1 :]
        return found


def _list_answered(message: PortableMessage, views: dict[int, MessageView]) -> list[str]:
    return [result.call_id for result in views[message.seq].results] if message.seq in views else []


def _name_call(message: PortableMessage) -> str:
    """An id in the place of one that an erased message has."""
    return f"erased_{message.seq}"


def _write_calls(message: PortableMessage, ids: Iterable[str]) -> PortableMessage:
    blocks: list[JsonValue] = [
        {"type": "tool_use", "id": id_, "name": "erased", "input": {}} for id_ in dict.fromkeys(ids)
    ]
    return _write(message, "assistant", blocks or "")


def _write_answers(message: PortableMessage, ids: Iterable[str]) -> PortableMessage:
    return _write(message, "user", [{"type": "tool_result", "tool_use_id": id_, "content": ""} for id_ in ids])


def _write(message: PortableMessage, role: str, content: JsonValue) -> PortableMessage:
    return replace(message, content=encode_json({"role": role, "content": content}))


# --- what is left of the erased ones


def _bury(plan: AppendPlan, session: PortableSession) -> AppendPlan:
    """The plan, with nothing but a tombstone in the place of each stand-in."""
    erased = {one.seq: one for one in session.messages if one.erased_at is not None}
    if not erased:
        return plan
    appended = [_bury_one(one, erased[one.message.seq]) if one.message.seq in erased else one for one in plan.appended]
    return replace(plan, appended=tuple(appended))


def _bury_one(appended: Appended, of: PortableMessage) -> Appended:
    message = replace(
        appended.message,
        kind=of.kind,
        wire={},
        view=MessageView(format=of.format, role=ROLES[of.kind], name=None, parts=()),
        content_hash="",
        keep=False,
        cuts=(),
        lines=(),
    )
    return appended._replace(message=message, content=b"", search_text="", context_text="")
