"""How much of the model's context limit there is to fill, and how it is shared out.

    context limit
    ├── tokens for the answer
    └── budget                        (what is left, divided by the calibration)
        ├── fixed part                system prompt, tool schemas, the reserves for the snapshot and the dynamic suffix
        └── usable budget
            ├── slices                head, kept, digests, standing, newest blocks
            └── tail                  what the target leaves

Source: DESIGN sections 2 and 6; the ratios are the defaults of section 6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from everfold.core.log.calibration import Calibration, calibrate_budget, count_parts, count_tokens
from everfold.core.primitives.field_types import MOST_WHOLE
from everfold.errors import BudgetUnsatisfiableError, InvalidInputError

SMALLEST_USABLE_TOKENS = 800
"""Below this the slices hold less than a sentence each. Source: DESIGN section 6."""

DEFAULT_LIMIT_TOKENS = 128_000

TRIGGER_RATIO = 0.95
AWAITING_TRIGGER_RATIO = 0.80
"""Where a compaction is due: late where a fold costs milliseconds, earlier where a model's digest is awaited meanwhile.

Source: DESIGN sections 3.2 and 6.
"""

LEAST_BODY_TOKENS = 96
"""What digests and standing instructions take at least, however small their slices: a rollup and a digest of 48 tokens.

Source: `SMALLEST_DIGEST_TOKENS` in `core/compaction/shares.py`, twice.
"""

MOST_SNAPSHOT_RATIO = 0.15
"""What the snapshot of memory may take of the budget, so that a small limit has room for the conversation."""

MOST_SUFFIX_RATIO = 0.20
"""What the dynamic suffix may take of the budget where the window leaves that much free.

Source: the composition that docs/compaction.md states; a reserve alone holds one or two recalled messages at small limits.
"""

TARGET_RATIO = 0.58
SMALL_TARGET_RATIO = 0.70
SMALL_USABLE_TOKENS = 4000
"""A window of few tokens folds less at once. Of 99 literal answers of LoCoMo a window of 9 to 12 % of the talk (about 2,000
tokens) holds 19.2 % with a target of 0.70 and 14.9 % with 0.58, one of 4 to 6 % 7.1 and 6.1 %, one of 18 to 22 % 31.0 and
30.0 %. At 8,000 tokens the higher target costs 1.7 tokens sent again per token that comes in instead of 1.0 (tau-bench).

Source: own measurement, `python -m bench.worth answers` at twelve budgets, and the reports of the compactions.
"""

_SMALL_GAP = 0.2
"""Between a target and the trigger, so that a compaction is worth its cache break."""

TAIL_RATIO = 0.30
"""What the newest messages have at least after a compaction. Source: DESIGN section 6."""

LEAST_DIGEST_RATIO = 0.05
"""What is left to digests when the head and the standing instructions take all they may. Source: DESIGN section 6."""

LEAST_KEPT_TOKENS = 200
"""A kept slice below this holds two or three messages, and their frame costs a tenth of it. Source: DESIGN section 6."""

PINNED_SHARE = 2 / 3
"""What pinned messages may take of the strong standing slice, so that the rules beside them stay quoted."""

MOST_KEPT_TOKENS = 32_000
MOST_STANDING_TOKENS = 16_000
MOST_WEAK_STANDING_TOKENS = 4_000
MOST_DIGESTS_TOKENS = 32_000
"""What a slice takes at most, however large the limit; the rest is the tail's. Source: DESIGN section 6."""

_BELOW_HARD_LIMIT = 0.97
"""0.95 to 0.98, as the two are where neither is set."""

_SLACK = 1e-9
"""For sums of ratios that are equal but for their last bit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a session compacts. The fields are settings of the same name; see docs/reference/settings.md.

    Two are no settings of their own: `snapshot_tokens` is what the snapshot of memory may take at most, 0 where it is
    off; `awaits_model` says that a model writes the digests, so that a compaction begins before its range must leave.
    """

    answer_tokens: int | None = None
    trigger_ratio: float = TRIGGER_RATIO
    target_ratio: float | None = None
    hard_limit_ratio: float = 0.98
    suffix_ratio: float = 0.04
    tail_ratio: float = TAIL_RATIO
    message_cap_tokens: int = 1500
    message_cap_ratio: float = 0.08
    kept_ratio: float = 0.06
    digest_ratio: float = 0.28
    standing_ratio: float = 0.15
    weak_standing_ratio: float = 0.04
    visible_ratio: float = 0.10
    step_visible_ratio: float = 0.20
    min_fold_tokens: int = 400
    min_fold_ratio: float = 0.04
    turn_backstop: int | None = None
    turn_slack: int = 16
    row_window: int | None = None
    row_headroom: int = 32
    rows_per_digest: int = 4000
    keep_recent: int = 6
    continuous_interval: int = 0
    gap_secs: float = 0.0
    gap_deadline_secs: float = 35.0
    gap_max_lookback_secs: float = 86_400.0
    enabled: bool = True
    snapshot_tokens: int = 0
    awaits_model: bool = False

    def __post_init__(self) -> None:
        target = find_target_ratio(self)
        if not 0 < target < self.trigger_ratio < self.hard_limit_ratio <= 1:
            raise InvalidInputError(
                "compaction ratios contradict each other: expected 0 < target_ratio < trigger_ratio < hard_limit_ratio <= 1, "
                f"got {target}, {self.trigger_ratio}, {self.hard_limit_ratio}"
            )
        self._require_slices()
        if not 0 <= self.suffix_ratio < 1:
            raise InvalidInputError(f"suffix_ratio must be at least 0 and below 1, got {self.suffix_ratio}")
        counts = (self.turn_backstop, self.row_window, self.rows_per_digest, self.keep_recent)
        if min(count for count in counts if count is not None) < 1:
            raise InvalidInputError("turn_backstop, row_window, rows_per_digest and keep_recent must be at least 1")

    def _require_slices(self) -> None:
        """Refuse slices that leave the tail less than its own, and messages that leave no room for a digest."""
        self._require_target(least_digest_ratio(self), "the least that digests take", "tail_ratio")
        for name in ("kept_ratio", "standing_ratio"):
            self._require_target(getattr(self, name), name, f"tail_ratio or {name}")
        shown = self.message_cap_ratio + self.visible_ratio + self.step_visible_ratio + least_digest_ratio(self)
        if shown >= self.hard_limit_ratio:
            raise InvalidInputError(
                "message_cap_ratio, visible_ratio and step_visible_ratio, with the least that digests take, sum to "
                f"{shown:.2f}; expected less than hard_limit_ratio {self.hard_limit_ratio}. Lower one of them"
            )

    def _require_target(self, share: float, name: str, lowers: str) -> None:
        """Refuse a share that goes over the target together with the tail; `lowers` says what to lower."""
        target = find_target_ratio(self)
        if self.tail_ratio + share > target + _SLACK:
            raise InvalidInputError(
                f"tail_ratio {self.tail_ratio} with {name} {share} is above target_ratio {target}. "
                f"Lower {lowers}, or raise target_ratio"
            )


def choose_trigger_ratio(hard_limit_ratio: float, *, awaits_model: bool) -> float:
    """The trigger where none is set: as late as may be, and below a hard limit that is set lower."""
    return min(AWAITING_TRIGGER_RATIO if awaits_model else TRIGGER_RATIO, hard_limit_ratio * _BELOW_HARD_LIMIT)


def find_target_ratio(policy: Policy, usable_tokens: int = DEFAULT_LIMIT_TOKENS) -> float:
    """The target of a usable budget; in a small one it is higher where none is set and the trigger is far enough away."""
    if policy.target_ratio is not None:
        return policy.target_ratio
    is_small = usable_tokens <= SMALL_USABLE_TOKENS and policy.trigger_ratio >= SMALL_TARGET_RATIO + _SMALL_GAP
    return SMALL_TARGET_RATIO if is_small else TARGET_RATIO


def least_digest_ratio(policy: Policy) -> float:
    """The share that digests are left with, whatever the others take."""
    return min(LEAST_DIGEST_RATIO, policy.digest_ratio)


def upgrade_ratios(stored: Mapping[str, float]) -> dict[str, float]:
    """The ratios of a policy as they were stored, now or by a version without a share for the tail.

    There the pinned messages were a part of the kept slice; they stand with the strong standing instructions now.
    """
    values = dict(stored)
    if "pinned_ratio" in values:
        pinned = values.pop("pinned_ratio")
        values["kept_ratio"] -= pinned
        values["standing_ratio"] += pinned
        most = values["target_ratio"] - max(values["kept_ratio"], values["standing_ratio"], LEAST_DIGEST_RATIO)
        values["tail_ratio"] = max(min(TAIL_RATIO, most), 0.0)
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class UsableBudget:
    """The shares of one context limit, in tokens of the fixed estimate; `count` gives them in the provider's."""

    limit_tokens: int
    answer_tokens: int
    budget_tokens: int
    prompt_tokens: int
    suffix_tokens: int
    snapshot_tokens: int
    usable_tokens: int
    trigger_tokens: int
    target_tokens: int
    hard_limit_tokens: int
    tail_tokens: int
    message_cap_tokens: int
    kept_tokens: int
    digest_tokens: int
    least_digest_tokens: int
    standing_tokens: int
    weak_standing_tokens: int
    visible_tokens: int
    step_visible_tokens: int
    min_fold_tokens: int

    @property
    def most_suffix_tokens(self) -> int:
        """What the dynamic suffix may take at most: its reserve, or more where the window leaves space free."""
        return max(self.suffix_tokens, int(self.budget_tokens * MOST_SUFFIX_RATIO))

    @property
    def fixed_tokens(self) -> int:
        """The fixed part: system prompt, tool schemas and the reserves for the snapshot and the dynamic suffix."""
        return self.prompt_tokens + self.suffix_tokens + self.snapshot_tokens

    @property
    def is_small(self) -> bool:
        """Whether no provider keeps a prefix of its windows, so that digests need not stand for long.

        Source: the caches of OpenAI and Anthropic begin at 1,024 tokens, about what stands before the tail here.
        """
        return self.usable_tokens <= SMALL_USABLE_TOKENS

    @property
    def kept_message_tokens(self) -> int:
        """The largest message that can be kept: half of the kept slice."""
        return min(self.message_cap_tokens, self.kept_tokens // 2)

    @property
    def pinned_tokens(self) -> int:
        """What pinned messages may take of the strong standing slice."""
        return int(self.standing_tokens * PINNED_SHARE)

    def count(self, calibration: Calibration) -> "UsableBudget":
        """The same in the provider's tokens, for people: the budget is the limit less the room for the answer."""
        if calibration.factor == 1:
            return self
        counted = {
            name: count_tokens(calibration, getattr(self, name)) for name in _ESTIMATED if name not in _FIXED_PARTS
        }
        fixed = count_parts(calibration, [self.prompt_tokens, self.suffix_tokens, self.snapshot_tokens])
        budget = max(self.limit_tokens - self.answer_tokens, 0)
        return replace(
            self,
            **counted,
            **dict(zip(_FIXED_PARTS, fixed, strict=True)),
            budget_tokens=budget,
            usable_tokens=budget - sum(fixed),
        )


_FIXED_PARTS = ("prompt_tokens", "suffix_tokens", "snapshot_tokens")
_GIVEN = frozenset({"limit_tokens", "answer_tokens", "budget_tokens", "usable_tokens"})
_ESTIMATED = tuple(field.name for field in fields(UsableBudget) if field.name not in _GIVEN)


@lru_cache(maxsize=256, typed=True)
def share_budget(
    limit_tokens: int, policy: Policy, *, prompt_tokens: int = 0, calibration: Calibration
) -> UsableBudget:
    """Share out a context limit. `prompt_tokens` is the system prompt with the tool schemas.

    The usable budget may be smaller than `SMALLEST_USABLE_TOKENS`; `require_budget` refuses that.

    Raises:
        InvalidInputError: the limit is not a positive whole number, or above `MOST_WHOLE`.
    """
    if isinstance(limit_tokens, bool) or not isinstance(limit_tokens, int) or limit_tokens <= 0:
        raise InvalidInputError(f"a context limit must be a positive whole number of tokens, got {limit_tokens!r}")
    if limit_tokens > MOST_WHOLE:
        raise InvalidInputError(f"a context limit must be at most {MOST_WHOLE:,} tokens; give the model's own")
    answer = policy.answer_tokens if policy.answer_tokens is not None else min(8192, int(limit_tokens * 0.12))
    budget = calibrate_budget(calibration, max(limit_tokens - answer, 0))
    suffix = int(budget * policy.suffix_ratio)
    snapshot = min(policy.snapshot_tokens, int(budget * MOST_SNAPSHOT_RATIO))
    left = budget - prompt_tokens - suffix - snapshot
    usable = max(left, 0)
    return UsableBudget(
        limit_tokens=limit_tokens,
        answer_tokens=answer,
        budget_tokens=budget,
        prompt_tokens=prompt_tokens,
        suffix_tokens=suffix,
        snapshot_tokens=snapshot,
        usable_tokens=left,
        trigger_tokens=int(usable * policy.trigger_ratio),
        target_tokens=int(usable * find_target_ratio(policy, usable)),
        hard_limit_tokens=int(usable * policy.hard_limit_ratio),
        tail_tokens=int(usable * policy.tail_ratio),
        message_cap_tokens=min(policy.message_cap_tokens, int(usable * policy.message_cap_ratio)),
        kept_tokens=_share_kept(int(usable * policy.kept_ratio)),
        digest_tokens=min(int(usable * policy.digest_ratio), MOST_DIGESTS_TOKENS),
        least_digest_tokens=min(int(usable * least_digest_ratio(policy)), MOST_DIGESTS_TOKENS),
        standing_tokens=min(int(usable * policy.standing_ratio), MOST_STANDING_TOKENS),
        weak_standing_tokens=min(int(usable * policy.weak_standing_ratio), MOST_WEAK_STANDING_TOKENS),
        visible_tokens=int(max(usable, SMALLEST_USABLE_TOKENS) * policy.visible_ratio),
        step_visible_tokens=int(max(usable, SMALLEST_USABLE_TOKENS) * policy.step_visible_ratio),
        min_fold_tokens=min(policy.min_fold_tokens, int(usable * policy.min_fold_ratio)),
    )


def _share_kept(tokens: int) -> int:
    return min(tokens, MOST_KEPT_TOKENS) if tokens >= LEAST_KEPT_TOKENS else 0


def require_budget(
    budget: UsableBudget, policy: Policy, *, calibration: Calibration, floor_tokens: int = 0, whose: str, **ids: str
) -> None:
    """Refuse a limit in which no window can fit, before anything has begun.

    Args:
        budget: The shares of the limit.
        policy: The policy that shared them.
        calibration: The calibration that divided the budget.
        floor_tokens: What can never leave the window: the head, the running user message and the newest block.
        whose: What the limit is of, for the error.
        ids: Its id, for the error.

    Raises:
        BudgetUnsatisfiableError: the usable budget is under the smallest one, or the floor with what the window needs
            beside it passes the hard limit. Names the smallest limit that works.
    """
    if _fits(budget, policy, floor_tokens):
        return
    smallest = find_smallest_limit(
        policy, prompt_tokens=budget.prompt_tokens, calibration=calibration, floor_tokens=floor_tokens
    )
    raise BudgetUnsatisfiableError(
        f"Context limit {budget.limit_tokens:,} is too small for {whose}. Use at least {smallest:,}.",
        smallest_limit_tokens=smallest,
        **ids,
    )


BODY_FLOOR_RATIO = 0.12
"""The least share of the usable budget that digests and standing instructions shrink to when the newest block is large;
less where the policy gives them less.

Source: our measurement: below it the rollup and its frame no longer hold a line of each age.
"""


def fit_target(budget: UsableBudget, policy: Policy, floor_tokens: int) -> UsableBudget:
    """The same budget with its target raised, up to the hard limit, where the floor leaves the body less than its least.

    At a session's own limit that is a newest unit above what the tail is left; a limit lowered for one call needs it more often.
    """
    least = floor_tokens + measure_least_body(budget, policy)
    if least <= budget.target_tokens:
        return budget
    return replace(budget, target_tokens=min(least, budget.hard_limit_tokens))


def measure_least_body(budget: UsableBudget, policy: Policy) -> int:
    """What digests and standing instructions shrink to, and no further."""
    body_ratio = min(BODY_FLOOR_RATIO, policy.digest_ratio + policy.standing_ratio, policy.hard_limit_ratio / 4)
    return max(int(budget.usable_tokens * body_ratio), LEAST_BODY_TOKENS)


def _fits(budget: UsableBudget, policy: Policy, floor_tokens: int, window_tokens: int = 0) -> bool:
    if budget.usable_tokens < SMALLEST_USABLE_TOKENS:
        return False
    least = floor_tokens + measure_least_body(budget, policy)
    return max(least, window_tokens) <= budget.hard_limit_tokens


def find_smallest_limit(
    policy: Policy, *, prompt_tokens: int, calibration: Calibration, floor_tokens: int = 0, window_tokens: int = 0
) -> int:
    """The smallest context limit that holds this fixed part, this floor, and a window of this size as it is.

    O(log limit): fitting is monotone in the limit. It ends for every policy, because what digests and standing
    instructions take at least is a part of its hard limit.
    """

    def holds(limit_tokens: int) -> bool:
        budget = share_budget(limit_tokens, policy, prompt_tokens=prompt_tokens, calibration=calibration)
        return _fits(budget, policy, floor_tokens, window_tokens)

    low, high = 1, 2
    while not holds(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
