"""Erase: remove a message and everything that was made from it; what stays is a tombstone with its number and time.

Source: DESIGN G10 and section 3.3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from everfold.core.compaction.folding import Digest, list_standing
from everfold.core.compaction.layout import Layout
from everfold.core.compaction.record import Compaction
from everfold.core.forgetting.memory import Forgotten, Gone, read_gone_words
from everfold.core.forgetting.messages import (
    Erasure,
    NewRecord,
    NewSearchRow,
    erase_from_certificate,
    erase_from_digest,
    erase_from_layout,
    erase_from_state,
    index_neighbours,
    show_new_digests,
)
from everfold.core.log.appending import said_text
from everfold.core.log.messages import Message, Note
from everfold.core.log.sessions import SessionRecord, find_holder
from everfold.core.log.state import SessionState
from everfold.core.memory.items import ItemId
from everfold.core.memory.topics import TopicId
from everfold.core.primitives.ids import SessionId
from everfold.core.statements.extracts import ExtractLine
from everfold.core.text.searching import BEFORE_COUNT
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.ports.system import Clock
from everfold.services.forgetting.forget import plan_memory_erasure
from everfold.services.sessions.list_compactions import iterate_compactions
from everfold.services.sessions.live import LiveSession
from everfold.services.telling.queueing import write_in_turn
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import tell_erased, tell_memory

_PAGE = 100
_REACH = 24
"""How many messages on a side are read, at first, to find those that were said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What an erase of a message came to.

    Attributes:
        sessions: Every session whose log held it.
        items: Items that nothing says any more; they are erased.
        kept: Items that other messages say too; they lost its quotes.
        topics: Topics that were made again, or erased where nothing was left of them.
        digests: Digests that were made again.
        superseded: Items that stay superseded by something that is erased; `Memory.undo` brings one back.
        is_pending: The database's files still hold it, since another reader holds on to them; see
            `Everfold.admin.finish_erasing`.
    """

    seq: int
    sessions: tuple[SessionId, ...]
    items: tuple[ItemId, ...] = ()
    kept: tuple[ItemId, ...] = ()
    topics: tuple[TopicId, ...] = ()
    digests: tuple[str, ...] = ()
    superseded: tuple[ItemId, ...] = ()
    is_pending: bool = False


async def erase_message(
    store: Store, live: LiveSession, seq: int, *, clock: Clock, stream: Stream, actor: str = "user"
) -> Erased:
    """Erase one message, in this session and in every branch that shares it, with all that memory has of it.

    Raises:
        NotFoundError: the session has no such message, or it was erased before.
        ConflictError: other writers were first each time.
    """

    async def attempt() -> Erased | None:
        now = clock.now()
        erasure, forgotten = await plan_erasure(store, live.record.id, seq, now=now, actor=actor)
        try:
            await store.erase_message(erasure, erased_at=now)
        except ConflictError:
            return None
        tell_erased(stream, (session_id for session_id, _ in erasure.states), seq)
        for change in erasure.memory:
            tell_memory(stream, change)
        await live.reload(store)
        return _report(erasure, forgotten, is_pending=not await store.finish_erasing())

    return await write_in_turn(store, live.record.user_id, attempt)


def _report(erasure: Erasure, forgotten: Forgotten, *, is_pending: bool) -> Erased:
    return Erased(
        seq=erasure.seq,
        sessions=tuple(session_id for session_id, _ in erasure.states),
        items=forgotten.erased,
        kept=forgotten.kept,
        topics=tuple(topic.id for topic in forgotten.topics),
        digests=tuple(digest.id for digest in erasure.digests),
        superseded=forgotten.superseded,
        is_pending=is_pending,
    )


async def plan_erasure(
    store: Store, session_id: SessionId, seq: int, *, now: datetime, actor: str = "user"
) -> tuple[Erasure, Forgotten]:
    """What an erase of a message replaces, in the log and in memory. Writes nothing. O(compactions after the message).

    Raises:
        NotFoundError: the session has no such message, or it was erased before.
    """
    records = await store.list_sharing(session_id, seq)
    version = await store.read_memory_version(records[0].user_id)
    # The states come first: whatever is written after this is found out by their revisions.
    states = {record.id: await store.read_state(record.id) for record in records}
    found = await store.read_messages(session_id, [seq], retracted=True)
    if not found:
        raise NotFoundError(
            f"session {session_id} has no message {seq}, or it was erased before", session=session_id, seq=seq
        )
    past = _Past(store=store, message=found[0], in_force=frozenset(state.compaction_id for state in states.values()))
    compactions = await _list_compactions(store, records, seq)
    for first in range(0, len(compactions), _PAGE):
        await past.pass_compactions(compactions[first : first + _PAGE])
    rows: dict[tuple[SessionId, int], NewSearchRow] = {}
    for record in records if said_text(found[0]) else ():
        rows |= await _index_neighbours(store, record, states[record.id], seq)
    new_states = [
        (id_, erase_from_state(state, seq, await _newest(store, id_, state))) for id_, state in states.items()
    ]
    holder = find_holder(records[0].lineage, seq)
    gone = Gone(messages=frozenset({(holder, seq)}), words=read_gone_words(list_words_of(found[0])))
    memory = await plan_memory_erasure(
        store,
        version,
        gone,
        user_id=records[0].user_id,
        agent_id=records[0].agent_id,
        now=now,
        actor=actor,
        about=(f"{holder}:{seq}",),
    )
    erasure = Erasure(
        session_id=holder,
        seq=seq,
        states=tuple(new_states),
        search_rows=tuple(rows.values()),
        digests=tuple(past.digests.values()),
        records=tuple(past.records),
        memory=(memory.change,),
    )
    return erasure, memory.forgotten


def list_words_of(message: Message) -> tuple[str, ...]:
    """The texts of a message that something may have been made of."""
    return tuple(filter(None, (message.view.text, message.view.name)))


async def _list_compactions(store: Store, records: list[SessionRecord], seq: int) -> list[Compaction]:
    """Every committed compaction of these sessions that has decided about the message, by ordinal."""
    found: dict[str, Compaction] = {}
    for record in records:
        async for compaction in iterate_compactions(store, record.id):
            if compaction.certificate and compaction.plan.last_seq >= seq:
                found[compaction.id] = compaction
    return sorted(found.values(), key=lambda compaction: compaction.ordinal)


@dataclass(slots=True, kw_only=True)
class _Past:
    """The compactions after a message, oldest first, with what of them was made again so far."""

    store: Store
    message: Message
    in_force: frozenset[str]
    digests: dict[str, Digest] = field(default_factory=dict)
    records: list[NewRecord] = field(default_factory=list)

    async def pass_compactions(self, compactions: Sequence[Compaction]) -> None:
        """Make again what these compactions committed, where it has the message."""
        layouts = await self.store.read_layouts([compaction.id for compaction in compactions])
        digests = await self.store.read_digests([id_ for one in compactions for id_ in _list_digests(one)])
        for compaction, layout in zip(compactions, layouts, strict=True):
            own = [digests[id_] for id_ in _list_digests(compaction) if id_ in digests]
            await self._pass_compaction(compaction, layout, own)

    async def _pass_compaction(self, compaction: Compaction, old: Layout, digests: Sequence[Digest]) -> None:
        if compaction.certificate is None:
            return
        seq = self.message.seq
        layout = erase_from_layout(old, seq, await self._list_standing(compaction, old))
        for digest in digests:
            is_read = seq in digest.reads
            notes = await self.store.read_notes(compaction.session_id, digest.reads) if is_read else []
            new = erase_from_digest(digest, seq, notes, layout, focus=compaction.plan.focus)
            if new is not None:
                self.digests[new.id] = new
        record = NewRecord(
            compaction_id=compaction.id,
            layout=show_new_digests(layout, self.digests),
            certificate=erase_from_certificate(compaction.certificate, seq, self.digests),
        )
        if (record.layout, record.certificate) != (old, compaction.certificate):
            self.records.append(record)

    async def _list_standing(self, compaction: Compaction, layout: Layout) -> list[ExtractLine] | None:
        """What the standing instructions of a layout in force may quote in the place of what it quotes now. O(log).

        None where nothing is to be filled. What an erased statement superseded or repeated stands again.
        """
        if compaction.id not in self.in_force or not any(line.standing for line in self.message.lines):
            return None
        lines: list[ExtractLine] = []
        before: Note | None = None
        for first_seq in range(1, layout.watermark + 1, _PAGE):
            seqs = range(first_seq, min(first_seq + _PAGE - 1, layout.watermark) + 1)
            for note in await self.store.read_notes(compaction.session_id, seqs):
                if note.seq not in layout.held_seqs:
                    lines += list_standing(note, before)
                before = note
        return lines


def _list_digests(compaction: Compaction) -> list[str]:
    """The digests that a compaction committed or took over."""
    return [id_ for id_, _ in compaction.certificate.digests] if compaction.certificate else []


async def _index_neighbours(
    store: Store, record: SessionRecord, state: SessionState, seq: int
) -> dict[tuple[SessionId, int], NewSearchRow]:
    """The context rows of one session's log that held the message's words."""
    before = await _read_said(store, record.id, lambda reach: range(max(seq - reach, 1), seq))
    after = await _read_said(store, record.id, lambda reach: range(seq + 1, min(seq + reach, state.last_seq) + 1))
    rows: dict[tuple[SessionId, int], NewSearchRow] = {}
    for neighbour_seq, text in index_neighbours(seq, [*before, *after]):
        place = (find_holder(record.lineage, neighbour_seq), neighbour_seq)
        rows[place] = NewSearchRow(session_id=place[0], seq=neighbour_seq, text=text)
    return rows


async def _newest(store: Store, session_id: SessionId, state: SessionState) -> list[Message]:
    """The end of a log, with one said message more than a state remembers."""
    last_seq = state.last_seq
    return await _read_said(store, session_id, lambda reach: range(max(last_seq - reach, 0) + 1, last_seq + 1), more=1)


async def _read_said(
    store: Store, session_id: SessionId, choose: Callable[[int], range], *, more: int = 0
) -> list[Message]:
    """Messages of a range that is widened until enough of them were said, or it grows no more."""
    reach, seqs = _REACH, choose(_REACH)
    while True:
        messages = await store.read_messages(session_id, seqs)
        said_count = sum(bool(said_text(message)) for message in messages)
        wider = choose(reach := reach * 4)
        if said_count >= BEFORE_COUNT + more or wider == seqs:
            return messages
        seqs = wider
