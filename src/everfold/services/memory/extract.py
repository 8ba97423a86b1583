"""Extract: the heuristic pass over what was said since the last one.

It looks at extract lines, which were noted at append, so a plain turn costs the reading of its messages, or nothing where
the caller has them, and no write: the cursor is kept in hand and stored with every candidate, and else each
`CURSOR_COUNT` messages. What was not stored when a process ends is looked at once more, which changes nothing: the same
words become the same items. For the same reason items are written first and the cursor after them.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from everfold.core.extraction.candidates import find_candidates
from everfold.core.extraction.echoes import HEARD_COUNT, drop_echoes
from everfold.core.log.appending import said_text
from everfold.core.log.messages import Message
from everfold.core.log.sessions import SessionRecord, find_holder
from everfold.core.memory.items import Candidate
from everfold.core.memory.records import SessionMemory
from everfold.core.text.ends import read_ends_ahead
from everfold.errors import ConflictError, EverfoldError, StoreError
from everfold.ports.stores import LogStore
from everfold.services.memory.remember import Pass, Rememberer
from everfold.services.telling.pausing import finish_pausing

PAGE_COUNT: Final = 200
"""How many messages are read at once."""
MOST_FOUND: Final = 50
"""So many candidates are enough for one change of memory: what it is decided over grows with them."""
STEP_COUNT: Final = 16
"""So many messages are looked at between two pauses: some milliseconds."""
CURSOR_COUNT: Final = 50
"""How many messages the stored cursor may lie behind."""
BEFORE_COUNT: Final = 4
"""Among so many messages what was said last is looked for: a question, and what was retracted or called behind it."""
ACTOR: Final = "extraction"
_MOST_TRIES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a session's heuristic pass is.

    Attributes:
        stored: What the store holds.
        now: What is so; the store may be up to `CURSOR_COUNT` messages behind.
        epoch: That of memory when the store was read: what is read or appended later was there in it.
        spoken: The last message with words up to `now`, which the next one may answer; None where it is not known.
    """

    stored: SessionMemory
    now: SessionMemory
    epoch: int = 0
    spoken: Message | None = None


async def extract_said(
    log: LogStore,
    rememberer: Rememberer,
    record: SessionRecord,
    *,
    last_seq: int,
    report: Callable[[EverfoldError], None],
    progress: Progress | None = None,
    said: Sequence[Message] = (),
    epoch: int | None = None,
) -> Progress | None:
    """Take what messages up to the given one say into memory, and give how far the pass is.

    Never raises what a store does: it is reported, and the next call goes on where this one ended. A message that is
    erased meanwhile gives nothing.

    Args:
        log: Where the messages are.
        rememberer: Of the session's agent.
        record: The session.
        last_seq: The newest message to look at.
        report: Is told why the pass ended early.
        progress: What the last call gave; None reads it from the store.
        said: Messages that the caller has, so that they are not read again. Used only where they are all that is due, and an
            epoch is known that is older than they are: that of the progress, or the given one.
        epoch: That of memory before `said` were appended; None where it was not read.

    Returns:
        How far the pass is; None where not even that could be read.
    """
    try:
        for _ in range(_MOST_TRIES):
            if progress is None:
                progress = await _begin(rememberer, record)
                if epoch is None:
                    said = ()
                else:
                    progress = replace(progress, epoch=epoch)
            if progress.now.extracted_seq >= last_seq:
                return progress
            try:
                return await _run(log, rememberer, record, progress, last_seq, said)
            except ConflictError:
                progress, epoch = None, None
        report(ConflictError(f"session {record.id}: others moved its cursor; tried again later", session=record.id))
    except StoreError as error:
        report(error)
    return progress


async def store_progress(rememberer: Rememberer, progress: Progress) -> Progress:
    """Have the store hold what is so. What others have changed beside the cursor stays as they left it.

    Raises:
        ConflictError: others were first each time.
    """
    for _ in range(_MOST_TRIES):
        if progress.now == progress.stored:
            return progress
        try:
            await rememberer.store.write_session_memory(progress.now, expected=progress.stored)
        except ConflictError:
            progress = _rebase(progress, await rememberer.store.read_session_memory(progress.now.session_id))
            continue
        return replace(progress, stored=progress.now)
    raise ConflictError(
        f"session {progress.now.session_id}: others changed what is kept of its memory {_MOST_TRIES} times in a row",
        session=progress.now.session_id,
    )


def _rebase(progress: Progress, found: SessionMemory) -> Progress:
    """The same progress over what the store holds by now; nothing to do where it is as far already."""
    before, now = progress.stored, progress.now
    if found.extracted_seq >= now.extracted_seq:
        return replace(progress, stored=found, now=found, spoken=None)
    moved = replace(
        found,
        extracted_seq=now.extracted_seq,
        tokens_count=found.tokens_count + max(now.tokens_count - before.tokens_count, 0),
        calls_count=found.calls_count + max(now.calls_count - before.calls_count, 0),
    )
    return replace(progress, stored=found, now=moved)


async def _begin(rememberer: Rememberer, record: SessionRecord) -> Progress:
    """What the store holds; a branch begins behind what its parent has looked at of what they share."""
    version, stored = await rememberer.store.read_memory_of(record.id)
    if record.parent_id is None or stored.extracted_seq >= record.branch_seq:
        return Progress(stored=stored, now=stored, epoch=version.epoch)
    parent = await rememberer.store.read_session_memory(record.parent_id)
    begun_seq = max(stored.extracted_seq, min(record.branch_seq, parent.extracted_seq))
    read_seq = max(stored.model_seq, min(record.branch_seq, parent.model_seq))
    begun = replace(stored, extracted_seq=begun_seq, model_seq=read_seq)
    return Progress(stored=stored, now=begun, epoch=version.epoch)


async def _run(
    log: LogStore,
    rememberer: Rememberer,
    record: SessionRecord,
    progress: Progress,
    last_seq: int,
    said: Sequence[Message],
) -> Progress:
    """Page by page, as long as there is something due.

    Raises:
        ConflictError: the cursor was moved by another, or what was read may have been erased.
    """
    while (done_seq := progress.now.extracted_seq) < last_seq:
        page = _cut(said, progress, last_seq)
        if not page:
            page = await log.read_messages(record.id, _next_seqs(progress, last_seq))
        if any(message.lines for message in page):
            await finish_pausing(read_ends_ahead())
        candidates, end_seq = await _find(page, record, progress)
        end_seq = end_seq or min(done_seq + PAGE_COUNT, last_seq)
        if any(one.origin == "assistant" for one in candidates):
            first_seq = max(done_seq + 1 - HEARD_COUNT, 1)
            heard = await log.read_messages(record.id, range(first_seq, page[0].seq)) if first_seq < page[0].seq else []
            candidates = drop_echoes(candidates, [*heard, *page])
        if candidates:
            of = Pass(session_id=record.id, compaction_id=None, first_seq=done_seq + 1, last_seq=end_seq)
            taken = await rememberer.take(
                candidates,
                user_id=record.user_id,
                agent_id=record.agent_id,
                written_by="heuristic",
                actor=ACTOR,
                of=of,
                epoch=progress.epoch,
            )
            if taken.is_dropped:
                raise ConflictError(f"session {record.id}: something was erased meanwhile", session=record.id)
        progress = replace(
            progress, now=_advance(progress.now, page, end_seq), spoken=_find_spoken(page, end_seq) or progress.spoken
        )
        if candidates or end_seq - progress.stored.extracted_seq >= CURSOR_COUNT:
            progress = await store_progress(rememberer, progress)
    return progress


def _next_seqs(progress: Progress, last_seq: int) -> range:
    """The next page, with messages before it where what was said last is not known: that is a question, perhaps."""
    done_seq = progress.now.extracted_seq
    first_seq = done_seq + 1 if progress.spoken is not None else done_seq + 1 - BEFORE_COUNT
    return range(max(first_seq, 1), min(done_seq + PAGE_COUNT, last_seq) + 1)


def _cut(said: Sequence[Message], progress: Progress, last_seq: int) -> Sequence[Message]:
    """The next page of messages that the caller has; nothing where more is due, or an answer whose question is not known."""
    done_seq = progress.now.extracted_seq
    if not said or said[-1].seq != last_seq or len(said) != last_seq - said[0].seq + 1 or said[0].seq > done_seq + 1:
        return ()
    at = done_seq - said[0].seq + 1
    is_known = done_seq == 0 or at > 0 or progress.spoken is not None or not _may_answer(said)
    return said[max(at - 1, 0) : at + PAGE_COUNT] if is_known else ()


def _may_answer(said: Sequence[Message]) -> bool:
    """Whether messages begin with words of the user's that are noted: what was said before them counts."""
    first = next((message for message in said if said_text(message) is not None), None)
    return first is not None and first.kind == "user" and bool(first.lines)


def _find_spoken(page: Sequence[Message], end_seq: int) -> Message | None:
    """The last of some messages up to one that says something."""
    return next((one for one in reversed(page) if one.seq <= end_seq and said_text(one) is not None), None)


async def _find(
    page: Sequence[Message], record: SessionRecord, progress: Progress
) -> tuple[list[Candidate], int | None]:
    """What the messages that are due say, each held against what the assistant said just before it.

    Ends early behind a message with which they say enough for one change of memory, and gives its number then.
    """
    found: list[Candidate] = []
    spoken = progress.spoken
    for number, message in enumerate(page, 1):
        if message.seq > progress.now.extracted_seq:
            found += _find_in(message, record, spoken)
            if len(found) >= MOST_FOUND:
                return found, message.seq
        if said_text(message) is not None:
            spoken = message
        if number % STEP_COUNT == 0:
            await asyncio.sleep(0)
    return found, None


def _find_in(message: Message, record: SessionRecord, spoken: Message | None) -> tuple[Candidate, ...]:
    """What one message says, beside what the assistant said last; a question is taken from the same session only."""
    holder = find_holder(record.lineage, message.seq)
    asked = spoken if spoken is not None and spoken.kind == "assistant" else None
    is_there = asked is not None and find_holder(record.lineage, asked.seq) == holder
    before = None if asked is None else said_text(asked)
    return find_candidates(message, session_id=holder, before=before, asked=asked if is_there else None)


def _advance(memory: SessionMemory, page: Sequence[Message], end_seq: int) -> SessionMemory:
    """The cursor behind a page, with what the page adds to the size of what no model has read."""
    fresh = [message for message in page if max(memory.extracted_seq, memory.model_seq) < message.seq <= end_seq]
    return replace(
        memory,
        extracted_seq=end_seq,
        tokens_count=memory.tokens_count + sum(message.tokens for message in fresh),
        calls_count=memory.calls_count + sum(len(message.view.calls) for message in fresh),
    )
