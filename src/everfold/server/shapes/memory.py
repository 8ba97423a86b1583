"""Memory as a whole over HTTP: what a wipe takes, where an import ends, and what the block takes of its budget."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from everfold.core.memory import MemoryHead
from everfold.server.shapes.shape import Shape
from everfold.services.measure_budgets import Budget


class WipedShape(Shape):
    """How much went from each bucket; 0 where there was nothing."""

    topics_deleted: int = Field(description="Topics of the tier `user`.", examples=[2])
    agent_topics_deleted: int = Field(description="Topics of the tier `agent`.", examples=[1])
    extractions_deleted: int = Field(examples=[7])
    items_deleted: int = Field(examples=[23])
    dreams_deleted: int = Field(examples=[1])
    revisions_deleted: int = Field(description="Older revisions of items and topics.", examples=[4])
    quotes_deleted: int = Field(description="Messages that items named as evidence.", examples=[21])
    snapshots_deleted: int = Field(description="Frozen texts of memory in windows.", examples=[1])
    cursors_deleted: int = Field(description="How far dreams had read.", examples=[1])
    vectors_deleted: int = Field(examples=[0])
    sessions_deleted: int = Field(default=0, description="With `transcripts`; 0 without.", examples=[0])
    messages_deleted: int = Field(default=0, description="With `transcripts`; 0 without.", examples=[0])
    events_deleted: int = Field(default=0, description="With `transcripts`; 0 without.", examples=[0])
    digests_deleted: int = Field(default=0, description="With `transcripts`; 0 without.", examples=[0])
    calls_anonymised: int = Field(
        default=0, description="Calls of models that say no more whom they were for.", examples=[0]
    )
    is_pending: bool = Field(
        description="The database's files hold it until another reader lets go of them; the sweep sees to it.",
        examples=[False],
    )


class HeadShape(Shape):
    """Where a user's memory stands."""

    revision: int = Field(description="Every change of it raises it.", examples=[1])
    epoch: int = Field(description="Every erase and wipe raises it.", examples=[0])


class BudgetShape(Shape):
    """What one tier of the always-injected block takes."""

    used_chars: int = Field(examples=[412])
    limit_chars: int = Field(examples=[1375])
    items_count: int = Field(description="Items that it shows.", examples=[6])


class AgentBudget(BudgetShape):
    """What the notes of one agent take."""

    agent: str = Field(examples=["default"])


class Budgets(Shape):
    """The always-injected block, tier by tier."""

    user: BudgetShape
    agents: list[AgentBudget] = Field(description="Of every agent that has noted something, by name.")


_RENAMED: Mapping[str, str] = {
    "sessions": "snapshots_deleted",
    "transcripts": "sessions_deleted",
    "calls": "calls_anonymised",
}


def show_wiped(counts: Mapping[str, int], *, is_pending: bool) -> WipedShape:
    """What a wipe has taken, bucket by bucket."""
    named = {_RENAMED.get(bucket, f"{bucket}_deleted"): count for bucket, count in counts.items()}
    return WipedShape.model_validate({**named, "is_pending": is_pending})


def show_head(head: MemoryHead) -> HeadShape:
    """Where a user's memory stands."""
    return HeadShape(revision=head.revision, epoch=head.epoch)


def show_budgets(budgets: Sequence[Budget]) -> Budgets:
    """Budgets, of which the first is the user tier's."""
    user, *agents = budgets
    return Budgets(
        user=BudgetShape.model_validate(user),
        agents=[AgentBudget(agent=one.agent_id or "", **dict(BudgetShape.model_validate(one))) for one in agents],
    )
