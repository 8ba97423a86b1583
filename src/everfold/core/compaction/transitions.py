"""Transitions: the states of a compaction, of its layout and of its two jobs, and the causes that change them.

This is the only place where these rules are written. A table has a row for each cause: the states that the cause may
find, and the state that each becomes. A pair that is not listed is refused. Services decide by the tables, the
queries of the stores are tested against them, and docs/reference/compaction.md lists them.

A transition of a compaction needs two tables: `COMPACTION` says what work is left, and `LAYOUT` says whether the window
shows the result. They move together. A claim, for example, looks at the state of the work alone, and a compaction can be
cancelled only while its messages are still held in the window.

Source: DESIGN section 3.2; docs/adr/0019-hold-and-swap.md.
"""

from collections.abc import Mapping
from typing import Final, Literal, get_args

from everfold.errors import ConflictError

CompactionState = Literal["pending", "running", "ready", "done", "degraded", "cancelled"]
"""How far the work on a compaction is."""

LayoutState = Literal["held", "committed"]
"""held: the window still shows the messages. committed: the compaction's layout was put in force."""

WorkState = Literal["off", "pending", "done", "failed"]
"""How far one job is. off: the job is not done for this compaction. failed: its attempts are exhausted."""

Ending = Literal["done", "degraded", "cancelled"]
"""The states in which work ends. Each is also the name of its cause."""

Cause = Literal[
    "begin",
    "claim",
    "renew",
    "release",
    "keep draft",
    "commit",
    "digest",
    "erase",
    "done",
    "degraded",
    "cancelled",
    "reopen",
    "revise",
]
"""What happens to a compaction.

begin: a plan is stored. claim: a worker takes the compaction, or takes it over when the lease of another has run out.
renew: the worker keeps it for longer. release: the worker gives it back. keep draft: the model's digest is stored and
waits for its turn. commit: the layout is put in force. digest: the layout in force shows the model's digest, and the
extraction is still to come. erase: a message of the session is erased, and drafts with it. reopen: a person asks for
another try. revise: the compaction is itself a revision, which is stored with its result.
"""

JobCause = Literal["begin", "skip", "succeed", "fail", "give up", "moot", "die", "drop", "reopen"]
"""What happens to a job.

begin: it is to be done. skip: nothing is configured to do it. succeed: it is done. fail: an attempt failed, and another
follows. give up: the last attempt failed, the result did not pass, or nothing is configured to do it any more. moot: no
window would show the result. die: every worker that tried it was stopped. drop: the compaction ends without it. reopen: a
person asks for another try.
"""

COMPACTION: Final[Mapping[Cause, Mapping[CompactionState | None, CompactionState]]] = {
    "begin": {None: "pending"},
    "claim": {"pending": "running", "running": "running"},
    "renew": {"running": "running"},
    "release": {"running": "pending"},
    "keep draft": {"running": "ready"},
    "commit": {"pending": "pending", "running": "running", "ready": "ready"},
    "digest": {"pending": "pending", "running": "pending", "ready": "pending"},
    "erase": {"pending": "pending", "running": "running", "ready": "pending"},
    "done": {"pending": "done", "running": "done", "ready": "done"},
    "degraded": {"pending": "degraded", "running": "degraded", "ready": "degraded"},
    "cancelled": {"pending": "cancelled", "running": "cancelled", "ready": "cancelled"},
    "reopen": {"degraded": "pending"},
    "revise": {None: "done"},
}

_EITHER: Final[Mapping[LayoutState | None, LayoutState]] = {"held": "held", "committed": "committed"}
_COMMITTED: Final[Mapping[LayoutState | None, LayoutState]] = {"committed": "committed"}

LAYOUT: Final[Mapping[Cause, Mapping[LayoutState | None, LayoutState]]] = {
    "begin": {None: "held"},
    "claim": _EITHER,
    "renew": _EITHER,
    "release": _EITHER,
    "keep draft": _EITHER,
    "commit": {"held": "committed"},
    "digest": _COMMITTED,
    "erase": _EITHER,
    "done": _COMMITTED,
    "degraded": _COMMITTED,
    "cancelled": {"held": "held"},
    "reopen": _COMMITTED,
    "revise": {None: "committed"},
}

DIGEST: Final[Mapping[JobCause, Mapping[WorkState | None, WorkState]]] = {
    "begin": {None: "pending"},
    "skip": {None: "off"},
    "succeed": {"pending": "done"},
    "fail": {"pending": "pending"},
    "give up": {"pending": "failed"},
    "moot": {"pending": "off", "done": "off"},
    "die": {"off": "failed", "pending": "failed", "done": "failed", "failed": "failed"},
    "drop": {"off": "off", "pending": "off", "done": "off", "failed": "off"},
    "reopen": {"off": "pending", "pending": "pending", "done": "pending", "failed": "pending"},
}

EXTRACTION: Final[Mapping[JobCause, Mapping[WorkState | None, WorkState]]] = {
    "begin": {None: "pending"},
    "skip": {None: "off"},
    "succeed": {"pending": "done"},
    "fail": {"pending": "pending"},
    "give up": {"pending": "failed"},
    "die": {"off": "off", "pending": "failed", "done": "done", "failed": "failed"},
    "drop": {"off": "off", "pending": "off", "done": "off", "failed": "off"},
    "reopen": {"off": "off", "pending": "pending", "done": "done", "failed": "pending"},
}

ENDED_STATES: Final[frozenset[CompactionState]] = frozenset(get_args(Ending))
OPEN_STATES: Final[frozenset[CompactionState]] = frozenset(get_args(CompactionState)) - ENDED_STATES


def find_next(state: CompactionState | None, layout: LayoutState | None, cause: Cause) -> CompactionState | None:
    """The state that a cause gives a compaction in this state; None where the cause is refused."""
    return COMPACTION[cause].get(state) if layout in LAYOUT[cause] else None


def move_digest(state: WorkState | None, cause: JobCause) -> WorkState:
    """The state that a cause gives the digest.

    Raises:
        ConflictError: the table does not list the pair.
    """
    return _move(DIGEST, state, cause)


def move_extraction(state: WorkState | None, cause: JobCause) -> WorkState:
    """The state that a cause gives the extraction.

    Raises:
        ConflictError: the table does not list the pair.
    """
    return _move(EXTRACTION, state, cause)


def find_ending(digest: WorkState, extraction: WorkState) -> Ending | None:
    """How a compaction ends by the states of its jobs; None while one of them is pending."""
    if "pending" in {digest, extraction}:
        return None
    return "degraded" if "failed" in {digest, extraction} else "done"


def _move(
    table: Mapping[JobCause, Mapping[WorkState | None, WorkState]], state: WorkState | None, cause: JobCause
) -> WorkState:
    after = table.get(cause, {}).get(state)
    if after is None:
        raise ConflictError(f"a job that is {state} cannot take {cause!r}; see everfold.core.compaction.transitions")
    return after
