"""Memory as a whole over HTTP: what a wipe takes, where an import ends, and what the block takes of its budget."""

from collections.abc import Mapping

from pydantic import Field

from everfold.core.memory.records import MemoryVersion
from everfold.server.schemas.schema import Schema, many, project, wrap
from everfold.services.forgetting.wipe import Wiped
from everfold.services.memory.measure_budgets import Budget


class WipedMemory(Schema):
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
    files_deleted: int = Field(description="Files that agents kept.", examples=[2])
    vectors_deleted: int = Field(examples=[0])
    sessions_deleted: int = Field(default=0, description="With `transcripts`; 0 without.", examples=[0])
    messages_deleted: int = Field(default=0, description="With `transcripts`; 0 without.", examples=[0])
    compactions_deleted: int = Field(default=0, description="With `transcripts`; 0 without.", examples=[0])
    digests_deleted: int = Field(default=0, description="With `transcripts`; 0 without.", examples=[0])
    calls_anonymised: int = Field(
        default=0, description="Calls of models that say no more whom they were for.", examples=[0]
    )
    is_pending: bool = Field(
        description="The text is still in the database's files until another reader closes them; then housekeeping clears it.",
        examples=[False],
    )


_RENAMED: Mapping[str, str] = {
    "sessions": "snapshots_deleted",
    "transcripts": "sessions_deleted",
    "calls": "calls_anonymised",
}


def show_wiped(wiped: Wiped) -> WipedMemory:
    """What a wipe has taken, bucket by bucket."""
    named = {_RENAMED.get(bucket, f"{bucket}_deleted"): count for bucket, count in wiped.counts.items()}
    return WipedMemory.model_validate({**named, "is_pending": wiped.is_pending})


MemoryVersionSchema = project("MemoryVersion", MemoryVersion, "revision epoch")
BudgetSchema = project(
    "Budget",
    Budget,
    "used_chars limit_chars items_count",
    "What one tier of the always-injected block takes.",
    words={"items_count": "Items that it shows."},
)
AgentBudgetSchema = project(
    "AgentBudget",
    Budget,
    "agent",
    "What the notes of one agent take.",
    base=BudgetSchema,
    agent=(str, lambda budget: budget.agent_id or "", "Whose notes."),
)
BudgetsSchema = wrap(
    "Budgets",
    "The always-injected block, tier by tier.",
    user=BudgetSchema,
    agents=(many(AgentBudgetSchema), "Of every agent that has noted something, by name."),
)
