"""Append: put messages at the end of a log, all or none."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from everfold.core.log.activity import find_cause
from everfold.core.log.appending import AppendPlan, Incoming, plan_append_stepwise
from everfold.core.log.meaning import means_same
from everfold.core.log.messages import Message, WireFormat
from everfold.core.log.state import SessionState
from everfold.core.log.wire import read_wire
from everfold.core.primitives.json_values import JsonObject, encode_json
from everfold.core.primitives.moments import require_aware
from everfold.core.primitives.origins import Origin, check_source, choose_origin
from everfold.core.primitives.stepwise import finish
from everfold.core.sources.refreshing import measure_replacement
from everfold.errors import ConflictError, InvalidInputError
from everfold.ports.stores import Store
from everfold.services.sessions.live import LiveSession
from everfold.services.telling.pausing import finish_pausing

MOST_ATTEMPTS = 200
"""How often an append that lost to another writer is placed again. Every loss means that another append was stored, so
this is reached only when hundreds of writers share one session."""

LONG_BYTES = 16_000
"""From this size on a message is placed in a thread: cutting it to what is shown of it is one step that grows with it.
Source: our measurement over the agents' logs, up to 140 ms of processor time for 60,000 characters on a loaded machine."""


def read_incoming(
    wire: Mapping[str, object],
    *,
    said_at: datetime,
    wire_format: WireFormat | None = None,
    origin: Origin | None = None,
    source: str = "said",
    client_id: str | None = None,
    line: int | None = None,
) -> Incoming:
    """Check one wire message and make it ready to be placed.

    Raises:
        InvalidInputError: it is no JSON, or no message.
    """
    if not isinstance(wire, dict):
        raise InvalidInputError(f"a message must be a JSON object (a dict), got {type(wire).__name__}")
    message: JsonObject = wire
    if message.get("function_call") is not None:
        raise InvalidInputError(
            "`function_call` is the legacy form of a tool call and has no call id, so no window could show it with its "
            "result; give the call in `tool_calls`"
        )
    content = encode_json(message, at="message")
    view = read_wire(message, wire_format=wire_format)
    reason = check_source(source)
    if not isinstance(said_at, datetime):
        raise InvalidInputError(f"said_at must be a datetime with a time zone, got {type(said_at).__name__}")
    require_aware("said_at", said_at)
    return Incoming(
        message,
        content,
        hashlib.sha256(content).hexdigest(),
        view,
        choose_origin(view.role, origin, source=find_cause(reason, view.text)),
        reason,
        said_at.astimezone(UTC),
        client_id=client_id,
        line=line,
    )


async def append_once(
    store: Store, live: LiveSession, incoming: Sequence[Incoming], *, overlaps: bool = False
) -> tuple[list[Message], AppendPlan | None]:
    """Append messages, and give them as they are stored, in their order, with the plan that was carried out.

    An append that was done before under the same client ids gives what was stored then, and no plan, and changes
    nothing; a message that was erased since comes as its tombstone. With `overlaps` each client id names its message
    alone, and those that are not stored are appended.

    Raises:
        InvalidInputError: a message does not fit the log.
        ConflictError: a client id was used before for another message, or without `overlaps` for a part of a batch.
    """
    if live.opening is not None:
        await live.reload(store)
    for attempt in range(MOST_ATTEMPTS):
        # At first not looked up: a client id is nearly always new, and the store refuses one that is not.
        is_looked_up = overlaps or attempt > 0
        known = await find_known(store, live, incoming, overlaps=overlaps) if is_looked_up else {}
        rest = [item for item in incoming if item.client_id not in known] if known else incoming
        if not rest:
            return list(known.values()), None
        before = live.state
        try:
            plan = await plan_next(store, live, rest)
            if live.opening is None:
                await store.append(live.record.id, plan, expected_revision=before.revision)
            else:
                await live.begin(store, plan)
        except InvalidInputError:
            await live.reload(store)
            if is_looked_up and live.state.revision == before.revision:
                raise  # else it may fit the log as another handle has left it
        except ConflictError:
            await live.reload(store)
        else:
            live.take(plan)
            new = iter(plan.appended)
            return [known[item.client_id] if item.client_id in known else next(new).message for item in incoming], plan
    raise ConflictError(
        f"session {live.record.id}: {MOST_ATTEMPTS} appends in a row lost to other writers; append again",
        session=live.record.id,
    )


async def plan_next(store: Store, live: LiveSession, incoming: Sequence[Incoming]) -> AppendPlan:
    """How messages are placed at the end of a log as it is known, with the cache break where a refresh replaces another.

    Raises:
        InvalidInputError: a message does not fit the log.
    """
    step = live.state.open_step
    seqs = range(step.first_seq, live.state.last_seq + 1) if step else range(0)
    known = await live.load_messages(store, seqs)
    state, session = live.state, live.record.id
    steps = plan_append_stepwise(
        state, incoming, live.budget(), step={seq: known[seq] for seq in seqs}, session=session
    )
    is_long = any(len(item.content) >= LONG_BYTES for item in incoming)
    plan = await (asyncio.to_thread(finish, steps) if is_long else finish_pausing(steps))
    if goes_on_showing(live, plan.state):
        plan = replace(plan, recall=live.recalled)
    resent_tokens = measure_replacement(state, plan.state, live.layout)
    return plan if resent_tokens is None else replace(plan, state=plan.state.with_cache_break("refresh", resent_tokens))


def goes_on_showing(live: LiveSession, state: SessionState) -> bool:
    """Whether the turn that memory shows something in is still the running one, and no other handle knows what it shows.

    It is stored with the turn's next message, so that a step costs no transaction of its own.
    """
    shown = live.recalled
    if shown is None or shown is live.stored_recall:
        return False
    return (shown.turn.turn_seq, shown.turn.epoch) == (state.turn_seq, state.epoch)


async def find_known(
    store: Store, live: LiveSession, incoming: Sequence[Incoming], *, overlaps: bool
) -> dict[str | None, Message]:
    """The messages that are stored under the client ids of an append, in its order.

    Raises:
        ConflictError: one was used before for a message of another meaning, or without `overlaps` only some are stored.
    """
    by_id = {item.client_id: item for item in incoming if item.client_id is not None}
    if not by_id or live.opening is not None:
        return {}
    found = await store.find_client_ids(live.record.id, list(by_id))
    if not found:
        return {}
    stored = await _load_stored(store, live, sorted(seq for seq, _ in found.values()))
    known: dict[str | None, Message] = {}
    for client_id, item in by_id.items():
        seq, content_hash = found.get(client_id, (0, item.content_hash))
        is_same = content_hash in {"", item.content_hash} or stored[seq].is_erased
        if not (is_same or means_same(stored[seq].view, item.view)) or not (seq or overlaps):
            raise ConflictError(
                f"session {live.record.id}: the client id {client_id!r} was used before for another message "
                f"({seq or 'a part of another batch'}); a client id always names the same message",
                session=live.record.id,
                client_id=client_id,
            )
        if seq:
            known[client_id] = stored[seq]
    return known


async def _load_stored(store: Store, live: LiveSession, seqs: Sequence[int]) -> dict[int, Message]:
    """The messages with these numbers (rising), retracted ones with their content, tombstones for erased ones."""
    known = await live.load_messages(store, seqs)
    gone = [seq for seq in seqs if known[seq].is_retracted]
    retracted = await store.read_messages(live.record.id, gone, retracted=True) if gone else []
    return {**known, **{message.seq: message for message in retracted}}
