"""The store's part for compactions: from begin to end, and what they commit.

`everfold.core.compaction.transitions` lists the states in which each method accepts a compaction, and the next states.
See `everfold.ports.stores` for what holds for every method of a store.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from everfold.core.compaction.folding import Digest, Fold
from everfold.core.compaction.layout import Layout
from everfold.core.compaction.record import Compaction, Outcome
from everfold.core.compaction.transitions import WorkState
from everfold.core.digests.drafts import Draft
from everfold.core.log.state import SessionState
from everfold.core.primitives.ids import CompactionId, SessionId


class CompactionStore(Protocol):
    """Compactions, digests, layouts and certificates."""

    async def begin_compaction(self, compaction: Compaction, state: SessionState, *, expected_revision: int) -> None:
        """Store a compaction, and the state that names it among its pending ones.

        Raises:
            ConflictError: the state is not of the expected revision.
        """
        ...

    async def commit_compaction(
        self,
        compaction_id: CompactionId,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        committed_at: datetime,
        outcome: Outcome | None,
    ) -> None:
        """Write digests, layout, certificate and report, and put the layout in force.

        `state` names the compaction and counts it. With an outcome the compaction ends. Without one the layout is in
        force and the work continues: the extraction when the digest is the model's, else the model's digest.

        Raises:
            ConflictError: the compaction has ended or was committed, or the state is not of the expected revision.
        """
        ...

    async def revise_compaction(
        self,
        revised_id: CompactionId,
        revision: Compaction,
        fold: Fold,
        state: SessionState,
        *,
        expected_revision: int,
        outcome: Outcome | None,
    ) -> None:
        """Store a revision, a compaction that is done, with what it commits. Held compactions move up behind it.

        The revised compaction's digest is done. With an outcome it ends; without one it is pending for its extraction.

        Raises:
            ConflictError: the revised compaction has ended, is not committed or shows a model's digest already, or the
                state is not of the expected revision.
        """
        ...

    async def end_compaction(
        self,
        compaction_id: CompactionId,
        outcome: Outcome,
        state: SessionState,
        *,
        expected_revision: int,
        ended_at: datetime,
    ) -> None:
        """End a compaction and write a state, without a layout: cancelled, or settled after its layout was committed.

        Raises:
            ConflictError: it has ended, is to be cancelled and was committed, is to be settled and was not, or the state
                is not of the expected revision.
        """
        ...

    async def reopen_compaction(
        self, compaction_id: CompactionId, state: SessionState, *, expected_revision: int
    ) -> None:
        """Make a degraded compaction pending again, its attempts not counted, and write a state: a person's retry.

        Raises:
            ConflictError: it is not degraded, or the state is not of the expected revision.
        """
        ...

    async def list_compactions(
        self, session_id: SessionId, *, after_ordinal: int, limit_count: int
    ) -> list[Compaction]:
        """Compactions of the session's lineage by ordinal.

        More than `limit_count` where the last ones have one ordinal: cancelled compactions and the one after them.
        """
        ...

    async def read_layout(self, compaction_id: CompactionId) -> Layout:
        """The layout that a compaction committed."""
        ...

    async def read_layouts(self, compaction_ids: Sequence[CompactionId]) -> list[Layout]:
        """The layouts that several compactions committed, in the order that they are asked for."""
        ...

    async def read_digests(self, digest_ids: Sequence[str]) -> dict[str, Digest]:
        """Digests by id; unknown ones are left out. Rollups come with their pool."""
        ...


class WorkStore(Protocol):
    """Compactions as work: which worker has claimed them, until when, and their drafts."""

    async def get_compaction(self, compaction_id: CompactionId) -> Compaction:
        """The compaction with this id."""
        ...

    async def claim_compaction(self, compaction_id: CompactionId, *, secs: float) -> Compaction:
        """Make a compaction running that is pending and due, or running with a lease that has run out.

        Its lease lasts so long, by the store's time. Counts the attempt.

        Raises:
            ConflictError: it has ended, is ready, is not due, or a living worker has it.
        """
        ...

    async def renew_compaction(self, compaction_id: CompactionId, *, attempt: int, secs: float) -> None:
        """Have the lease of a compaction last so long from now on.

        Raises:
            ConflictError: it is not running under this attempt any more.
        """
        ...

    async def keep_draft(
        self, compaction_id: CompactionId, draft: Draft, *, attempt: int, extraction: WorkState
    ) -> None:
        """Make a running compaction ready: its digest is written and waits for its turn, its extraction is as given.

        The lease stays: if work remains after the commit, the compaction is not claimed before the lease has run out.

        Raises:
            ConflictError: it is not running under this attempt any more, or a message of its log was erased since the
                draft's was read.
        """
        ...

    async def release_compaction(
        self, compaction_id: CompactionId, *, attempt: int, problem: str, wait_secs: float | None
    ) -> None:
        """Make a running compaction pending again, to be claimed at once, or after so long.

        Raises:
            ConflictError: it is not running under this attempt any more.
        """
        ...

    async def list_waiting(self, *, begun_after: datetime, limit_count: int) -> list[Compaction]:
        """Compactions without a worker that can be claimed or committed: due or lease run out, then ready; oldest first."""
        ...
