"""Carrying out a compaction plan, as values: digests, the new layout, the certificate and the report.

Source: DESIGN sections 3.2 to 3.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Literal

from everfold.core.compaction.certificate import Certificate, Covered, hash_text, seal_certificate
from everfold.core.compaction.layout import APART, HeldMessage, Layout, ShownRange
from everfold.core.compaction.planning import GONE, CompactionPlan, Group, measure_body, name_gone
from everfold.core.digests.drafts import Draft
from everfold.core.digests.extractive import DigestSource, DigestText, compose_digest_stepwise, compose_rollup_stepwise
from everfold.core.digests.pools import RollupPool, pool_stepwise
from everfold.core.digests.rule_objects import list_objects
from everfold.core.digests.standing import StandingInstructions, compose_standing_stepwise
from everfold.core.log.calibration import Calibration, count_tokens
from everfold.core.log.messages import Note
from everfold.core.primitives.stepwise import Steps, finish
from everfold.core.statements.extracts import ExtractLine
from everfold.core.statements.strengths import read_rows_ahead
from everfold.core.text.tokens import estimate_text_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The immutable text that represents folded messages.

    Attributes:
        reads: The folded messages that a digest read; a rollup read every message of its range.
        pool: What a rollup was selected from, and the next one will be.
    """

    id: str
    compaction_id: str
    kind: Literal["digest", "rollup"]
    generator: Literal["extractive", "abstractive"]
    first_seq: int
    last_seq: int
    text: str
    tokens: int
    content_hash: str
    reads: tuple[int, ...] = ()
    pool: RollupPool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReport:
    """What a compaction did. Token counts are of the window less its fixed part, by the fixed estimate.

    `cache_break_after_tokens` is what the provider's cache still holds of the body; `resent_tokens` what it must read
    again. `calibration` was the session's then; `counted` gives the figures in the provider's tokens, for people.
    """

    trigger: str
    first_seq: int
    last_seq: int
    kept_count: int
    folded_count: int
    folded_later_count: int
    joined_through: int
    tokens_before: int
    tokens_after: int
    own_digest_tokens: int
    rollup_tokens: int
    standing_tokens: int
    cache_break_after_tokens: int
    resent_tokens: int
    calibration: float = 1.0

    @property
    def counted(self) -> "CompactionReport":
        """The same in the provider's tokens."""
        if self.calibration == 1:
            return self
        count = partial(count_tokens, Calibration(factor=self.calibration))
        return replace(
            self,
            calibration=1.0,
            tokens_before=count(self.tokens_before),
            tokens_after=count(self.tokens_after),
            own_digest_tokens=count(self.own_digest_tokens),
            rollup_tokens=count(self.rollup_tokens),
            standing_tokens=count(self.standing_tokens),
            cache_break_after_tokens=count(self.cache_break_after_tokens),
            resent_tokens=count(self.resent_tokens),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Everything that one compaction commits."""

    digests: tuple[Digest, ...]
    layout: Layout
    certificate: Certificate
    report: CompactionReport


def fold(
    plan: CompactionPlan,
    layout: Layout,
    notes: Mapping[int, Note],
    pool: RollupPool | None,
    *,
    compaction_id: str,
    draft: Draft | None = None,
) -> Fold:
    """Carry out a plan.

    Args:
        plan: What to do.
        layout: The layout that the plan was made from.
        notes: The messages of the range, of every fine range that joins the rollup, those that leave, those that are held,
            those whose questions stand with these, and the one before each range.
        pool: The pool of the rollup that is shown, or None when there is none.
        compaction_id: The compaction that commits this; digest ids are made from it.
        draft: The digest that a model wrote; an extractive one is made when left out.

    What was erased after the plan was made is not brought back: the notes and the layout say what is left.
    """
    return finish(fold_stepwise(plan, layout, notes, pool, compaction_id=compaction_id, draft=draft))


def fold_stepwise(
    plan: CompactionPlan,
    layout: Layout,
    notes: Mapping[int, Note],
    pool: RollupPool | None,
    *,
    compaction_id: str,
    draft: Draft | None = None,
) -> Steps[Fold]:
    """The same with a pause after each step of a few milliseconds, so that other tasks can run."""
    plan = _without_erased(plan, layout, notes)
    yield from read_rows_ahead()
    standing = yield from compose_standing_stepwise(
        _standing_lines(plan, layout, notes),
        beside=_list_held_lines(plan, notes),
        settled=(*layout.standing, *layout.standing_pool),
        cap_tokens=plan.standing_cap_tokens,
        weak_cap_tokens=plan.weak_standing_cap_tokens,
        estimate=estimate_text_tokens,
        left_out=layout.standing_dropped,
        as_of=max((note.said_at for note in notes.values()), default=None),
    )
    yield
    fine = (
        (yield from _digest_of_range(plan, notes, compaction_id, standing=standing.lines))
        if draft is None
        else _drafted(plan, draft, compaction_id)
    )
    yield
    rollup = yield from _rollup_of_ranges(plan, layout, notes, pool, compaction_id, standing=standing.lines)
    yield
    new_layout = _lay_out(plan, _new_ranges(plan, layout, fine, rollup), standing)
    digests = tuple(digest for digest in (fine, rollup) if digest is not None)
    certificate = _certify(plan, notes, fine, rollup, compaction_id)
    return Fold(
        digests=digests,
        layout=new_layout,
        certificate=certificate,
        report=report_fold(plan, layout, new_layout, digests),
    )


def _lay_out(plan: CompactionPlan, ranges: tuple[ShownRange, ...], standing: StandingInstructions) -> Layout:
    layout = Layout(
        watermark=plan.last_seq,
        sum_tokens=plan.sum_tokens,
        turns_count=plan.turns_count,
        held=plan.held,
        ranges=ranges,
        standing=standing.lines,
        standing_text=standing.text,
        standing_tokens=standing.tokens,
        standing_left_out=standing.left_out,
        standing_pool=standing.waiting,
        standing_dropped=standing.dropped,
    )
    return replace(layout, body_tokens=measure_body(layout))


def report_later(
    done: Fold,
    plan: CompactionPlan,
    before: Layout,
    *,
    tokens_before: int,
    replaced_tokens: int,
    calibration: Calibration,
) -> Fold:
    """The same fold, reported for a window that has grown since the plan was made."""
    plan = replace(plan, tokens_before=tokens_before, replaced_tokens=replaced_tokens)
    report = report_fold(plan, before, done.layout, done.digests)
    return replace(done, report=replace(report, calibration=calibration.factor))


def _without_erased(plan: CompactionPlan, layout: Layout, notes: Mapping[int, Note]) -> CompactionPlan:
    """The plan without the messages that were erased since it was made."""
    groups: tuple[Group, ...] = tuple(
        name_gone(notes[seq]) if notes[seq].is_erased else group
        for seq, group in enumerate(plan.groups, plan.first_seq)
    )
    left = {seq for seq, group in enumerate(groups, plan.first_seq) if group not in GONE} | layout.held_seqs
    gone = {seq for seq, note in notes.items() if note.is_erased}
    held = [held for held in plan.held if held.seq in left]
    return replace(
        plan,
        groups=groups,
        held=tuple([one.without_asked() if one.asked and one.asked.seq in gone else one for one in held]),
        leaving=tuple(seq for seq in plan.leaving if seq in left),
    )


def to_source(note: Note) -> DigestSource:
    """A message as digests read it."""
    return DigestSource(
        seq=note.seq,
        origin=note.origin,
        role=note.kind,
        speaker=note.name,
        said_at=note.said_at,
        tokens=note.raw_tokens,
        lines=note.lines,
        is_result=note.kind in {"result", "late"},
        calls=note.calls,
    )


def _digest(
    text: DigestText, *, id_: str, compaction_id: str, kind: Literal["digest", "rollup"], first: int, last: int
) -> Digest:
    return Digest(
        id=id_,
        compaction_id=compaction_id,
        kind=kind,
        generator="extractive",
        first_seq=first,
        last_seq=last,
        text=text.text,
        tokens=text.tokens,
        content_hash=hash_text(text.text),
    )


def _digest_of_range(
    plan: CompactionPlan, notes: Mapping[int, Note], compaction_id: str, *, standing: Sequence[ExtractLine]
) -> Steps[Digest | None]:
    folded = plan.folded
    if not folded:
        return None
    text = yield from compose_digest_stepwise(
        [to_source(notes[seq]) for seq in folded],
        first_seq=plan.first_seq,
        last_seq=plan.last_seq,
        cap_tokens=plan.digest_cap_tokens,
        estimate=estimate_text_tokens,
        focus=plan.focus,
        beside=[*standing, *_list_held_lines(plan, notes)],
    )
    digest = _digest(
        text,
        id_=f"{compaction_id}.digest",
        compaction_id=compaction_id,
        kind="digest",
        first=plan.first_seq,
        last=plan.last_seq,
    )
    return replace(digest, reads=folded)


def _drafted(plan: CompactionPlan, draft: Draft, compaction_id: str) -> Digest | None:
    if not plan.folded:
        return None
    return make_abstractive(
        draft, compaction_id=compaction_id, first_seq=plan.first_seq, last_seq=plan.last_seq, reads=plan.folded
    )


def make_abstractive(
    draft: Draft, *, compaction_id: str, first_seq: int, last_seq: int, reads: tuple[int, ...]
) -> Digest:
    """The digest of a range that a model wrote, as the compaction commits it."""
    return Digest(
        id=f"{compaction_id}.digest",
        compaction_id=compaction_id,
        kind="digest",
        generator="abstractive",
        first_seq=first_seq,
        last_seq=last_seq,
        text=draft.text,
        tokens=draft.tokens,
        content_hash=hash_text(draft.text),
        reads=reads,
    )


def _rollup_of_ranges(
    plan: CompactionPlan,
    layout: Layout,
    notes: Mapping[int, Note],
    pool: RollupPool | None,
    compaction_id: str,
    *,
    standing: Sequence[ExtractLine],
) -> Steps[Digest | None]:
    if not plan.join_through:
        return None
    joined_from = layout.rollup.last_seq + 1 if layout.rollup else 1
    sources = [to_source(notes[seq]) for seq in range(joined_from, plan.join_through + 1) if seq in notes]
    pool = yield from pool_stepwise(pool or RollupPool(), sources)
    text = yield from compose_rollup_stepwise(
        pool,
        first_seq=1,
        last_seq=plan.join_through,
        cap_tokens=plan.rollup_cap_tokens,
        estimate=estimate_text_tokens,
        beside=[*list_shown_elsewhere(pool, plan.held, standing), *_list_held_lines(plan, notes)],
    )
    digest = _digest(
        text, id_=f"{compaction_id}.rollup", compaction_id=compaction_id, kind="rollup", first=1, last=plan.join_through
    )
    return replace(digest, pool=pool)


def _new_ranges(
    plan: CompactionPlan, layout: Layout, fine: Digest | None, rollup: Digest | None
) -> tuple[ShownRange, ...]:
    ranges = [shown for shown in layout.ranges if shown.last_seq > plan.join_through]
    if rollup is not None:
        ranges.insert(0, _shown(rollup))
    if plan.groups:
        digest_id, tokens = (fine.id, fine.tokens) if fine else ("", 0)
        ranges.append(
            ShownRange(
                first_seq=plan.first_seq,
                last_seq=plan.last_seq,
                digest_id=digest_id,
                kind="digest",
                digest_tokens=tokens,
            )
        )
    return tuple(ranges)


def _shown(digest: Digest) -> ShownRange:
    return ShownRange(
        first_seq=digest.first_seq,
        last_seq=digest.last_seq,
        digest_id=digest.id,
        kind=digest.kind,
        digest_tokens=digest.tokens,
    )


def _standing_lines(plan: CompactionPlan, layout: Layout, notes: Mapping[int, Note]) -> list[ExtractLine]:
    """The standing instructions whose messages are not shown verbatim, those that wait for room too, newest first.

    With the sentences of the messages before that say what they speak of.
    """
    gone = [notes[seq] for seq in (*plan.folded, *plan.leaving) if seq in notes]
    lines = [line for note in gone for line in list_standing(note, notes.get(note.seq - 1))]
    held = {message.seq for message in plan.held}
    lines += [line for line in (*layout.standing, *layout.standing_pool) if not line.standing or line.seq not in held]
    return sorted(lines, key=lambda line: (-line.seq, line.start))


def list_standing(note: Note, before: Note | None) -> list[ExtractLine]:
    """The standing lines of a message, and what they speak of in the message before it."""
    lines = [line for line in note.lines if line.standing]
    return lines + (list_objects(lines, before.lines) if before is not None and not before.is_erased else [])


def list_shown_elsewhere(
    pool: RollupPool, held: Sequence[HeldMessage], standing: Sequence[ExtractLine]
) -> list[ExtractLine]:
    """Lines of the pool whose message is shown verbatim, and those that the standing instructions quote."""
    held_seqs = {message.seq for message in held}
    return [*standing, *(line for line in pool.list_lines() if line.seq in held_seqs)]


def _list_held_lines(plan: CompactionPlan, notes: Mapping[int, Note]) -> list[ExtractLine]:
    """What stays word for word, questions of kept answers too: nothing says it twice, and it supersedes what it corrects."""
    lines = [line for message in plan.held if message.seq in notes for line in notes[message.seq].lines]
    asked = {(one.asked.seq, one.asked.start) for one in plan.held if one.asked}
    shown = [notes[seq] for seq, _ in asked if seq in notes]
    return lines + [line for note in shown for line in note.lines if (line.seq, line.start) in asked]


def _certify(
    plan: CompactionPlan, notes: Mapping[int, Note], fine: Digest | None, rollup: Digest | None, compaction_id: str
) -> Certificate:
    digest_id_of_range = fine.id if fine else ""
    covered = tuple(
        Covered(
            seq=seq,
            group=group,
            content_hash=notes[seq].content_hash,
            digest_id=digest_id_of_range if group == "folded" else "",
        )
        for seq, group in enumerate(plan.groups, plan.first_seq)
    )
    folded_later = tuple(
        Covered(
            seq=seq,
            group="folded",
            content_hash=notes[seq].content_hash,
            digest_id=rollup.id if rollup else "",
        )
        for seq in plan.leaving
    )
    digests = tuple((digest.id, digest.content_hash) for digest in (fine, rollup) if digest is not None)
    return seal_certificate(
        Certificate(
            compaction_id=compaction_id,
            first_seq=plan.first_seq,
            last_seq=plan.last_seq,
            covered=covered,
            folded_later=folded_later,
            digests=digests,
            rollup_last_seq=plan.join_through,
        )
    )


def report_fold(plan: CompactionPlan, before: Layout, after: Layout, digests: Sequence[Digest]) -> CompactionReport:
    """What putting one layout in the place of another did, in figures. The digests are those that it brought."""
    passed_tokens = after.sum_tokens - before.sum_tokens - plan.replaced_tokens
    tail_tokens = plan.tokens_before - before.body_tokens - passed_tokens
    tokens_after = after.body_tokens + tail_tokens
    stable = _stable_tokens(before, after)
    return CompactionReport(
        trigger=plan.trigger,
        first_seq=plan.first_seq,
        last_seq=plan.last_seq,
        kept_count=sum(group == "kept" for group in plan.groups),
        folded_count=len(plan.folded),
        folded_later_count=len(plan.leaving),
        joined_through=plan.join_through,
        tokens_before=plan.tokens_before,
        tokens_after=tokens_after,
        own_digest_tokens=sum(digest.tokens for digest in digests if digest.kind == "digest"),
        rollup_tokens=sum(digest.tokens for digest in digests if digest.kind == "rollup"),
        standing_tokens=after.standing_tokens,
        cache_break_after_tokens=stable,
        resent_tokens=tokens_after - stable,
    )


def _stable_tokens(before: Layout, after: Layout) -> int:
    """Tokens at the beginning of the body that a compaction left as they were."""
    if before.head != after.head:
        return 0
    tokens = after.head.tokens if after.head else 0
    for old, new in zip(before.ranges, after.ranges, strict=False):
        old_kept = _kept_in(before.held, old)
        new_kept = _kept_in(after.held, new)
        tokens += sum(held.tokens for held in _common(old_kept, new_kept))
        if old != new or old_kept != new_kept:
            break
        tokens += new.digest_tokens
    return tokens


def _kept_in(held: Sequence[HeldMessage], shown: ShownRange) -> list[HeldMessage]:
    inside = [message for message in held if shown.first_seq <= message.seq <= shown.last_seq]
    return [message for message in inside if message.hold not in APART]


def _common(before: Sequence[HeldMessage], after: Sequence[HeldMessage]) -> list[HeldMessage]:
    """What two rows of messages begin with alike."""
    pairs = zip(before, after, strict=False)
    return [held for held, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
