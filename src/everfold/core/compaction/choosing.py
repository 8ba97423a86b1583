"""Choosing: what a compaction keeps and folds.

Theory of operation. A compaction moves the watermark forward over whole units, and assigns every message that it passes
to a group. It folds from the oldest end until the parts of the window have their shares of the target, never the newest
unit, never the user message of the running turn. It may fold older kept messages too: then every range that they lie in
joins the rollup, which has read them. Digests and standing instructions are not written yet and count with their caps;
what they cannot need is left to others. So the window is within its target whatever the texts will be.

Source: DESIGN sections 3.1 and 6.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from everfold.core.compaction.held import (
    LEAVE_RATIO,
    choose_held,
    measure_note_quotes,
    measure_quotes,
    offer_note,
    settle_running,
)
from everfold.core.compaction.layout import NO_QUOTES, HeldMessage, Layout, Quotes, split_held
from everfold.core.compaction.planning import (
    EARLIER_TOKENS,
    CompactionPlan,
    Demand,
    Group,
    Trigger,
    find_trigger,
    measure_floor,
    measure_frame,
    measure_let_go,
    measure_trigger,
    measure_window,
    name_gone,
    project_range,
)
from everfold.core.compaction.shares import (
    LEAST_STANDING_TOKENS,
    SMALLEST_DIGEST_TOKENS,
    Shares,
    Wanted,
    cap_digest,
    cap_rollup,
    choose_joined,
    share_parts,
)
from everfold.core.log.budget import Policy, UsableBudget, find_target_ratio
from everfold.core.log.messages import Note
from everfold.core.log.state import SessionState
from everfold.core.primitives.stepwise import Steps, finishing
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS

_NAMED_TOKENS = 16
"""The line after the kept messages of a range, less what each of them adds to it."""
_NAME_TOKENS = 3
_BLOCKS_PER_STEP = 200
"""Some milliseconds of units that hold a message each. Source: own measurement, 4,000 short messages at once."""


def plan_compaction_stepwise(
    state: SessionState,
    layout: Layout,
    notes: Sequence[Note],
    policy: Policy,
    budget: UsableBudget,
    *,
    demand: Demand | None = None,
    before: Note | None = None,
) -> Steps[CompactionPlan | None]:
    """Choose what the next compaction keeps and folds, or None when nothing is due or nothing would be gained.

    Args:
        state: The session's state.
        layout: What the window shows of the past now.
        notes: The messages directly after the watermark, ending at a boundary; at least one compaction's worth.
        policy: How the session compacts.
        budget: The shares of the limit that the window must fit, its target fitted to the floor.
        demand: A compaction that was asked for.
        before: The message at the watermark, which the first of them may answer.

    Never cuts inside a step. Ties keep more. O(notes + held).
    """
    tokens = measure_window(state, layout)
    trigger = demand.trigger if demand else find_trigger(state, layout, policy, budget, tokens=tokens)
    if trigger is None:
        return None
    walk = _Walk(state, layout, policy, budget, trigger, tokens, before)
    last_foldable = state.newest_block_seq - 1
    if demand:
        last_foldable = min(last_foldable, state.last_seq - demand.keep_recent)
    for count, block in enumerate(_blocks(notes)):
        if count and count % _BLOCKS_PER_STEP == 0:
            yield
        if block[-1].seq > last_foldable or (not demand and walk.is_enough()):
            break
        if walk.passed and len(walk.passed) + len(block) > policy.rows_per_digest:
            break
        walk.pass_block(block)
    has_more = bool(walk.passed) and walk.passed[-1].seq < last_foldable
    is_cut_short = has_more and (demand is not None or not walk.is_enough())
    if len(walk.passed) >= _BLOCKS_PER_STEP:
        yield
    return walk.finish(demand, is_cut_short=is_cut_short)


plan_compaction: Final = finishing(plan_compaction_stepwise)


def _blocks(notes: Sequence[Note]) -> Iterable[Sequence[Note]]:
    start = 0
    for index, note in enumerate(notes):
        if note.is_boundary:
            yield notes[start : index + 1]
            start = index + 1


def _add(quotes: Quotes, more: Quotes) -> Quotes:
    return Quotes(quotes.strong + more.strong, quotes.weak + more.weak)


class _Stop(NamedTuple):
    """Where the fold could end: what was passed up to there, and what it holds for the parts of the window, in tokens.

    `kept` could be kept, `pinned` is pinned, frames included; `recent` counts with the tail though it was passed;
    `quoted` is what the standing lines would take that the window shows in no other way, `quotable` those of what could be
    kept.
    """

    passed_count: int
    tokens: int
    turns: int
    offered: int
    head: int
    recent: int
    pinned: int
    kept: int
    quoted: Quotes
    quotable: Quotes


class _Settled(NamedTuple):
    """A stop with everything that its compaction would do.

    `quoted` is what the standing instructions would take, the frame with the strong ones; `tokens_after` the most that the
    window would be; `is_lowered` says that digests have less than their shares.
    """

    stop: _Stop
    held: tuple[HeldMessage, ...]
    leaving: tuple[int, ...]
    join_through: int
    digest_cap: int
    rollup_cap: int
    standing_cap: int
    weak_standing_cap: int
    quoted: Quotes
    tokens_after: int = 0
    is_lowered: bool = False


class _Walk:
    """Moves the watermark block by block, remembers each stop, and says where the parts of the window have their shares."""

    def __init__(
        self,
        state: SessionState,
        layout: Layout,
        policy: Policy,
        budget: UsableBudget,
        trigger: Trigger,
        tokens: int,
        before: Note | None,
    ) -> None:
        self.state = state
        self.layout = layout
        self.policy = policy
        self.budget = budget
        self.trigger = trigger
        self.tokens = tokens
        target_tokens = int(budget.usable_tokens * find_target_ratio(policy, budget.usable_tokens))
        self.is_tight = budget.target_tokens > target_tokens  # then all folds that can
        self.joins_all = budget.is_small and not self.is_tight and not policy.awaits_model
        self.passed: list[Note] = []
        self.before = before
        self.replaced = {one.seq for one in state.refreshes[:-1]}
        self.digests_now = sum([shown.digest_tokens for shown in layout.ranges])
        unshown = [held.tokens for held in layout.held_refreshes if held.seq != state.refresh_seq]
        self.tail = tokens - layout.body_tokens + sum(unshown)
        self.offered: list[HeldMessage] = []
        self.passed_tokens = self.turns = self.head = self.recent = self.pinned = self.kept = self.too_few_tokens = 0
        quoted = (*layout.standing, *layout.standing_pool)
        self.quoted = measure_quotes(quoted, [line for line in quoted if not line.standing])
        self.quotable = NO_QUOTES
        for held in layout.held:
            self._offer(settle_running(held, state))
        self.stops = [self._stop()]

    def _offer(self, held: HeldMessage) -> None:
        """Count one message more that could be held."""
        self.offered.append(held)
        match held.hold:
            case "head":
                self.head += held.tokens
            case "refresh" if held.seq != self.state.refresh_seq:
                pass  # it is not shown
            case "running" | "refresh":
                self.recent += held.tokens
            case "pin" | "system":
                self.pinned += held.tokens + _NAME_TOKENS
            case _:
                self.kept += held.tokens + _NAME_TOKENS
                self.quotable = _add(self.quotable, held.quotes)

    def _stop(self) -> _Stop:
        """Where the walk is now."""
        return _Stop(
            passed_count=len(self.passed),
            tokens=self.passed_tokens,
            turns=self.turns,
            offered=len(self.offered),
            head=self.head,
            recent=self.recent,
            pinned=self.pinned,
            kept=self.kept,
            quoted=self.quoted,
            quotable=self.quotable,
        )

    def pass_block(self, block: Sequence[Note]) -> None:
        for note in block:
            before, self.before = self.before, note
            offered = offer_note(note, self.state, self.budget, before=before)
            self.passed.append(note)
            self.passed_tokens += 0 if note.seq in self.replaced else note.tokens
            self.turns += note.kind == "user"
            if offered is not None:
                self._offer(offered)
            elif note.kind == "user":
                self.quoted = _add(self.quoted, measure_note_quotes(note, before))
        self.stops.append(self._stop())

    def is_enough(self) -> bool:
        """Whether the fold may end at the last stop. The shares are counted only where as much has passed as was lacking."""
        stop, policy = self.stops[-1], self.policy
        turns_left = self.state.turns_count - self.layout.turns_count - stop.turns
        rows_left = self.state.safe_seq - self.layout.watermark - stop.passed_count
        if policy.turn_backstop is not None and turns_left > policy.turn_backstop:
            return False
        if policy.row_window is not None and rows_left > policy.row_window:
            return False
        if self.trigger in {"turns", "rows"} and self.tokens < measure_trigger(self.state, policy, self.budget):
            return True
        if self.is_tight or stop.tokens < self.too_few_tokens:
            return False
        lacking = self._measure_tail(stop) - self._share(stop).tail
        self.too_few_tokens = stop.tokens + lacking
        return lacking <= 0

    def _measure_tail(self, stop: _Stop) -> int:
        return self.tail - stop.tokens + stop.recent

    def _share(self, stop: _Stop) -> Shares:
        """What each part gets if the fold ends here. Of what cannot be kept, a like part of the standing lines is counted."""
        pinned = min(stop.pinned, self.budget.pinned_tokens)
        kept = stop.kept + stop.pinned - pinned
        shares = self._share_with(stop, kept, stop.quoted)
        if shares.kept < kept:
            left = (kept - int(shares.kept * LEAVE_RATIO)) / kept
            lost = Quotes(int(stop.quotable.strong * left), int(stop.quotable.weak * left))
            shares = self._share_with(stop, kept, _add(stop.quoted, lost))
        return shares

    def _share_with(self, stop: _Stop, kept: int, quotes: Quotes) -> Shares:
        """The same for so many tokens of what could be kept, and of standing lines that will be shown no longer."""
        budget, pinned = self.budget, min(stop.pinned, self.budget.pinned_tokens)
        frames = self._measure_frames(has_kept=bool(kept or pinned))
        quoted = self._add_frame(quotes)
        wanted = Wanted(
            given=stop.head + pinned + frames + (MESSAGE_OVERHEAD_TOKENS if quoted.strong else 0),
            pinned=pinned,
            strong=quoted.strong,
            weak=quoted.weak,
            kept=kept,
            digests=self.digests_now,
            rollup=self.layout.rollup.digest_tokens if self.layout.rollup else 0,
            folded=stop.tokens,
            is_first=not self.layout.ranges,
            joins_all=self.joins_all,
        )
        return share_parts(wanted, budget)

    def _measure_frames(self, *, has_kept: bool) -> int:
        """The most that the frames of the ranges take."""
        frame = MESSAGE_OVERHEAD_TOKENS + (EARLIER_TOKENS + _NAMED_TOKENS if has_kept else 0)
        return frame * (len(self.layout.ranges) + 1)

    def _measure_pinned_room(self) -> int:
        """The share of pinned messages, or what of it a raised target leaves beside what cannot leave or shrink further.

        What a later compaction folds, or a caller keeps for now, takes nothing of it.
        """
        if not self.is_tight:
            return self.budget.pinned_tokens
        least = 2 * SMALLEST_DIGEST_TOKENS + LEAST_STANDING_TOKENS + MESSAGE_OVERHEAD_TOKENS
        used = measure_floor(self.state, self.layout) + self._measure_frames(has_kept=True) + least
        return max(min(self.budget.pinned_tokens, self.budget.target_tokens - used), 0)

    def _add_frame(self, quotes: Quotes) -> Quotes:
        """The same with the frame of the standing instructions, and the line that counts what they do not show."""
        has_text = any(quotes) or self.layout.standing_left_out.count
        return quotes._replace(strong=quotes.strong + LEAST_STANDING_TOKENS) if has_text else quotes

    def _settle(self, stop: _Stop) -> _Settled:
        """What ending here would do, exactly but for texts that are not written yet, which count with their caps."""
        budget, layout = self.budget, self.layout
        held = choose_held(
            self.offered[: stop.offered],
            kept_tokens=self._share(stop).kept,
            pinned_tokens=self._measure_pinned_room(),
            message_tokens=budget.kept_message_tokens,
        )
        held_seqs = {message.seq for message in held}
        leaving = tuple([it.seq for it in layout.held if it.hold != "refresh" and it.seq not in held_seqs])
        quoted = stop.quoted
        for message in self.offered[: stop.offered]:
            if message.seq not in held_seqs:
                quoted = _add(quoted, message.quotes)
        kept = sum([message.tokens + _NAME_TOKENS for message in held if message.hold == "slice"])
        shares = self._share_with(stop, kept, quoted)
        folded = [note for note in self.passed[: stop.passed_count] if self._group(note, held_seqs) == "folded"]
        folded_tokens = sum([note.tokens for note in folded])
        lacking = max(self._measure_tail(stop) - shares.tail, 0)
        slice_tokens = max(shares.digests - lacking, 2 * SMALLEST_DIGEST_TOKENS) if lacking else shares.slice
        cap = cap_digest(folded_tokens or len(folded), slice_tokens, is_first=not layout.ranges)
        joins_all = self.joins_all and bool(stop.passed_count)
        through = choose_joined(layout, leaving, cap_tokens=cap, slice_tokens=slice_tokens, joins_all=joins_all)
        settled = _Settled(
            stop=stop,
            held=held,
            leaving=leaving,
            join_through=through,
            digest_cap=cap,
            rollup_cap=cap_rollup(layout, through, cap_tokens=cap, slice_tokens=slice_tokens, joins_all=joins_all),
            standing_cap=shares.strong,
            weak_standing_cap=shares.weak,
            quoted=self._add_frame(quoted),
        )
        return self._fit(settled)

    def _fit(self, settled: _Settled) -> _Settled:
        """The caps lowered to what the target leaves, or those of the standing instructions raised to it.

        Weaker ones may take what the strong ones cannot need.
        """
        budget, pinned = self.budget, 0
        used = self._measure_tail(settled.stop) + self._measure_ranges(settled)
        for message in settled.held:
            used += 0 if message.hold in {"running", "refresh"} else message.tokens
            pinned += message.tokens if message.hold in {"pin", "system"} else 0
        free = budget.target_tokens - used - MESSAGE_OVERHEAD_TOKENS
        least = min(LEAST_STANDING_TOKENS, budget.standing_tokens)
        strong = max(min(free, budget.standing_tokens - pinned), least)
        if lacking := max(min(settled.standing_cap, settled.quoted.strong) - free, 0):
            cap = max(settled.digest_cap - lacking, min(SMALLEST_DIGEST_TOKENS, settled.digest_cap))
            lacking -= settled.digest_cap - cap
            rollup_cap = max(settled.rollup_cap - lacking, SMALLEST_DIGEST_TOKENS) if settled.join_through else 0
            gained = settled.digest_cap - cap + (settled.rollup_cap - rollup_cap if settled.join_through else 0)
            settled = settled._replace(digest_cap=cap, rollup_cap=rollup_cap, is_lowered=True)
            used, free = used - gained, free + gained
            strong = max(min(free, budget.standing_tokens - pinned), least)
        taken = min(strong, settled.quoted.strong)
        weak = max(min(free - taken, budget.weak_standing_tokens), 0)
        quotes = taken + min(weak, settled.quoted.weak)
        return settled._replace(
            standing_cap=strong,
            weak_standing_cap=weak,
            tokens_after=used + quotes + (MESSAGE_OVERHEAD_TOKENS if quotes else 0),
        )

    def _measure_ranges(self, settled: _Settled) -> int:
        """Tokens of the ranges as they will stand: digests at their caps, and frames."""
        ranges = [shown for shown in self.layout.ranges if shown.last_seq > settled.join_through]
        if settled.join_through:
            ranges.insert(0, project_range(1, settled.join_through, "rollup", settled.rollup_cap))
        if settled.stop.passed_count:
            watermark = self.layout.watermark
            last_seq = watermark + settled.stop.passed_count
            ranges.append(project_range(watermark + 1, last_seq, "digest", settled.digest_cap))
        tokens = sum([shown.digest_tokens for shown in ranges])
        return tokens + sum([measure_frame([one.seq for one in kept]) for kept in split_held(settled.held, ranges)])

    def _choose(self, *, is_asked: bool) -> _Settled:
        """The last stop, or an earlier one that gains too, where digests that join the rollup leave more room than was known."""
        last = self._settle(self.stops[-1])
        spare = self.budget.target_tokens - last.tokens_after
        if is_asked or spare <= 0 or not last.stop.passed_count or self.trigger in {"turns", "rows"}:
            return last
        least = last.stop.tokens - spare
        index = next(index for index, stop in enumerate(self.stops) if stop.tokens >= least)
        if self.stops[index].passed_count in {0, last.stop.passed_count}:
            return last
        earlier = self._settle(self.stops[index])
        most = min(self.budget.target_tokens, self.tokens - 1)
        return last if earlier.is_lowered or earlier.tokens_after > most else earlier

    def finish(self, demand: Demand | None, *, is_cut_short: bool) -> CompactionPlan | None:
        best = self._choose(is_asked=demand is not None or is_cut_short)
        stop = best.stop
        passed = self.passed[: stop.passed_count]
        held_seqs = {message.seq for message in best.held}
        groups = tuple([self._group(note, held_seqs) for note in passed])
        if not passed and not best.leaving and not best.join_through:
            return None
        if not self._is_worth_it(best, has_folded="folded" in groups, is_cut_short=is_cut_short):
            return None
        last_seq = self.layout.watermark + len(passed)
        return CompactionPlan(
            trigger=self.trigger,
            first_seq=self.layout.watermark + 1,
            last_seq=last_seq,
            groups=groups,
            held=best.held,
            leaving=best.leaving,
            join_through=best.join_through,
            digest_cap_tokens=best.digest_cap,
            rollup_cap_tokens=best.rollup_cap,
            standing_cap_tokens=best.standing_cap,
            weak_standing_cap_tokens=best.weak_standing_cap,
            tokens_before=self.tokens,
            sum_tokens=passed[-1].sum_tokens if passed else self.layout.sum_tokens,
            turns_count=self.layout.turns_count + stop.turns,
            replaced_tokens=measure_let_go(self.state, self.layout, best.held, through=last_seq),
            focus=demand.focus if demand else None,
        )

    def _group(self, note: Note, held_seqs: set[int]) -> Group:
        if note.is_erased:
            return name_gone(note)
        if note.kind == "fixed":
            return "fixed"
        if note.seq == self.state.head_seq:
            return "head"
        if note.seq in self.replaced or note.seq == self.state.refresh_seq:
            return "refresh"
        return "kept" if note.seq in held_seqs else "folded"

    def _is_worth_it(self, best: _Settled, *, has_folded: bool, is_cut_short: bool) -> bool:
        """No automatic fold but an overflow is smaller than the least one, or makes the window larger.

        A compaction that ends before its fold is enough may gain nothing (a run of short user messages, all kept): the
        next one goes on from there. A manual one that passes nothing is for a window above its target: within it nothing
        of the past need leave.
        """
        gained_tokens = self.tokens - best.tokens_after
        if self.trigger == "manual" and not best.stop.passed_count:
            least = max(self.budget.min_fold_tokens, 1)
            return self.tokens > self.budget.target_tokens and gained_tokens >= least
        if self.trigger in {"overflow", "manual"}:
            return bool(has_folded or best.leaving or gained_tokens > 0 or is_cut_short)
        if self.trigger in {"turns", "rows", "cadence", "gap"}:
            return best.stop.tokens >= self.budget.min_fold_tokens
        return gained_tokens >= self.budget.min_fold_tokens
