"""The state of a session: the one row that a turn reads besides what it shows."""

import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Final, NamedTuple

from everfold.core.log.calibration import Calibration
from everfold.core.log.growth import STEADY, Growth
from everfold.core.primitives.json_values import dump_json

UNCALIBRATED = Calibration()

WHOLE_WINDOW = -1
REMEMBERED_CACHE_BREAKS = 32

CacheBreaks = tuple[tuple[str, int], ...]
"""Cache breaks of a request's prefix, oldest first: the reason, and what each costs in tokens."""

REMEMBERED_CALLS = 32
"""How many closed call ids a session remembers, to tell a late result from one that never had a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStep:
    """An assistant message whose calls are not all answered.

    `pending` has call ids in the order of the calls, `answered` in that of their results; together they are all calls.
    """

    first_seq: int
    pending: tuple[str, ...]
    answered: tuple[str, ...] = ()


class Awaited(NamedTuple):
    """A range that left the window under its extractive digest, while the model's or the extraction is on its way.

    A patient one is revised when the request's prefix breaks anyway; any other as soon as its digest is there.
    """

    compaction_id: str
    first_seq: int
    last_seq: int
    is_patient: bool = False


class KnownRefresh(NamedTuple):
    """A context refresh, what it costs in the window, and the prefix sum of visible tokens at it.

    `before_tokens` is what those before it cost: the difference of two is what a stretch of them costs.
    """

    seq: int
    tokens: int
    sum_tokens: int
    before_tokens: int = 0


_SEQ: Final = itemgetter(0)


def know_refreshes(known: tuple[KnownRefresh, ...], found: Iterable[tuple[int, int, int]]) -> tuple[KnownRefresh, ...]:
    """The known refreshes and newer ones, given by number, tokens and prefix sum, oldest first."""
    before_tokens = known[-1].before_tokens + known[-1].tokens if known else 0
    added: list[KnownRefresh] = []
    for seq, tokens, sum_tokens in found:
        added.append(KnownRefresh(seq, tokens, sum_tokens, before_tokens))
        before_tokens += tokens
    return (*known, *added)


class Answered(NamedTuple):
    """A context source, and the end of the stretch of time that it answered last."""

    source: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What planning needs to know of a log without reading it. A new one is written with every append.

    Attributes:
        revision: Grows by one with every write; the value that a writer expects.
        last_seq: The newest message; 0 for an empty log.
        sum_tokens: Visible tokens of all messages up to `last_seq` (a prefix sum).
        safe_seq: The newest message after which the log may be cut; what follows it is an open step.
        safe_sum_tokens: The prefix sum at `safe_seq`.
        newest_block_seq: The first message of the newest finished block.
        newest_block_tokens: What that block costs in the window.
        turn_seq: The user message that the running turn began with; 0 before the first.
        turn_tokens: Its visible tokens.
        turns_count: How many turns the log has.
        answered_count: How many of them had been begun when one was answered last; 0 where that is not known.
        head_seq: The first user message within the cap; 0 before it.
        head_tokens: Its visible tokens.
        fixed_seq: The last of the leading system messages and of those retracted before anything else; 0 for none.
        fixed_tokens: What they cost; part of the fixed part.
        open_step: The step that is still waiting for results.
        closed_calls: Call ids of the steps closed last, oldest first, at most `REMEMBERED_CALLS`.
        said_before: Index texts of what was said last, for the context row of the next message.
        active_at: When the user spoke last; None before.
        away_since: When the user had spoken before that; None before the second message.
        growth: How fast the log grows and how long a digest takes.
        compaction_id: The compaction whose layout is in force; empty before the first.
        compactions_count: The ordinal of that compaction; the next one has one more.
        pending_compactions: Compactions that were begun and not committed, in the order in which they will be.
        awaited: Ranges that stand under a continuity note.
        gap_seq: The turn whose gap was dealt with last.
        cadence_turns: How many exchanges had finished when the cadence ran last.
        refreshes: The last context refresh that compaction has passed and those after it, oldest first. Only the last is
            shown: it has replaced the others.
        answered: Up to when each context source has answered, or from when on it is to be asked first.
        succeeded_at: When a compaction was committed last.
        stuck_count: Compactions in a row that did not get below the trigger.
        cache_breaks: Cache breaks of the request's prefix that no window has reported yet: reason, and what it costs in tokens
            (`WHOLE_WINDOW` where nothing of the window stays). At most `REMEMBERED_CACHE_BREAKS`, the newest.
        reported_count: How many cache breaks came before those: windows have reported them, or they were too many.
        calibration: The provider's count against our estimate.
        epoch: Raised by every erase and retraction of a message of this log; what was read in an older one may hold its
            words.
    """

    revision: int = 0
    last_seq: int = 0
    sum_tokens: int = 0
    safe_seq: int = 0
    safe_sum_tokens: int = 0
    newest_block_seq: int = 0
    newest_block_tokens: int = 0
    turn_seq: int = 0
    turn_tokens: int = 0
    turns_count: int = 0
    answered_count: int = 0
    head_seq: int = 0
    head_tokens: int = 0
    fixed_seq: int = 0
    fixed_tokens: int = 0
    open_step: OpenStep | None = None
    closed_calls: tuple[str, ...] = ()
    said_before: tuple[str, ...] = ()
    active_at: datetime | None = None
    away_since: datetime | None = None
    growth: Growth = STEADY
    compaction_id: str = ""
    compactions_count: int = 0
    pending_compactions: tuple[str, ...] = ()
    awaited: tuple[Awaited, ...] = ()
    gap_seq: int = 0
    cadence_turns: int = 0
    refreshes: tuple[KnownRefresh, ...] = ()
    answered: tuple[Answered, ...] = ()
    succeeded_at: datetime | None = None
    stuck_count: int = 0
    cache_breaks: CacheBreaks = ()
    reported_count: int = 0
    calibration: Calibration = UNCALIBRATED
    epoch: int = 0

    @property
    def refresh_seq(self) -> int:
        """The context refresh that is shown; 0 before the first."""
        return self.refreshes[-1].seq if self.refreshes else 0

    @property
    def replaced_seq(self) -> int:
        """The last refresh that a newer one has replaced; 0 where none is known."""
        return self.refreshes[-2].seq if len(self.refreshes) > 1 else 0

    def measure_replaced(self, after_seq: int, through_seq: int) -> int:
        """What the replaced refreshes of a stretch of the log cost; its first end is left out. O(log of how many)."""
        first = bisect_right(self.refreshes, after_seq, key=_SEQ)
        end = min(bisect_right(self.refreshes, through_seq, key=_SEQ), len(self.refreshes) - 1)
        return self.refreshes[end].before_tokens - self.refreshes[first].before_tokens if first < end else 0

    def without_replaced(self, watermark: int) -> "SessionState":
        """The state that knows only the last of the refreshes that compaction has passed; its revision stays."""
        passed_count = bisect_right(self.refreshes, watermark, key=_SEQ)
        return replace(self, refreshes=self.refreshes[passed_count - 1 :]) if passed_count > 1 else self

    @property
    def has_work(self) -> bool:
        """Compactions are on their way: held, or committed with more to come."""
        return bool(self.pending_compactions or self.awaited)

    def with_cache_break(self, reason: str, resent_tokens: int) -> "SessionState":
        """The state with one more cache break to report; its revision stays."""
        added = replace(self, cache_breaks=(*self.cache_breaks, (reason, resent_tokens)))
        return added.with_reported(added.breaks_count - REMEMBERED_CACHE_BREAKS)

    @property
    def breaks_count(self) -> int:
        """How many cache breaks the session has had."""
        return self.reported_count + len(self.cache_breaks)

    def with_reported(self, count: int) -> "SessionState":
        """The state in which so many cache breaks of all are reported, or more; its revision stays."""
        if count <= self.reported_count:
            return self
        return replace(self, cache_breaks=self.cache_breaks[count - self.reported_count :], reported_count=count)

    def with_unreported(self, older: "SessionState") -> "SessionState":
        """The state in which what an older one had to report is to be reported still; its revision stays."""
        missing = older.cache_breaks[: max(self.reported_count - older.reported_count, 0)]
        count = self.reported_count - len(missing)
        return replace(self, cache_breaks=(*missing, *self.cache_breaks), reported_count=count) if missing else self


def state_to_bytes(state: SessionState) -> bytes:
    """The state as JSON, without its revision, which the store keeps beside it. Keeps every code point.

    What seldom stands in a state is left out where it is as in a new session.
    """
    growth, calibration = state.growth, state.calibration
    value: dict[str, object] = {name: getattr(state, name) for name in _NUMBERS}
    value |= {name: _to_micros(getattr(state, name)) for name in _TIMES}
    value |= {
        "closed_calls": state.closed_calls,
        "said_before": state.said_before,
        "compaction_id": state.compaction_id,
        "growth": [growth.tokens, _to_micros(growth.at), growth.digest_secs],
        "calibration": [calibration.factor, calibration.samples_count],
        **_read_seldom(state),
    }
    return dump_json(value)


def _read_seldom(state: SessionState) -> dict[str, object]:
    """The fields of a state that are rarely set."""
    step = state.open_step
    seldom: dict[str, object] = {} if step is None else {"open_step": [step.first_seq, step.pending, step.answered]}
    seldom |= {name: held for name in _LISTS if (held := getattr(state, name))}
    if state.answered:
        seldom["answered"] = [(one.source, _to_micros(one.at)) for one in state.answered]
    return seldom


def state_from_bytes(content: bytes, *, revision: int) -> SessionState:
    """The state that `state_to_bytes` wrote, now or in an earlier form: moments as text, nothing left out."""
    value = json.loads(content.decode("utf-8", "surrogatepass"))
    value.pop("refreshed_at", None)  # of an earlier form, in which no source was ever asked
    step, calibration = value.pop("open_step", None), value.pop("calibration")
    tokens, at, digest_secs = value.pop("growth", (0.0, None, 0.0))
    return SessionState(
        revision=revision,
        open_step=None
        if step is None
        else OpenStep(first_seq=step[0], pending=tuple(step[1]), answered=tuple(step[2])),
        calibration=Calibration(factor=calibration[0], samples_count=calibration[1]),
        closed_calls=tuple(value.pop("closed_calls")),
        cache_breaks=tuple((reason, cost) for reason, cost in value.pop("cache_breaks", ())),
        said_before=tuple(value.pop("said_before")),
        pending_compactions=tuple(value.pop("pending_compactions", ())),
        awaited=tuple(Awaited(*row) for row in value.pop("awaited", ())),
        growth=Growth(tokens=tokens, at=_read_moment(at), digest_secs=digest_secs),
        active_at=_read_moment(value.pop("active_at", None)),
        away_since=_read_moment(value.pop("away_since", None)),
        succeeded_at=_read_moment(value.pop("succeeded_at", None)),
        refreshes=_read_refreshes(value.pop("refreshes", ())),
        answered=tuple(Answered(source, _EPOCH + at * _MICROSECOND) for source, at in value.pop("answered", ())),
        **value,
    )


def _read_refreshes(rows: Sequence[Sequence[int]]) -> tuple[KnownRefresh, ...]:
    """Stored refreshes; of an earlier form, which did not sum them up, or of this one."""
    if rows and len(rows[0]) == len(KnownRefresh._fields):
        return tuple(KnownRefresh(*row) for row in rows)
    return know_refreshes((), [(seq, tokens, sum_tokens) for seq, tokens, sum_tokens in rows])


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _to_micros(moment: datetime | None) -> int | None:
    """A moment in whole microseconds since 1970, exactly."""
    return None if moment is None else (moment - _EPOCH) // _MICROSECOND


def _read_moment(value: int | str | None) -> datetime | None:
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    return None if value is None else _EPOCH + value * _MICROSECOND


_NUMBERS = tuple(field.name for field in fields(SessionState) if field.type is int and field.name != "revision")
_TIMES = ("active_at", "away_since", "succeeded_at")
_LISTS = ("cache_breaks", "pending_compactions", "awaited", "refreshes")
