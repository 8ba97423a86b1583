"""Explain recall: why a question brings a message of history back, or does not.

Recall itself is run, so that what it gives is what a turn would get; then each message that words find is asked, in
recall's own order of reasons, what kept it out. What only vectors find is not explained.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from everfold.core.log.messages import Message, Role
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.primitives.ids import SessionId
from everfold.core.recall.asking import find_asking, read_asked
from everfold.core.recall.recalling import RecallKey
from everfold.core.statements.substance import measure_substance
from everfold.ports.stores import Hit, Store
from everfold.services.memory.recall import (
    MOST_LOOKED_AT,
    Recall,
    Recalling,
    Shown,
    read_index_words,
    recall,
)
from everfold.services.sessions.search import MOST_HITS

RecallState = Literal["on", "off", "asks_nothing", "nothing_folded"]
"""Whether a turn with this question recalls at all: recall is off, the question asks for nothing, or nothing is folded."""

Verdict = Literal["recalled", "no_room", "in_window", "replaced", "no_matter", "quoted", "few_words", "outranked"]
"""What became of one message.

recalled: The request has it. no_room: It was chosen, and the space for recall was full. in_window: The window shows it.
replaced: A newer context refresh has replaced it. no_matter: It says nothing by itself. quoted: A digest or another part
of the window has the sentences that match. few_words: It has too few of the question's words. outranked: Better ones
took the `recall.entries` places.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallReason:
    """What became of one message that a search for the question finds.

    Attributes:
        place: Its place in the search, from 1.
        share: Its score beside the best one's.
        missing: Words of the question that it does not have.
    """

    session: SessionId
    seq: int
    role: Role
    said_at: datetime
    excerpt: str
    place: int
    share: float
    missing: tuple[str, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallExplained:
    """Whether a question recalls anything in this session, and what became of each message that words find, best first."""

    state: RecallState
    reasons: tuple[RecallReason, ...] = ()


async def explain_recall(
    store: Store, question: str, policy: MemoryPolicy | None, *, shown: Shown, now: datetime, has_folded: bool
) -> RecallExplained:
    """Why recall gives the messages that it gives for a question, and leaves out the others that a search finds.

    The space is that of a usual turn; that of a real one depends on what its window holds.
    """
    state = _tell_state(question, policy, has_folded=has_folded)
    question = find_asking(question) or question
    asked = read_asked(question)
    if policy is None or not asked.query.terms:
        return RecallExplained(state=state)
    user_id, agent_id = shown.session.user_id, shown.session.agent_id
    session_id = None if policy.is_structured else shown.session.id
    count = policy.recall_entries
    found = await recall(
        store,
        question,
        user_id=user_id,
        agent_id=agent_id,
        now=now,
        limit_count=count,
        exclude=shown,
        session_id=session_id,
    )
    hits = await store.search(
        asked.query,
        user_id=user_id,
        agent_id=agent_id,
        session_id=session_id,
        limit_count=min(MOST_LOOKED_AT * count, MOST_HITS),
    )
    recalling = Recalling(
        store=store, asked=asked, user_id=user_id, agent_id=agent_id, now=now, shown=shown, session_id=session_id
    )
    return RecallExplained(state=state, reasons=await _judge_all(recalling, hits, found))


def _tell_state(question: str, policy: MemoryPolicy | None, *, has_folded: bool) -> RecallState:
    if policy is None or not policy.recall_enabled:
        return "off"
    if not find_asking(question):
        return "asks_nothing"
    return "on" if has_folded or policy.is_structured else "nothing_folded"


async def _judge_all(recalling: Recalling, hits: Sequence[Hit], found: Recall) -> tuple[RecallReason, ...]:
    keys = [RecallKey("message", hit.session_id, hit.seq) for hit in hits]
    messages = await recalling.read_all(keys)
    return tuple(
        _judge(recalling, place, hit, messages, found, best=hits[0].score)
        for place, (key, hit) in enumerate(zip(keys, hits, strict=True), 1)
        if key in messages
    )


def _judge(
    recalling: Recalling, place: int, hit: Hit, messages: Mapping[RecallKey, Message], found: Recall, *, best: float
) -> RecallReason:
    key = RecallKey("message", hit.session_id, hit.seq)
    message = messages[key]
    entry = recalling.show_message(hit.session_id, message)
    has = read_index_words(message)
    return RecallReason(
        session=hit.session_id,
        seq=hit.seq,
        role=message.view.role,
        said_at=message.said_at,
        excerpt=entry.text,
        place=place,
        share=round(hit.score / best, 3),
        missing=tuple(sorted(recalling.query.words - has.text - has.around)),
        verdict=_find_verdict(recalling, key, messages, found),
    )


def _find_verdict(
    recalling: Recalling, key: RecallKey, messages: Mapping[RecallKey, Message], found: Recall
) -> Verdict:
    """The first reason that holds, in recall's order."""
    message, shown = messages[key], recalling.shown
    if any(entry.key == key for entry in found.block.shown):
        return "recalled"
    if any(entry.key == key for entry in found.entries):
        return "no_room"
    if shown is not None and shown.hides(key):
        return "in_window"
    if not recalling.fits(key, messages):
        return "few_words"
    if message.source == "refresh":
        return "replaced"
    if not measure_substance(message.view.text):
        return "no_matter"
    if shown is not None and shown.holds(recalling.show_message(SessionId(key.id), message), recalling.query):
        return "quoted"
    return "outranked"
