"""Agents over HTTP."""

from pydantic import Field

from everfold.agents.described_agents import name_tools
from everfold.config import Settings
from everfold.core.memory.policy import MemorySystem
from everfold.sections import MODEL_PATTERN
from everfold.server.schemas.schema import Given, Schema


class ManifestMemory(Schema):
    """The memory of an agent's manifest."""

    system: MemorySystem


class Manifest(Schema):
    """What an agent is, in the nested form."""

    memory: ManifestMemory


class Effective(Schema):
    """What the agent's new sessions and its memory go by, all settings together."""

    compaction: dict[str, object] = Field(examples=[{"trigger_ratio": 0.8}])
    memory: dict[str, object] = Field(examples=[{"system": "structured"}])


class Agent(Schema):
    """An assistant."""

    id: str = Field(examples=["shop"])
    name: str = Field(examples=["shop"])
    is_configured: bool = Field(description="The settings describe it; else it is as `[model]` and `[memory]` say.")
    memory_system: MemorySystem
    model: str | None = Field(description="The setting of its model; null for none.", examples=["openai:gpt-5-mini"])
    context_limit: int = Field(description="In tokens.")
    instructions: str = Field(description="The system prompt.")
    tools: list[str] = Field(examples=[["shop.tools:find_order"]])
    recall_enabled: bool = Field(description="Recall for the newest user message at the end of each request.")
    memory_review: bool = Field(description="Dreams change nothing until a person approves them.")
    compaction: dict[str, object] = Field(description="Settings of `[compaction]` that its sessions have otherwise.")
    own: list[str] = Field(description="The fields that its own section sets; the others are as for all.")
    effective: Effective
    manifest: Manifest


class AgentPage(Schema):
    """Agents by name: those of the settings, and those with a session."""

    agents: list[Agent]


class AgentChange(Given):
    """What is to be otherwise of an agent. What is left out stays; null goes back to what holds for all."""

    memory_system: MemorySystem | None = Field(default=None, examples=["structured"])
    model: str | None = Field(default=None, pattern=MODEL_PATTERN, examples=["openai:gpt-5-mini"])
    context_limit: int | None = Field(default=None, gt=0, examples=[64_000])
    instructions: str | None = Field(default=None, examples=["You help in a shop."])
    recall_enabled: bool | None = Field(default=None, description="Recall beside each turn.", examples=[True])
    memory_review: bool | None = Field(default=None, description="A person approves each dream.", examples=[False])
    compaction: dict[str, object] | None = Field(
        default=None, description="All of them: what is not named goes back.", examples=[{"trigger_ratio": 0.7}]
    )

    @property
    def changes(self) -> dict[str, object]:
        """What was given, null too."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def show_agent(settings: Settings, name: str) -> Agent:
    """An agent as the settings have it."""
    own = settings.agents.get(name)
    session, memory = settings.session_settings(name), settings.memory_policy(name)
    policy = {key: getattr(session.policy, key) for key in session.policy.__slots__}
    return Agent(
        id=name,
        name=name,
        is_configured=own is not None,
        memory_system=memory.system,
        model=(own.model if own else None) or settings.model.name,
        context_limit=session.limit_tokens,
        instructions=own.instructions if own else "",
        tools=name_tools(own.tools, own.mcp) if own else [],
        recall_enabled=memory.recall_enabled,
        memory_review=memory.review,
        compaction=dict(own.compaction) if own else {},
        own=sorted(own.model_fields_set) if own else [],
        effective=Effective(compaction=policy, memory={key: getattr(memory, key) for key in memory.__slots__}),
        manifest=Manifest(memory=ManifestMemory(system=memory.system)),
    )
