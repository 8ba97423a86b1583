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

from dataclasses import dataclass, fields, replace
from functools import lru_cache

from everfold.core.log.calibration import Calibration, calibrate_budget, count_parts, count_tokens
from everfold.errors import BudgetUnsatisfiableError, InvalidInputError

SMALLEST_USABLE_TOKENS = 800
"""Below this the slices hold less than a sentence each. Source: DESIGN section 6."""

DEFAULT_LIMIT_TOKENS = 128_000

LEAST_BODY_TOKENS = 96
"""What digests and standing statements take at least, however small their slices: a rollup and a digest of 48 tokens.

Source: `SMALLEST_DIGEST_TOKENS` in `core/compaction/planning.py`, twice.
"""

MOST_SNAPSHOT_RATIO = 0.15
"""What the snapshot of memory may take of the budget, so that a small limit has room for the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a session compacts. The fields are settings of the same name; see docs/reference/settings.md.

    `snapshot_tokens` is no setting of its own: it is what the snapshot of memory may take at most, 0 where it is off.
    """

    answer_tokens: int | None = None
    trigger_ratio: float = 0.80
    target_ratio: float = 0.56
    hard_limit_ratio: float = 0.95
    suffix_ratio: float = 0.10
    message_cap_tokens: int = 1500
    message_cap_ratio: float = 0.08
    kept_ratio: float = 0.20
    pinned_ratio: float = 0.08
    digest_ratio: float = 0.15
    standing_ratio: float = 0.06
    visible_ratio: float = 0.10
    step_visible_ratio: float = 0.20
    min_fold_tokens: int = 400
    min_fold_ratio: float = 0.04
    turn_backstop: int = 200
    turn_slack: int = 16
    row_window: int = 500
    row_headroom: int = 32
    rows_per_digest: int = 200
    keep_recent: int = 6
    continuous_interval: int = 0
    gap_secs: float = 0.0
    gap_deadline_secs: float = 35.0
    gap_max_lookback_secs: float = 86_400.0
    enabled: bool = True
    snapshot_tokens: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.target_ratio < self.trigger_ratio < self.hard_limit_ratio <= 1:
            raise InvalidInputError(
                "compaction ratios contradict each other: expected 0 < target_ratio < trigger_ratio < hard_limit_ratio <= 1, "
                f"got {self.target_ratio}, {self.trigger_ratio}, {self.hard_limit_ratio}"
            )
        slices = (
            self.message_cap_ratio
            + self.kept_ratio
            + self.digest_ratio
            + self.standing_ratio
            + self.visible_ratio
            + self.step_visible_ratio
        )
        if slices >= self.trigger_ratio:
            raise InvalidInputError(
                f"the slices sum to {slices:.2f} of the usable budget; expected less than trigger_ratio {self.trigger_ratio}. "
                "Lower a slice, or raise the trigger"
            )
        if not 0 <= self.suffix_ratio < 1:
            raise InvalidInputError(f"suffix_ratio must be at least 0 and below 1, got {self.suffix_ratio}")
        if self.pinned_ratio > self.kept_ratio:
            raise InvalidInputError(
                f"pinned_ratio {self.pinned_ratio} is a part of kept_ratio {self.kept_ratio} and cannot be above it"
            )
        if min(self.turn_backstop, self.row_window, self.rows_per_digest, self.keep_recent) < 1:
            raise InvalidInputError("turn_backstop, row_window, rows_per_digest and keep_recent must be at least 1")


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
    message_cap_tokens: int
    kept_tokens: int
    pinned_tokens: int
    digest_tokens: int
    standing_tokens: int
    visible_tokens: int
    step_visible_tokens: int
    min_fold_tokens: int

    @property
    def fixed_tokens(self) -> int:
        """The fixed part: system prompt, tool schemas and the reserves for the snapshot and the dynamic suffix."""
        return self.prompt_tokens + self.suffix_tokens + self.snapshot_tokens

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
        InvalidInputError: the limit is not a positive whole number.
    """
    if isinstance(limit_tokens, bool) or not isinstance(limit_tokens, int) or limit_tokens <= 0:
        raise InvalidInputError(f"a context limit must be a positive whole number of tokens, got {limit_tokens!r}")
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
        target_tokens=int(usable * policy.target_ratio),
        hard_limit_tokens=int(usable * policy.hard_limit_ratio),
        message_cap_tokens=min(policy.message_cap_tokens, int(usable * policy.message_cap_ratio)),
        kept_tokens=int(usable * policy.kept_ratio),
        pinned_tokens=int(usable * policy.pinned_ratio),
        digest_tokens=int(usable * policy.digest_ratio),
        standing_tokens=int(usable * policy.standing_ratio),
        visible_tokens=int(max(usable, SMALLEST_USABLE_TOKENS) * policy.visible_ratio),
        step_visible_tokens=int(max(usable, SMALLEST_USABLE_TOKENS) * policy.step_visible_ratio),
        min_fold_tokens=min(policy.min_fold_tokens, int(usable * policy.min_fold_ratio)),
    )


def require_budget(
    budget: UsableBudget, policy: Policy, *, calibration: Calibration, floor_tokens: int = 0, session: str
) -> None:
    """Refuse a limit in which no window can fit, before anything has begun.

    Args:
        budget: The shares of the limit.
        policy: The policy that shared them.
        calibration: The calibration that divided the budget.
        floor_tokens: What can never leave the window: the head, the running user message and the newest block.
        session: The session, for the error.

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
        f"Context limit {budget.limit_tokens:,} is too small for session {session}. Use at least {smallest:,}.",
        smallest_limit_tokens=smallest,
        session=session,
    )


def fit_slices(budget: UsableBudget, floor_tokens: int) -> UsableBudget:
    """The same budget with its slices shrunk in proportion where the floor leaves less than they would take.

    At a session's own limit they always fit; a limit lowered for one call may need this.
    """
    slices = budget.kept_tokens + budget.digest_tokens + budget.standing_tokens
    left = max(budget.hard_limit_tokens - floor_tokens, 0)
    if slices <= left:
        return budget
    share = left / slices
    return replace(
        budget,
        kept_tokens=int(budget.kept_tokens * share),
        pinned_tokens=int(budget.pinned_tokens * share),
        digest_tokens=int(budget.digest_tokens * share),
        standing_tokens=int(budget.standing_tokens * share),
    )


BODY_FLOOR_RATIO = 0.12
"""The least share of the usable budget that digests and standing instructions shrink to when the newest block is large;
less where the policy gives them less.

Source: our measurement: below it the rollup and its frame no longer hold a line of each age.
"""


def _fits(budget: UsableBudget, policy: Policy, floor_tokens: int, window_tokens: int = 0) -> bool:
    if budget.usable_tokens < SMALLEST_USABLE_TOKENS:
        return False
    body_ratio = min(BODY_FLOOR_RATIO, policy.digest_ratio + policy.standing_ratio)
    body_tokens = max(int(budget.usable_tokens * body_ratio), LEAST_BODY_TOKENS)
    return max(floor_tokens + body_tokens, window_tokens) <= budget.hard_limit_tokens


def find_smallest_limit(
    policy: Policy, *, prompt_tokens: int, calibration: Calibration, floor_tokens: int = 0, window_tokens: int = 0
) -> int:
    """The smallest context limit that holds this fixed part, this floor, and a window of this size as it is.

    O(log limit): fitting is monotone in the limit. It ends for every policy, because the slices of a policy, and so what
    digests and standing statements take at least, sum to less than its hard limit.
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
