"""Restoring sessions from a document: the same appends again, decided before anything is written.

Theory of operation. What a session keeps beside a message (its kind, sizes, lines, index rows) follows from the messages
before it, so the log is placed again from its beginning, as an append places it. A branch goes on from the state that its
parent's log had at the branch point. The text of an erased message is unknown; a stand-in takes its place while the
log is placed, with the calls that the results behind it answer, or the answers that the calls before it wait for, so that
no step falls apart. What is stored of it is a tombstone.

Source: DESIGN section 3.1; `everfold.core.log.appending`.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, cast

from everfold.core.log.appending import Appended, AppendPlan, Incoming, close_step, plan_append
from everfold.core.log.budget import Policy, UsableBudget, share_budget
from everfold.core.log.client_lists import NO_LIST, ClientList
from everfold.core.log.following import FollowedTranscript
from everfold.core.log.messages import ROLES, Message, MessageView
from everfold.core.log.prompts import Prompt
from everfold.core.log.sessions import Segment, SessionRecord, SessionSettings, branch_lineage, find_holder
from everfold.core.log.state import UNCALIBRATED, SessionState
from everfold.core.log.titles import clean_title
from everfold.core.log.wire import read_wire
from everfold.core.memory.records import SessionMemory
from everfold.core.portability.sessions import PortableFollowed, PortableMessage, PortableSession
from everfold.core.primitives.field_types import broken
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.json_values import JsonObject, JsonValue, decode_json, encode_json
from everfold.core.primitives.origins import choose_origin
from everfold.errors import InvalidInputError

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
        called: The calls that it knows.
        client_ids: Where in its log they are, shared ones too.
    """

    session: RestoredSession
    marks: dict[int, SessionState] = field(default_factory=dict)
    called: frozenset[str] = frozenset()
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
    first, called = SessionState(), frozenset[str]()
    if session.branch_seq:
        holder = placed[find_holder(record.lineage, session.branch_seq)]
        if session.branch_seq not in holder.marks:
            raise broken(at, f"it branches at message {session.branch_seq}, where its parent's log cannot be cut")
        first, called = replace(holder.marks[session.branch_seq], revision=0), holder.called
    incoming, called = _read_messages(session, called, at)
    state, plans, marks = first, list[AppendPlan](), dict[int, SessionState]()
    step: dict[int, Message] = {}
    given_up: SessionState | None = None
    for batch in _split(incoming, session.branch_seq, stops):
        try:
            plan = plan_append(state, batch, _room(record.settings, state), step=step, session=session.id)
        except InvalidInputError as error:
            raise broken(at, str(error)) from error
        if given_up is not None and plan.appended[0].message.kind not in {"result", "late", "retracted"}:
            marks[given_up.last_seq] = given_up
        state, given_up = plan.state, None
        first_open_seq = state.open_step.first_seq if state.open_step else state.last_seq + 1
        known = [*step.values(), *(one.message for one in plan.appended)]
        step = {message.seq: message for message in known if message.seq >= first_open_seq}
        if state.last_seq in stops and state.open_step is None:
            marks[state.last_seq] = state
        elif state.last_seq in stops:
            given_up = close_step(state, _room(record.settings, state), step=step, session=session.id)
        plans.append(_bury(plan, session))
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
    return _Placed(session=restored, marks=marks, called=called, client_ids=_list_client_ids(session, placed, at))


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


def _read_messages(session: PortableSession, called: frozenset[str], at: str) -> tuple[list[Incoming], frozenset[str]]:
    """The messages ready to be placed, and every call that is known at their end."""
    views: dict[int, MessageView] = {}
    for index, message in enumerate(session.messages):
        if message.erased_at is None:
            views[message.seq] = _read_view(message, f"{at}.messages[{index}]")
    stand_ins = _make_stand_ins(session.messages, views, called)
    called |= {call.id for view in views.values() for call in view.calls}
    called |= {call_id for message in stand_ins.values() for call_id in _list_ids(message)}
    incoming = [
        _make_incoming(one, views[one.seq])
        if one.seq in views
        else _make_incoming(_stand_in(one, stand_ins[one.seq]), read_wire(stand_ins[one.seq]))
        for one in session.messages
    ]
    return incoming, called


def _read_view(message: PortableMessage, at: str) -> MessageView:
    try:
        view = read_wire(cast("JsonObject", decode_json(message.content)), wire_format=message.format)
        choose_origin(view.role, message.origin, source=message.source)
    except InvalidInputError as error:
        raise broken(at, str(error)) from error
    return view


def _make_incoming(message: PortableMessage, view: MessageView) -> Incoming:
    return Incoming(
        cast("JsonObject", decode_json(message.content)),
        message.content,
        hashlib.sha256(message.content).hexdigest(),
        view,
        message.origin,
        message.source,
        message.said_at,
        client_id=message.client_id,
        is_retracted=message.kind == "retracted",
    )


def _stand_in(message: PortableMessage, wire: JsonObject) -> PortableMessage:
    return replace(message, content=encode_json(wire))


def _make_stand_ins(
    messages: Sequence[PortableMessage], views: dict[int, MessageView], called: frozenset[str]
) -> dict[int, JsonObject]:
    """A wire form for each erased message."""
    known = sorted(called)
    heads: dict[int, list[str]] = {}
    answers: dict[int, list[str]] = {}
    others: dict[int, JsonObject] = {}
    for index, message in enumerate(messages):
        if message.kind == "assistant":
            run = _list_answers(messages, index)
            calls = _list_calls(message, run, views)
            if message.erased_at is not None:
                heads[message.seq] = calls
            answers |= _share_answers(run, calls, views, known)
            known += calls
        elif message.kind == "late" and message.seq in views:
            # A result without a call: an erased message made the call.
            orphans = [id_ for id_ in _list_answered(message, views) if id_ not in known]
            if orphans and heads:
                heads[next(reversed(heads))] += orphans
                known += orphans
        elif message.erased_at is not None:
            role = "system" if ROLES[message.kind] == "system" else "user"
            others[message.seq] = {"role": role, "content": ""}
    written = {seq: _write_calls(dict.fromkeys(ids)) for seq, ids in heads.items()}
    return {**others, **{seq: _write_answers(ids) for seq, ids in answers.items()}, **written}


def _list_answers(messages: Sequence[PortableMessage], index: int) -> Sequence[PortableMessage]:
    """The results behind a message up to the last of its step; late ones of other steps may lie among them."""
    end = index + 1
    for at in range(index + 1, len(messages)):
        if messages[at].kind == "result":
            end = at + 1
        elif messages[at].kind not in {"late", "retracted"}:
            break
    return messages[index + 1 : end]


def _list_calls(
    message: PortableMessage, results: Sequence[PortableMessage], views: dict[int, MessageView]
) -> list[str]:
    if message.seq in views:
        return [call.id for call in views[message.seq].calls]
    ids: dict[str, None] = {}
    for one in results:
        if one.kind in {"late", "retracted"}:
            continue
        ids |= dict.fromkeys(_list_answered(one, views) or [f"erased_{one.seq}"])
    return list(ids)


def _list_answered(message: PortableMessage, views: dict[int, MessageView]) -> list[str]:
    return [result.call_id for result in views[message.seq].results] if message.seq in views else []


def _share_answers(
    run: Sequence[PortableMessage], calls: Sequence[str], views: dict[int, MessageView], known: Sequence[str]
) -> dict[int, list[str]]:
    """Each erased result answers one call that nothing else answers, the last of them all that are left.

    An erased late one answers a call that was answered before.
    """
    answered = {call_id for one in run if one.kind == "result" for call_id in _list_answered(one, views)}
    left = [call_id for call_id in calls if call_id not in answered]
    erased = [one.seq for one in run if one.kind == "result" and one.erased_at is not None]
    found = {seq: left[at:] if at == len(erased) - 1 else left[at : at + 1] for at, seq in enumerate(erased)}
    past = [id_ for id_ in known if id_ not in calls]
    for one in run:
        if one.kind == "result":
            past += found.get(one.seq) or _list_answered(one, views)
        elif one.erased_at is not None:
            found[one.seq] = past[-1:]
    return found


def _write_calls(ids: Iterable[str]) -> JsonObject:
    blocks: list[JsonValue] = [{"type": "tool_use", "id": id_, "name": "erased", "input": {}} for id_ in ids]
    return {"role": "assistant", "content": blocks or ""}


def _write_answers(ids: Iterable[str]) -> JsonObject:
    blocks: list[JsonValue] = [{"type": "tool_result", "tool_use_id": id_, "content": ""} for id_ in ids]
    return {"role": "user", "content": blocks or ""}


def _list_ids(wire: JsonObject) -> list[str]:
    return [call.id for call in read_wire(wire).calls]


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
