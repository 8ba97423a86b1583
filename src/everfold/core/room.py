"""How much of the model's context limit there is to fill, and how it is shared out.

    context limit
    ├── room for the answer
    └── budget                        (what is left, divided by the calibration)
        ├── fixed part                system prompt, tool schemas, the reserves for the snapshot and the volatile suffix
        └── room
            ├── slices                head, kept, digests, standing, newest blocks
            └── tail                  what the target leaves

Source: DESIGN sections 2 and 6; the ratios are the defaults of section 6.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from everfold.core.calibration import Calibration, calibrate_budget
from everfold.errors import BudgetUnsatisfiableError, InvalidInputError

SMALLEST_ROOM_TOKENS = 800
"""Below this the slices hold less than a sentence each. Source: DESIGN section 6."""

DEFAULT_LIMIT_TOKENS = 128_000

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
    force_ratio: float = 0.95
    volatile_ratio: float = 0.10
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
        if not 0 < self.target_ratio < self.trigger_ratio < self.force_ratio <= 1:
            raise InvalidInputError(
                "compaction ratios contradict each other: expected 0 < target_ratio < trigger_ratio < force_ratio <= 1, "
                f"got {self.target_ratio}, {self.trigger_ratio}, {self.force_ratio}"
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
                f"the slices sum to {slices:.2f} of the room, which reaches trigger_ratio {self.trigger_ratio}: "
                "a full window would compact for ever; lower a slice or raise the trigger"
            )
        if self.pinned_ratio > self.kept_ratio:
            raise InvalidInputError(
                f"pinned_ratio {self.pinned_ratio} is a part of kept_ratio {self.kept_ratio} and cannot be above it"
            )
        if min(self.turn_backstop, self.row_window, self.rows_per_digest, self.keep_recent) < 1:
            raise InvalidInputError("turn_backstop, row_window, rows_per_digest and keep_recent must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The shares of one context limit, in tokens of the fixed estimate."""

    limit_tokens: int
    answer_tokens: int
    budget_tokens: int
    prompt_tokens: int
    volatile_tokens: int
    snapshot_tokens: int
    room_tokens: int
    trigger_tokens: int
    target_tokens: int
    force_tokens: int
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
        """The fixed part: system prompt, tool schemas and the reserves for the snapshot and the volatile suffix."""
        return self.prompt_tokens + self.volatile_tokens + self.snapshot_tokens


@lru_cache(maxsize=256, typed=True)
def share_room(limit_tokens: int, policy: Policy, *, prompt_tokens: int = 0, calibration: Calibration) -> Room:
    """Share out a context limit. `prompt_tokens` is the system prompt with the tool schemas.

    The room may come out smaller than `SMALLEST_ROOM_TOKENS`; `require_room` refuses that.

    Raises:
        InvalidInputError: the limit is not a positive whole number.
    """
    if isinstance(limit_tokens, bool) or not isinstance(limit_tokens, int) or limit_tokens <= 0:
        raise InvalidInputError(f"a context limit must be a positive whole number of tokens, got {limit_tokens!r}")
    answer = policy.answer_tokens if policy.answer_tokens is not None else min(8192, int(limit_tokens * 0.12))
    budget = calibrate_budget(calibration, max(limit_tokens - answer, 0))
    volatile = int(budget * policy.volatile_ratio)
    snapshot = min(policy.snapshot_tokens, int(budget * MOST_SNAPSHOT_RATIO))
    room = budget - prompt_tokens - volatile - snapshot
    usable = max(room, 0)
    return Room(
        limit_tokens=limit_tokens,
        answer_tokens=answer,
        budget_tokens=budget,
        prompt_tokens=prompt_tokens,
        volatile_tokens=volatile,
        snapshot_tokens=snapshot,
        room_tokens=room,
        trigger_tokens=int(usable * policy.trigger_ratio),
        target_tokens=int(usable * policy.target_ratio),
        force_tokens=int(usable * policy.force_ratio),
        message_cap_tokens=min(policy.message_cap_tokens, int(usable * policy.message_cap_ratio)),
        kept_tokens=int(usable * policy.kept_ratio),
        pinned_tokens=int(usable * policy.pinned_ratio),
        digest_tokens=int(usable * policy.digest_ratio),
        standing_tokens=int(usable * policy.standing_ratio),
        visible_tokens=int(max(usable, SMALLEST_ROOM_TOKENS) * policy.visible_ratio),
        step_visible_tokens=int(max(usable, SMALLEST_ROOM_TOKENS) * policy.step_visible_ratio),
        min_fold_tokens=min(policy.min_fold_tokens, int(usable * policy.min_fold_ratio)),
    )


def require_room(room: Room, policy: Policy, *, calibration: Calibration, floor_tokens: int = 0, session: str) -> None:
    """Refuse a limit in which no window can fit, before anything has begun.

    Args:
        room: The shares of the limit.
        policy: The policy that shared them.
        calibration: The calibration that divided the budget.
        floor_tokens: What can never leave the window: the head, the running user message and the newest block.
        session: The session, for the error.

    Raises:
        BudgetUnsatisfiableError: the room is under the smallest one, or the floor with what the window needs beside
            it passes the force ratio. Names the smallest limit that works.
    """
    if _fits(room, floor_tokens):
        return
    smallest = find_smallest_limit(
        policy, prompt_tokens=room.prompt_tokens, calibration=calibration, floor_tokens=floor_tokens
    )
    raise BudgetUnsatisfiableError(
        f"session {session}: a context limit of {room.limit_tokens} tokens cannot hold a window: of its budget of "
        f"{room.budget_tokens} the fixed part takes {room.fixed_tokens} and what can never fold takes {floor_tokens}, "
        f"which leaves no room of at least {SMALLEST_ROOM_TOKENS} tokens for the conversation; "
        f"the smallest limit that works is {smallest}",
        smallest_limit_tokens=smallest,
        session=session,
    )


def fit_slices(room: Room, floor_tokens: int) -> Room:
    """The same room with its slices shrunk in proportion where the floor leaves less than they would take.

    At a session's own limit they always fit; a limit lowered for one call may need this.
    """
    slices = room.kept_tokens + room.digest_tokens + room.standing_tokens
    left = max(room.force_tokens - floor_tokens, 0)
    if slices <= left:
        return room
    share = left / slices
    return replace(
        room,
        kept_tokens=int(room.kept_tokens * share),
        pinned_tokens=int(room.pinned_tokens * share),
        digest_tokens=int(room.digest_tokens * share),
        standing_tokens=int(room.standing_tokens * share),
    )


BODY_FLOOR_RATIO = 0.12
"""The least share of the room that digests and standing statements shrink to when the newest block is large.

Source: our measurement: below it the coarse digest and its frame no longer hold a line of each age.
"""


def _fits(room: Room, floor_tokens: int) -> bool:
    if room.room_tokens < SMALLEST_ROOM_TOKENS:
        return False
    return floor_tokens + int(room.room_tokens * BODY_FLOOR_RATIO) <= room.force_tokens


def find_smallest_limit(policy: Policy, *, prompt_tokens: int, calibration: Calibration, floor_tokens: int = 0) -> int:
    """The smallest context limit that holds this fixed part and floor. O(log limit): fitting is monotone in it."""
    low, high = 1, 2
    while not _fits(share_room(high, policy, prompt_tokens=prompt_tokens, calibration=calibration), floor_tokens):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(share_room(middle, policy, prompt_tokens=prompt_tokens, calibration=calibration), floor_tokens):
            high = middle
        else:
            low = middle
    return high
