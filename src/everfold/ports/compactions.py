"""The store's part for compactions: their events from begin to end, and what they commit.

See `everfold.ports.stores` for what holds for every method of a store.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from everfold.core.drafts import Draft
from everfold.core.events import CompactionEvent, Outcome, WorkState
from everfold.core.folding import Digest, Fold
from everfold.core.layout import Layout
from everfold.core.sessions import EventId, SessionId
from everfold.core.state import SessionState


class CompactionStore(Protocol):
    """Compaction events, digests, layouts and certificates."""

    async def begin_compaction(self, event: CompactionEvent, state: SessionState, *, expected_revision: int) -> None:
        """Store a pending event, and the state that names it among its held events.

        Raises:
            ConflictError: the state is not of the expected revision.
        """
        ...

    async def commit_compaction(
        self,
        event_id: EventId,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        committed_at: datetime,
        outcome: Outcome | None,
    ) -> None:
        """Write digests, layout, certificate and report, and put the layout in force.

        `state` names the event and counts it. With an outcome the event ends; without one the layout stands and the
        event goes on: for its extraction when the fine digest is the model's, else for the model's digest.

        Raises:
            ConflictError: the event has ended or was committed, or the state is not of the expected revision.
        """
        ...

    async def revise_compaction(
        self,
        revised_id: EventId,
        revision: CompactionEvent,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        outcome: Outcome | None,
    ) -> None:
        """Store a revision, an event that is done, with what it commits; events that are held move up behind it.

        The revised event's digest is done. With an outcome it ends; without one it is pending for its extraction.

        Raises:
            ConflictError: the revised event has ended or is not committed, or the state is not of the expected revision.
        """
        ...

    async def end_event(
        self, event_id: EventId, outcome: Outcome, state: SessionState, *, expected_revision: int, ended_at: datetime
    ) -> None:
        """End an event and write a state, without a layout: cancelled, or settled after its layout was committed.

        Raises:
            ConflictError: it has ended, or the state is not of the expected revision.
        """
        ...

    async def reopen_event(self, event_id: EventId, state: SessionState, *, expected_revision: int) -> None:
        """Make a degraded event pending again, its attempts not counted, and write a state: a person's retry.

        Raises:
            ConflictError: it is not degraded, or the state is not of the expected revision.
        """
        ...

    async def list_events(
        self, session_id: SessionId, *, after_ordinal: int, limit_count: int
    ) -> list[CompactionEvent]:
        """Events of the session's lineage by ordinal."""
        ...

    async def read_layout(self, event_id: EventId) -> Layout:
        """The layout that an event committed."""
        ...

    async def read_digests(self, digest_ids: Sequence[str]) -> dict[str, Digest]:
        """Digests by id; unknown ones are left out. The pool comes with coarse ones."""
        ...


class WorkStore(Protocol):
    """Events as work: who has them, until when, and what they have so far."""

    async def get_event(self, event_id: EventId) -> CompactionEvent:
        """The event with this id."""
        ...

    async def claim_event(self, event_id: EventId, *, now: datetime, lease_until: datetime) -> CompactionEvent:
        """Make an event running that nobody has: pending and due, or running with a lease that has run out.

        Counts the attempt.

        Raises:
            ConflictError: it has ended, is ready, is not due, or a living worker has it.
        """
        ...

    async def renew_lease(self, event_id: EventId, *, attempt: int, lease_until: datetime) -> None:
        """Have an event for longer.

        Raises:
            ConflictError: it is not running under this attempt any more.
        """
        ...

    async def keep_draft(self, event_id: EventId, draft: Draft, *, attempt: int, extraction: WorkState) -> None:
        """Make a running event ready: its digest is written and waits for its turn, its extraction is as given.

        The lease stays: when more is to come after its commit, it is not claimed again before the lease has run out.

        Raises:
            ConflictError: it is not running under this attempt any more, or a message of its log was erased since the
                draft's was read.
        """
        ...

    async def release_event(
        self, event_id: EventId, *, attempt: int, problem: str, not_before: datetime | None
    ) -> None:
        """Make a running event pending again, to be claimed from a moment on.

        Raises:
            ConflictError: it is not running under this attempt any more.
        """
        ...

    async def list_waiting(self, *, now: datetime, begun_after: datetime, limit_count: int) -> list[CompactionEvent]:
        """Events that nobody works on and somebody could, oldest first: pending and due, lease run out, or ready."""
        ...
