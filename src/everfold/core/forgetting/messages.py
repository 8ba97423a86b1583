"""What an erase replaces, as values: all that was derived from the erased message is made again without it.

Theory of operation. A message is quoted in four places that are stored: the digests that read it, the standing instructions
of layouts, the context rows of the messages said after it, and the states that remember what was said last. Each is
made again from the notes and messages that are left, never from what it said before, and none grows. Sizes of the log
(tokens and prefix sums) stay as they were: planning goes on from the same figures, and a window is at most as large as
it says. Certificates name the message as erased, and carry the new digests' hashes.

A message may be shared by branches. An `Erasure` names the state of every session that holds it, so that whatever was
begun before it anywhere meets a newer revision and a newer epoch when it wants to commit.

Source: DESIGN G4, G10 and section 3.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from everfold.core.compaction.certificate import Certificate, Covered, hash_text, seal_certificate
from everfold.core.compaction.folding import Digest, list_shown_elsewhere, to_source
from everfold.core.compaction.layout import Layout
from everfold.core.compaction.planning import measure_body
from everfold.core.digests.extractive import DigestText, compose_digest, compose_rollup
from everfold.core.digests.pools import pool_drop
from everfold.core.digests.standing import LeftOut, compose_standing_instructions, measure_weak_rows
from everfold.core.log.appending import index_message, remember_said, said_text
from everfold.core.log.messages import Message, Note
from everfold.core.log.state import WHOLE_WINDOW, SessionState
from everfold.core.memory.records import MemoryChange
from everfold.core.primitives.ids import CompactionId, SessionId
from everfold.core.statements.extracts import ExtractLine
from everfold.core.text.searching import BEFORE_COUNT, SearchText
from everfold.core.text.tokens import estimate_text_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSearchRow:
    """What the index holds from now on for a message after the erased one. `session_id` is where it is stored."""

    session_id: SessionId
    seq: int
    text: SearchText


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """The layout and the certificate of one compaction, made again."""

    compaction_id: CompactionId
    layout: Layout
    certificate: Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """Everything that one erase writes, all or nothing.

    Attributes:
        session_id: The session that stores the message.
        states: The new state of every session whose log holds the message; each revision is one more than expected.
        digests: Under the same ids as before.
        memory: What it changes of memory, one after the other; a conflict of one refuses the whole erase.
    """

    session_id: SessionId
    seq: int
    states: tuple[tuple[SessionId, SessionState], ...]
    search_rows: tuple[NewSearchRow, ...] = ()
    digests: tuple[Digest, ...] = ()
    records: tuple[NewRecord, ...] = ()
    memory: tuple[MemoryChange, ...] = ()


def erase_from_state(state: SessionState, seq: int, newest: Sequence[Message]) -> SessionState:
    """The next state, which remembers nothing of the message.

    Args:
        state: The state now.
        seq: The erased message.
        newest: The last messages of the log without it, enough for `BEFORE_COUNT` said ones.
    """
    said = [text for message in reversed(newest) if message.seq != seq and (text := said_text(message))]
    return replace(
        state.with_cache_break("erase", WHOLE_WINDOW),
        revision=state.revision + 1,
        epoch=state.epoch + 1,
        said_before=tuple(said[:BEFORE_COUNT]),
        turn_tokens=0 if seq == state.turn_seq else state.turn_tokens,
        head_tokens=0 if seq == state.head_seq else state.head_tokens,
    )


def index_neighbours(seq: int, messages: Sequence[Message]) -> list[tuple[int, SearchText]]:
    """The index texts of the messages whose context row held the erased message's words.

    Args:
        seq: The erased message.
        messages: Its neighbours without it, rising; `BEFORE_COUNT` said ones on each side, where there are so many.
    """
    said_before: tuple[str, ...] = ()
    rows: list[tuple[int, SearchText]] = []
    after_count = 0
    for message in messages:
        if message.seq == seq:
            continue
        if message.seq > seq and after_count < BEFORE_COUNT and said_text(message) is not None:
            rows.append((message.seq, index_message(message, said_before=said_before)))
        after_count += message.seq > seq and bool(said_text(message))
        said_before = remember_said(message, said_before)
    return rows


def erase_from_digest(
    digest: Digest, seq: int, notes: Sequence[Note], layout: Layout, *, focus: str | None
) -> Digest | None:
    """The digest without the message, under its id and not larger; None when nothing of the message is in it.

    Args:
        digest: A digest whose range holds the message.
        seq: The erased message.
        notes: What the digest read, for a fine one.
        layout: What its compaction put in force, without the message.
        focus: What the caller of its compaction asked it to hold rather.
    """
    if digest.pool is not None:
        pool = pool_drop(digest.pool, {seq})
        if pool == digest.pool:
            return None
        text = compose_rollup(
            pool,
            first_seq=digest.first_seq,
            last_seq=digest.last_seq,
            cap_tokens=digest.tokens,
            estimate=estimate_text_tokens,
            beside=list_shown_elsewhere(pool, layout.held, layout.standing),
        )
        return replace(_with_text(digest, text), pool=pool)
    if seq not in digest.reads:
        return None
    text = compose_digest(
        [to_source(note) for note in notes if note.seq != seq],
        first_seq=digest.first_seq,
        last_seq=digest.last_seq,
        cap_tokens=digest.tokens,
        estimate=estimate_text_tokens,
        focus=focus,
    )
    return replace(_with_text(digest, text), reads=tuple(read for read in digest.reads if read != seq))


def _with_text(digest: Digest, text: DigestText) -> Digest:
    return replace(
        digest, generator="extractive", text=text.text, tokens=text.tokens, content_hash=hash_text(text.text)
    )


def erase_from_layout(layout: Layout, seq: int, standing: Sequence[ExtractLine] | None = None) -> Layout:
    """The layout without the message; the standing instructions are not larger than before.

    Args:
        layout: A layout whose watermark is at the message or after it.
        seq: The erased message.
        standing: Every standing line up to the watermark whose message is not held, to fill the block again; what the
            block shows already, when left out.
    """
    held = [held for held in layout.held if held.seq != seq]
    held = [one.without_asked() if one.asked and one.asked.seq == seq else one for one in held]
    new = replace(layout, held=tuple(held))
    if standing is not None:
        new = _with_standing(new, [line for line in standing if line.seq != seq], LeftOut())
    elif any(line.seq == seq for line in (*layout.standing, *layout.standing_pool)):
        left = [line for line in (*layout.standing, *layout.standing_pool) if line.seq != seq]
        new = _with_standing(new, left, layout.standing_dropped)
    return replace(new, body_tokens=measure_body(new))


def _with_standing(layout: Layout, lines: Sequence[ExtractLine], left_out: LeftOut) -> Layout:
    weak_tokens = measure_weak_rows(layout.standing, estimate=estimate_text_tokens)
    block = compose_standing_instructions(
        lines,
        cap_tokens=max(layout.standing_tokens - weak_tokens, 0),
        weak_cap_tokens=min(weak_tokens, layout.standing_tokens),
        estimate=estimate_text_tokens,
        left_out=left_out,
    )
    return replace(
        layout,
        standing=block.lines,
        standing_text=block.text,
        standing_tokens=block.tokens,
        standing_left_out=block.left_out,
        standing_pool=block.waiting,
        standing_dropped=block.dropped,
    )


def show_new_digests(layout: Layout, digests: Mapping[str, Digest]) -> Layout:
    """The layout with the sizes of digests that were made again."""
    ranges = tuple(
        replace(shown, digest_tokens=digests[shown.digest_id].tokens) if shown.digest_id in digests else shown
        for shown in layout.ranges
    )
    new = replace(layout, ranges=ranges)
    return replace(new, body_tokens=measure_body(new))


def erase_from_certificate(certificate: Certificate, seq: int, digests: Mapping[str, Digest]) -> Certificate:
    """The certificate, issued again: the message is named as erased, and the digests have their new hashes."""
    return seal_certificate(
        replace(
            certificate,
            covered=tuple(_erase_covered(covered, seq) for covered in certificate.covered),
            folded_later=tuple(_erase_covered(covered, seq) for covered in certificate.folded_later),
            digests=tuple(
                (id_, digests[id_].content_hash if id_ in digests else hash_) for id_, hash_ in certificate.digests
            ),
        )
    )


def _erase_covered(covered: Covered, seq: int) -> Covered:
    return Covered(seq=seq, group="erased", content_hash="") if covered.seq == seq else covered
