"""Builders of what a store takes, made by the core's own rules, and the few steps that drive a store with them.

Everything has a default, so that a test names only what it is about. Times rise by a minute with each message.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from everfold.core.compaction.choosing import plan_compaction
from everfold.core.compaction.folding import Fold, fold
from everfold.core.compaction.layout import EMPTY_LAYOUT, Layout
from everfold.core.compaction.planning import CompactionPlan, Demand
from everfold.core.compaction.record import Compaction, Outcome
from everfold.core.digests.pools import RollupPool
from everfold.core.forgetting.messages import Erasure, NewSearchRow
from everfold.core.log.activity import find_cause
from everfold.core.log.appending import AppendPlan, Incoming, plan_append
from everfold.core.log.budget import UsableBudget, share_budget
from everfold.core.log.messages import WireFormat
from everfold.core.log.sessions import Segment, SessionRecord, SessionSettings, branch_lineage, find_holder
from everfold.core.log.state import SessionState
from everfold.core.log.wire import read_wire
from everfold.core.primitives.ids import AgentId, CompactionId, SessionId, UserId
from everfold.core.primitives.json_values import JsonObject, encode_json
from everfold.core.primitives.origins import Origin, Source, choose_origin
from everfold.ports.stores import Store
from everfold.testing.kit.fakes import STARTED_AT

ADA = UserId("usr_ada")
BEN = UserId("usr_ben")
GUIDE = AgentId("agt_guide")
LEASE_SECS = 180.0
RUN_OUT_SECS = -60.0
"""The duration of a lease that has run out when it is given: nothing has to be waited for."""
CLERK = AgentId("agt_clerk")
SMALL_LIMIT_TOKENS = 4000
"""A limit at which a dozen messages fill the window."""


def minute(count: int) -> datetime:
    """The moment that many minutes after the start."""
    return STARTED_AT + timedelta(minutes=count)


def user(text: str) -> JsonObject:
    """A user's message in OpenAI form."""
    return {"role": "user", "content": text}


def assistant(text: str) -> JsonObject:
    """An assistant's message in OpenAI form."""
    return {"role": "assistant", "content": text}


def calls(*call_ids: str, name: str = "look_up") -> JsonObject:
    """An assistant's message in OpenAI form that calls one tool once for each id."""
    function: JsonObject = {"name": name, "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": dict(function)} for call_id in call_ids],
    }


def result(call_id: str, text: str) -> JsonObject:
    """The result of a call in OpenAI form."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def talk(turns_count: int, *, topic: str = "harbour", first: int = 1) -> list[JsonObject]:
    """Turns of a user and an assistant, each about a number of its own; two turns are some 200 tokens."""
    wires: list[JsonObject] = []
    for number in range(first, first + turns_count):
        wires.append(user(f"Remember: {topic} berth {number} costs {number * 17} euros and must be free by noon."))
        said = (
            f"Berth {number} of the {topic} is noted under reference BX-{number:04}, with its papers in /srv/{topic}. "
        )
        wires.append(assistant(said * 4))
    return wires


def incoming(
    wire: JsonObject,
    *,
    origin: Origin | None = None,
    source: Source = "said",
    said_at: datetime = STARTED_AT,
    client_id: str | None = None,
    wire_format: WireFormat | None = None,
) -> Incoming:
    """A wire message, read and checked."""
    content = encode_json(wire)
    view = read_wire(wire, wire_format=wire_format)
    return Incoming(
        wire=wire,
        content=content,
        content_hash=hashlib.sha256(content).hexdigest(),
        view=view,
        origin=choose_origin(view.role, origin, source=find_cause(source, view.text)),
        source=source,
        said_at=said_at,
        client_id=client_id,
    )


def session_record(
    id_: str = "ses_1",
    *,
    user_id: UserId = ADA,
    agent_id: AgentId = GUIDE,
    parent: SessionRecord | None = None,
    branch_seq: int = 0,
    last_ordinal: int = 0,
    settings: SessionSettings | None = None,
    created_at: datetime = STARTED_AT,
    is_current: bool = True,
) -> SessionRecord:
    """A session that stands alone, follows its parent (`branch_seq` 0), or shares its parent's messages up to there."""
    session_id = SessionId(id_)
    lineage: tuple[Segment, ...] = (Segment(session_id=session_id),)
    if parent is not None and branch_seq:
        lineage = branch_lineage(
            parent.lineage, branch_seq=branch_seq, last_ordinal=last_ordinal, session_id=session_id
        )
    return SessionRecord(
        id=session_id,
        user_id=parent.user_id if parent else user_id,
        agent_id=parent.agent_id if parent else agent_id,
        parent_id=parent.id if parent else None,
        branch_seq=branch_seq,
        started_by=("rewind" if is_current else "branch") if branch_seq else "new" if parent else "open",
        created_at=created_at,
        lineage=lineage,
        settings=settings or (parent.settings if parent else SessionSettings(limit_tokens=SMALL_LIMIT_TOKENS)),
        is_current=is_current,
        session_key=parent.session_key if parent else "",
    )


def budget_of(settings: SessionSettings, state: SessionState) -> UsableBudget:
    """The shares of a session's limit."""
    return share_budget(
        settings.limit_tokens,
        settings.policy,
        prompt_tokens=settings.prompt_tokens + state.fixed_tokens,
        calibration=state.calibration,
    )


async def plan_wires(
    store: Store, session_id: SessionId, wires: Sequence[JsonObject | Incoming]
) -> tuple[AppendPlan, SessionState]:
    """The plan that appends messages to a session, and the state that it was made from. Writes nothing."""
    record = await store.get_session(session_id)
    state = await store.read_state(session_id)
    step = state.open_step
    stored = await store.read_messages(session_id, range(step.first_seq, state.last_seq + 1)) if step else []
    items = [
        item if isinstance(item, Incoming) else incoming(item, said_at=minute(state.last_seq + count))
        for count, item in enumerate(wires, 1)
    ]
    plan = plan_append(
        state,
        items,
        budget_of(record.settings, state),
        step={message.seq: message for message in stored},
        session=session_id,
    )
    return plan, state


async def append_wires(store: Store, session_id: SessionId, *wires: JsonObject | Incoming) -> AppendPlan:
    """Append messages to a session, and give the plan that did it."""
    plan, state = await plan_wires(store, session_id, wires)
    await store.append(session_id, plan, expected_revision=state.revision)
    return plan


async def open_session(
    store: Store, record: SessionRecord | None = None, *wires: JsonObject | Incoming
) -> SessionRecord:
    """Create a session with an empty state, and append messages to it."""
    record = record or session_record()
    await store.create_session(record, SessionState())
    if wires:
        await append_wires(store, record.id, *wires)
    return record


async def branch_session(store: Store, parent: SessionRecord, id_: str, *, state: SessionState) -> SessionRecord:
    """Branch off where the parent was in this state of its own; the branch does not become the current session."""
    record = session_record(
        id_, parent=parent, branch_seq=state.last_seq, last_ordinal=state.compactions_count, is_current=False
    )
    await store.create_session(record, replace(state, revision=0))
    return record


async def plan_bare_erasure(store: Store, session_id: SessionId, seq: int, *rows: NewSearchRow) -> Erasure:
    """What erases a message of which nothing was made but the given search rows. Writes nothing."""
    records = await store.list_sharing(session_id, seq)
    states = [(record.id, await store.read_state(record.id)) for record in records]
    return Erasure(
        session_id=find_holder((await store.get_session(session_id)).lineage, seq),
        seq=seq,
        states=tuple(
            (id_, replace(state, revision=state.revision + 1, epoch=state.epoch + 1)) for id_, state in states
        ),
        search_rows=rows,
    )


EXTRACTIVE = Outcome(state="done", digest="off")
"""How a compaction without a model's digest ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacting:
    """A compaction that was planned and not yet committed.

    Attributes:
        compaction: The pending compaction.
        fold: What it will commit.
        before: The state that it was planned from.
        begun: The state that begins it.
        after: The state that commits it.
    """

    compaction: Compaction
    fold: Fold
    before: SessionState
    begun: SessionState
    after: SessionState


async def plan_next_compaction(
    store: Store, session_id: SessionId, compaction_id: str, *, keep_recent: int = 2, focus: str | None = None
) -> Compacting:
    """Plan and fold a compaction that a person asked for. Writes nothing.

    Raises:
        ValueError: nothing can be folded; append more.
    """
    record = await store.get_session(session_id)
    state = await store.read_state(session_id)
    layout = await store.read_layout(CompactionId(state.compaction_id)) if state.compaction_id else EMPTY_LAYOUT
    notes = await store.read_notes(session_id, range(layout.watermark + 1, state.safe_seq + 1))
    plan = plan_compaction(
        state,
        layout,
        notes,
        record.settings.policy,
        budget_of(record.settings, state),
        demand=Demand(keep_recent=keep_recent, focus=focus),
    )
    if plan is None:
        raise ValueError(f"session {session_id}: nothing can be folded of {len(notes)} messages; append more")
    compaction = Compaction(
        id=CompactionId(compaction_id),
        session_id=session_id,
        ordinal=state.compactions_count + 1,
        state="pending",
        plan=plan,
        begun_at=minute(state.last_seq),
    )
    return Compacting(
        compaction=compaction,
        fold=await _fold_plan(store, session_id, compaction_id, plan, layout),
        before=state,
        begun=replace(
            state, revision=state.revision + 1, pending_compactions=(*state.pending_compactions, compaction_id)
        ),
        after=replace(
            state, revision=state.revision + 2, compaction_id=compaction_id, compactions_count=compaction.ordinal
        ),
    )


async def _fold_plan(
    store: Store, session_id: SessionId, compaction_id: str, plan: CompactionPlan, layout: Layout
) -> Fold:
    joined = range(layout.rollup.last_seq + 1 if layout.rollup else 1, plan.join_through + 1)
    seqs = {*range(plan.first_seq, plan.last_seq + 1), *joined, *plan.leaving}
    notes = await store.read_notes(session_id, sorted(seqs))
    pool: RollupPool | None = None
    if layout.rollup:
        digests = await store.read_digests([layout.rollup.digest_id])
        pool = digests[layout.rollup.digest_id].pool
    return fold(plan, layout, {note.seq: note for note in notes}, pool, compaction_id=compaction_id)


async def commit(store: Store, compacting: Compacting) -> None:
    """Begin, claim and commit a planned compaction."""
    compaction = compacting.compaction
    await store.begin_compaction(compaction, compacting.begun, expected_revision=compacting.before.revision)
    await store.claim_compaction(compaction.id, secs=LEASE_SECS)
    await store.commit_compaction(
        compaction.id,
        compacting.fold,
        compacting.after,
        expected_revision=compacting.begun.revision,
        committed_at=compaction.begun_at + timedelta(minutes=1),
        outcome=EXTRACTIVE,
    )


async def compact(store: Store, session_id: SessionId, compaction_id: str, *, keep_recent: int = 2) -> Compacting:
    """Fold everything but the newest messages, and put the result in force."""
    compacting = await plan_next_compaction(store, session_id, compaction_id, keep_recent=keep_recent)
    await commit(store, compacting)
    return compacting
