"""The sections of the settings: every key with its default, its bounds and what it does.

What reads them from files and the environment is in `config`. A key that is set wrongly is refused there, with where it
stands.

Source: DESIGN section 6 for the defaults.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from everfold.core.memory_policy import MemoryPolicy, MemorySystem
from everfold.core.room import DEFAULT_LIMIT_TOKENS, Policy

_POLICY = Policy()
_MEMORY = MemoryPolicy()


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoreSettings(_Section):
    """Where everything is kept."""

    url: str = Field("sqlite:///everfold.db", description="The store: `sqlite:///FILE` or `memory://`.")


MODEL_PATTERN = r"^(openai|anthropic|ollama|script):\S(.*\S)?$"
"""A model by its provider and its name there, or a script by its file."""
_URL_PATTERN = r"^https?://[^\s@]+$"
_VARIABLE_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"


class ModelSettings(_Section):
    """The model, and what it can take. Without a name no model is called."""

    context_limit: int = Field(DEFAULT_LIMIT_TOKENS, gt=0, description="The model's context limit in tokens.")
    answer_tokens: int | None = Field(
        None, ge=0, description="Room for the answer; the smaller of 8192 and 12 % of the limit when left out."
    )
    name: str | None = Field(
        None,
        pattern=MODEL_PATTERN,
        description="What answers: `openai:NAME`, `anthropic:NAME`, `ollama:NAME`, or `script:FILE`, which follows a "
        "script.",
    )
    base_url: str | None = Field(
        None,
        pattern=_URL_PATTERN,
        description="The server, where it is not the provider's own: with `openai:`, any OpenAI-compatible one.",
    )
    api_key_env: str | None = Field(
        None,
        pattern=_VARIABLE_PATTERN,
        description="The variable that holds the key. Left out, the provider's usual one, unless `base_url` is set: "
        "then no key is sent.",
    )


NOT_POLICY = frozenset(
    {
        "model",
        "summary_timeout_secs",
        "retries",
        "lease_secs",
        "synchronous",
        "context_sources",
        "context_token_cap",
        "source_timeout_secs",
        "source_floor_tokens",
    }
)
"""Settings of compaction that a session does not hold: they say how its work is done, not what is folded."""


class ContextSourceSettings(_Section):
    """A source that may be asked, in a `[[compaction.context_sources]]` of its own: a hand, or a `[sources.NAME]`."""

    hand: str | None = Field(None, min_length=1, description="The hand that is asked, by its name.")
    source: str | None = Field(None, min_length=1, description="The `[sources.NAME]` that is asked, by its name.")
    prompt: str = Field("", description="What is wanted, in words.")

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.hand is None) == (self.source is None):
            raise ValueError("an entry names either a hand or a source")
        return self


class CompactionSettings(_Section):
    """How a session compacts. Ratios are shares of the room unless they say otherwise."""

    enabled: bool = Field(_POLICY.enabled, description="Compact when due; an overflow always does.")
    trigger_ratio: float = Field(_POLICY.trigger_ratio, description="A compaction is due from here on.")
    target_ratio: float = Field(_POLICY.target_ratio, description="It folds down to here.")
    force_ratio: float = Field(_POLICY.force_ratio, description="No window is larger than this.")
    volatile_ratio: float = Field(
        _POLICY.volatile_ratio, ge=0, lt=1, description="Share of the budget reserved for the volatile suffix."
    )
    message_cap: int = Field(
        _POLICY.message_cap_tokens, gt=0, description="The largest message, in tokens, that is kept or is the head."
    )
    message_cap_ratio: float = Field(
        _POLICY.message_cap_ratio, gt=0, lt=1, description="The same as a share; the smaller of both holds."
    )
    kept_ratio: float = Field(_POLICY.kept_ratio, ge=0, lt=1, description="The kept slice.")
    pinned_ratio: float = Field(
        _POLICY.pinned_ratio, ge=0, lt=1, description="What `[[keep]]` and mid-log system messages may take of it."
    )
    digest_ratio: float = Field(_POLICY.digest_ratio, gt=0, lt=1, description="The digest slice.")
    standing_ratio: float = Field(_POLICY.standing_ratio, ge=0, lt=1, description="The standing slice.")
    visible_ratio: float = Field(_POLICY.visible_ratio, gt=0, lt=1, description="The most that one message shows.")
    step_visible_ratio: float = Field(
        _POLICY.step_visible_ratio, gt=0, lt=1, description="The most that one step shows."
    )
    min_fold_tokens: int = Field(_POLICY.min_fold_tokens, ge=0, description="No automatic fold is smaller.")
    min_fold_ratio: float = Field(
        _POLICY.min_fold_ratio, ge=0, lt=1, description="The same as a share; the smaller of both holds."
    )
    turn_backstop: int = Field(_POLICY.turn_backstop, ge=1, description="Turns that stay unfolded at most.")
    turn_slack: int = Field(_POLICY.turn_slack, ge=0, description="How far turns may go past it.")
    row_window: int = Field(_POLICY.row_window, ge=1, description="Messages that stay unfolded at most.")
    row_headroom: int = Field(_POLICY.row_headroom, ge=0, description="How far messages may go past it.")
    rows_per_digest: int = Field(_POLICY.rows_per_digest, ge=1, description="The most messages of one event.")
    keep_recent: int = Field(
        _POLICY.keep_recent, ge=1, description="What a manual, cadence or gap compaction leaves, in messages."
    )
    continuous_interval: int = Field(
        _POLICY.continuous_interval, ge=0, description="Compact and refresh every so many exchanges; 0 never does."
    )
    gap_secs: float = Field(
        _POLICY.gap_secs, ge=0, description="Compact and refresh when the user returns after so long; 0 never does."
    )
    gap_deadline_secs: float = Field(_POLICY.gap_deadline_secs, gt=0, description="What a turn waits for that at most.")
    gap_max_lookback_secs: float = Field(
        _POLICY.gap_max_lookback_secs, gt=0, description="How far back a refresh looks at most."
    )
    context_sources: tuple[ContextSourceSettings, ...] = Field(
        default=(), description="What is asked at a refresh; nothing else ever is."
    )
    context_token_cap: int = Field(
        2000, ge=0, description="What all of their answers may take in the window, in tokens; 0 for no cap of its own."
    )
    source_timeout_secs: float = Field(30.0, gt=0, description="How long one source may take.")
    source_floor_tokens: int = Field(256, ge=65, description="The least share of the cap that one source gets.")
    lease_secs: float = Field(180.0, gt=0, description="For how long an event is one worker's own; it is renewed.")
    synchronous: bool = Field(
        default=False, description="Do background work inline, before a window is shown: for scripts and tests."
    )
    model: str | None = Field(
        None, pattern=MODEL_PATTERN, description="The model that writes digests; `model.name` when left out."
    )
    summary_timeout_secs: float = Field(90.0, gt=0, description="How long a model may take for one answer.")
    retries: int = Field(1, ge=0, description="Further attempts after an error that may pass.")


class SpendSettings(_Section):
    """What models may cost, in US dollars. A call whose price is not known counts nothing; its record says so."""

    per_event_usd: float | None = Field(None, gt=0, description="No call for a compaction that has cost so much.")
    per_day_usd: float | None = Field(
        None, gt=0, description="No call once all calls since midnight UTC have cost so much."
    )


class HookSettings(_Section):
    """How plug-ins are called."""

    timeout_secs: float = Field(10.0, gt=0, description="How long one call of one plug-in may take.")
    strict: bool = Field(False, description="Fold nothing unless at least one plug-in succeeds in `on_pre_compress`.")


class SessionsSettings(_Section):
    """How sessions follow each other."""

    rotate_on_compaction: bool = Field(
        default=False, description="Go on in a session of its own after a compaction; hooks are told of the switch."
    )
    gap_secs: float = Field(
        300.0, ge=0, description="Dream of what was said once the user has been away for so long; 0 never does."
    )
    poll_secs: float = Field(30.0, gt=0, description="How often to look who has been away.")


class MemorySettings(_Section):
    """What is remembered beyond the digests, where an agent opts in."""

    system: MemorySystem = Field(
        _MEMORY.system,
        description="Digests only (`summarization`), or items with evidence, dreams, snapshot and delta too (`structured`).",
    )
    inject: bool = Field(_MEMORY.inject, description="Recall for the newest user message at the end of each request.")
    recall_max: int = Field(_MEMORY.recall_max, ge=1, description="How many results recall gives at most.")
    delta_max_chars: int = Field(
        _MEMORY.delta_max_chars, ge=1, description="What memory gained since its snapshot, in characters at most."
    )
    user_char_limit: int = Field(
        _MEMORY.user_char_limit, ge=1, description="What is always shown about the person, in characters."
    )
    agent_char_limit: int = Field(
        _MEMORY.agent_char_limit, ge=1, description="The same of the agent's notes about its work."
    )
    extract_ratio: float = Field(
        _MEMORY.extract_ratio,
        gt=0,
        le=1,
        description="A model looks for what to remember whenever so much of the limit was said.",
    )
    extract_tool_calls: int = Field(
        _MEMORY.extract_tool_calls, ge=1, description="Or whenever so many tools were called."
    )
    review: bool = Field(_MEMORY.review, description="Dreams change nothing until a person approves them.")


_TOOL_PATTERN = r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"
"""A Python function by its import path."""


class McpSettings(_Section):
    """A server of tools, in a `[agents.NAME.mcp.SERVER]` or `[hands.NAME.mcp.SERVER]`: a program or an address."""

    command: tuple[str, ...] = Field(default=(), description="A program that speaks MCP over stdio, and its arguments.")
    env: Mapping[str, str] = Field(
        default_factory=dict[str, str], description="Variables of that program, each with the one that holds its value."
    )
    url: str | None = Field(None, pattern=_URL_PATTERN, description="A server that speaks MCP over streamable HTTP.")
    headers: Mapping[str, str] = Field(
        default_factory=dict[str, str], description="Headers sent to it, each with the variable that holds its value."
    )
    allow: tuple[str, ...] | None = Field(None, description="The tools that may be used; all of them when left out.")

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server has either a command or a url")
        return self


class AgentSettings(_Section):
    """What one agent is, each in an `[agents.NAME]`; what is left out is as for all: `[model]`, `[memory]`, ..."""

    model: str | None = Field(None, pattern=MODEL_PATTERN, description="Instead of `model.name`.")
    context_limit: int | None = Field(None, gt=0, description="Instead of `model.context_limit`.")
    instructions: str = Field("", description="The system prompt.")
    tools: tuple[Annotated[str, Field(pattern=_TOOL_PATTERN)], ...] = Field(
        default=(), description="Python functions that it may call, each `package.module:function`."
    )
    mcp: Mapping[str, McpSettings] = Field(
        default_factory=dict[str, McpSettings], description="Servers of tools, by name."
    )
    compaction: Mapping[str, object] = Field(
        default_factory=dict[str, object], description="Keys of `[compaction]` that its sessions have otherwise."
    )
    memory_system: MemorySystem | None = Field(None, description="Instead of `memory.system`.")
    memory_inject: bool | None = Field(None, description="Instead of `memory.inject`.")
    memory_review: bool | None = Field(None, description="Instead of `memory.review`.")


class HandSettings(_Section):
    """An agent that answers one question in isolation and is then gone, each in a `[hands.NAME]`."""

    model: str | None = Field(None, pattern=MODEL_PATTERN, description="Instead of `model.name`.")
    instructions: str = Field("", description="The system prompt.")
    tools: tuple[Annotated[str, Field(pattern=_TOOL_PATTERN)], ...] = Field(
        default=(), description="The only Python functions that it may call, each `package.module:function`; they read."
    )
    mcp: Mapping[str, McpSettings] = Field(
        default_factory=dict[str, McpSettings],
        description="Servers of tools, by name; each says which tools are allowed.",
    )
    max_output_tokens: int = Field(512, gt=0, description="How long its answer may be, unless it is asked for less.")
    timeout_secs: float = Field(30.0, gt=0, description="How long it may take, unless it is asked to be quicker.")


class UserSettings(_Section):
    """People whom the application knows from the start, each in a `[[users]]` of their own; one is the default user."""

    name: str = Field(min_length=1, description="The display name, by which the user is reached too.")
    bindings: tuple[str, ...] = Field(
        default=(), description="Where else the user is reached, each `CHANNEL:ID`, such as `telegram:12345`."
    )
    is_default: bool = Field(
        default=False, description="This is the default user; the first one is where none is marked."
    )


class EmbedSettings(_Section):
    """What makes vectors for recall. Without a model recall is by words alone."""

    model: str | None = Field(
        None,
        pattern=r"^[a-z-]+:\S+$",
        description="An embedder: `openai:NAME`, `ollama:NAME`, `sentence-transformers:NAME` and others, or `hash:384`, "
        "which needs no model and knows words by their letters.",
    )
    base_url: str | None = Field(
        None, pattern=_URL_PATTERN, description="The server, where it is not the provider's own."
    )
    api_key_env: str | None = Field(
        None,
        pattern=_VARIABLE_PATTERN,
        description="The variable that holds the key; the provider's usual one if left out.",
    )
    dimensions: int | None = Field(None, gt=0, description="The size of a vector, where the model gives several.")


class ServerSettings(_Section):
    """Where the server is reached, and what it takes of one caller."""

    host: str = Field("127.0.0.1", description="The address to listen on; the machine itself alone is the default.")
    port: int = Field(8420, ge=0, le=65_535, description="The port; 0 takes a free one and says which.")
    public_url: str | None = Field(
        None,
        pattern=_URL_PATTERN,
        description="What people reach it by, where a proxy stands before it; with https its cookie is for https only.",
    )
    body_limit_bytes: int = Field(10_000_000, ge=1, description="The largest body of a request.")
    requests_per_minute: int = Field(6_000, ge=0, description="What one key may ask in a minute; 0 sets no bound.")
    drain_secs: float = Field(5.0, ge=0, description="What stopping waits for: answers and work that are on their way.")


class SourceSettings(BaseModel):
    """Where a refresh may look, each in a `[sources.NAME]` of its own; the other keys are those of its kind."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Literal["calendar", "mailbox", "http", "callable"] = Field(description="What it is.")


class SweepSettings(_Section):
    """How work that was left behind, or failed, is taken up again."""

    grace_secs: float = Field(600.0, ge=0, description="How long a failed event waits for its next attempt.")
    lookback_secs: float = Field(
        604_800.0, ge=0, description="Events that were begun before are left to a person; 0 leaves all to them."
    )
    attempts: int = Field(3, ge=1, description="How often an event is tried before its extractive digest is final.")
    every_secs: float = Field(120.0, gt=0, description="How often to look.")
