"""Tasks: the input of the work on one compaction, its policy, and its results."""

from dataclasses import dataclass, replace

from everfold.core.compaction.record import Compaction, Outcome
from everfold.core.compaction.transitions import JobCause, WorkState, find_ending, move_digest, move_extraction
from everfold.core.digests.drafts import Draft, name_refused
from everfold.core.log.messages import Message, Note
from everfold.core.log.sessions import SessionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPolicy:
    """How background work is done. The fields are settings of the same name; see docs/reference/settings.md.

    Attributes:
        lease_secs: For how long a claimed compaction is a worker's own; renewed while it works.
        attempts: How often a compaction is tried before its extractive digest is final.
        grace_secs: How long a failed compaction waits for its next attempt.
        summary_timeout_secs: How long a person waits for a digest that they asked for.
        is_synchronous: The caller that finds work due does it, before the window is shown.
    """

    lease_secs: float = 180.0
    attempts: int = 3
    grace_secs: float = 600.0
    summary_timeout_secs: float = 90.0
    is_synchronous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one compaction's work is done on: exactly the messages that it folds, in order."""

    record: SessionRecord
    compaction: Compaction
    messages: tuple[Message, ...]
    notes: tuple[Note, ...]
    epoch: int
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of a model's digest: a verified draft, or why there is none.

    Attributes:
        has_room: False where the range is too small for a model's text: nothing went wrong, and trying again changes
            nothing.
    """

    draft: Draft | None
    problem: str = ""
    has_room: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the two jobs of a compaction are, with the draft where one is written."""

    digest: WorkState
    extraction: WorkState
    draft: Draft | None = None
    problem: str = ""

    @property
    def outcome(self) -> Outcome | None:
        """How the compaction ends; None while a job is pending."""
        ending = find_ending(self.digest, self.extraction)
        if ending is None:
            return None
        is_told = ending == "degraded" or self.digest == "off"
        problem = self.problem if is_told else name_refused(self.draft)
        return Outcome(state=ending, digest=self.digest, extraction=self.extraction, problem=problem)

    def after_digest(self, cause: JobCause, *, problem: str | None = None, draft: Draft | None = None) -> "Progress":
        """The same after something happened to the digest."""
        problem = self.problem if problem is None else problem
        return replace(self, digest=move_digest(self.digest, cause), problem=problem, draft=draft)

    def after_extraction(self, cause: JobCause, *, problem: str | None = None) -> "Progress":
        """The same after something happened to the extraction."""
        problem = self.problem if problem is None else problem
        return replace(self, extraction=move_extraction(self.extraction, cause), problem=problem)


def read_progress(compaction: Compaction) -> Progress:
    """How far a compaction is by what is stored of it: a draft that is kept counts as a digest that is done."""
    digest = compaction.digest if compaction.draft is None else move_digest(compaction.digest, "succeed")
    return Progress(digest=digest, extraction=compaction.extraction, draft=compaction.draft, problem=compaction.problem)
