"""The sections of the settings: every key with its default, its bounds and what it does.

What reads them from files and the environment is in `config`. A key that is set wrongly is refused there, with where it
stands.

Source: DESIGN section 6 for the defaults.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from everfold.core.log.budget import DEFAULT_LIMIT_TOKENS, Policy
from everfold.core.memory.policy import MemoryPolicy, MemorySystem
from everfold.core.observation.costs import UNIT_PRICES

_POLICY = Policy()
_MEMORY = MemoryPolicy()


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoreSettings(_Section):
    """Where sessions and memory are stored."""

    url: str = Field(
        "sqlite:///everfold.db",
        description="The store: `sqlite:///FILE`, `postgresql://USER@HOST/NAME` or `memory://`.",
    )


MODEL_PATTERN = r"^(openai|anthropic|ollama|script):\S(.*\S)?$"
"""A model by its provider and its name there, or a script by its file."""
_VARIABLE_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"


def _check_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_whole = text.isprintable() and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise ValueError("expected `https://HOST` or `https://HOST:PORT`, with a port from 1 to 65535")
    return text


Url = Annotated[str, Field(pattern=r"^https?://[^\s@]+$"), AfterValidator(_check_url)]
"""The address of a server, without a user or a password."""


class ModelSettings(_Section):
    """The model that answers and its limits. Without a name, no model is called."""

    context_limit: int = Field(DEFAULT_LIMIT_TOKENS, gt=0, description="The model's context limit in tokens.")
    answer_tokens: int | None = Field(
        None,
        ge=0,
        description="Tokens reserved for the answer. If not set, 8192 or 12 % of the limit, whichever is smaller.",
    )
    name: str | None = Field(
        None,
        pattern=MODEL_PATTERN,
        description="The model: `openai:NAME`, `anthropic:NAME`, `ollama:NAME`, or `script:FILE` for a scripted one.",
    )
    base_url: Url | None = Field(
        None,
        description="The server's URL, if not the provider's own; with `openai:`, any OpenAI-compatible server.",
    )
    api_key_env: str | None = Field(
        None,
        pattern=_VARIABLE_PATTERN,
        description="The variable that holds the API key. If not set, the provider's usual one; with `base_url`, no key is "
        "sent.",
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
"""Settings of compaction that are not stored with a session: they govern how work runs, not what is folded."""


class ContextSourceSettings(_Section):
    """One source that a refresh may ask, in its own `[[compaction.context_sources]]`: a hand, or a `[sources.NAME]`."""

    hand: str | None = Field(None, min_length=1, description="The name of the hand to ask.")
    source: str | None = Field(None, min_length=1, description="The name of the `[sources.NAME]` to ask.")
    prompt: str = Field("", description="The question for the source.")

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.hand is None) == (self.source is None):
            raise ValueError("an entry names either a hand or a source")
        return self


class CompactionSettings(_Section):
    """How a session compacts. Ratios are shares of the usable budget unless stated otherwise."""

    enabled: bool = Field(_POLICY.enabled, description="Compact when due. An overflow compacts even when this is off.")
    trigger_ratio: float | None = Field(
        None,
        description="A compaction is due at this share. If not set, 0.95, or 0.80 if a model writes the digests; always "
        "below the hard limit.",
    )
    target_ratio: float | None = Field(
        None,
        description="A compaction folds down to this share. If not set, 0.58, or 0.70 for usable budgets up to 4,000 "
        "tokens.",
    )
    hard_limit_ratio: float = Field(_POLICY.hard_limit_ratio, description="Hard limit: no window exceeds this share.")
    suffix_ratio: float = Field(
        _POLICY.suffix_ratio,
        ge=0,
        lt=1,
        description="The share of the budget reserved for the dynamic suffix. Without recall and structured memory, nothing "
        "is reserved unless this is set.",
    )
    tail_ratio: float = Field(
        _POLICY.tail_ratio, ge=0, lt=1, description="The least share of the newest messages after a compaction."
    )
    message_cap: int = Field(
        _POLICY.message_cap_tokens,
        gt=0,
        description="The largest message, in tokens, that can be kept verbatim or be the head.",
    )
    message_cap_ratio: float = Field(
        _POLICY.message_cap_ratio, gt=0, lt=1, description="The same as a share; the smaller of the two applies."
    )
    kept_ratio: float = Field(
        _POLICY.kept_ratio,
        ge=0,
        lt=1,
        description="The share for user messages kept verbatim; one message takes at most half of it. They also use the "
        "tokens that other parts leave. 0 keeps none.",
    )
    digest_ratio: float = Field(
        _POLICY.digest_ratio, gt=0, lt=1, description="The most that digests and the rollup take."
    )
    standing_ratio: float = Field(
        _POLICY.standing_ratio,
        ge=0,
        lt=1,
        description="The share for strong standing instructions, with `[[keep]]` and mid-log system messages.",
    )
    weak_standing_ratio: float = Field(
        _POLICY.weak_standing_ratio, ge=0, lt=1, description="The share for weaker standing instructions."
    )
    visible_ratio: float = Field(
        _POLICY.visible_ratio, gt=0, lt=1, description="The largest share that one message may show."
    )
    step_visible_ratio: float = Field(
        _POLICY.step_visible_ratio, gt=0, lt=1, description="The largest share that one step may show."
    )
    min_fold_tokens: int = Field(_POLICY.min_fold_tokens, ge=0, description="The smallest automatic fold, in tokens.")
    min_fold_ratio: float = Field(
        _POLICY.min_fold_ratio, ge=0, lt=1, description="The same as a share; the smaller of the two applies."
    )
    turn_backstop: int | None = Field(
        _POLICY.turn_backstop, ge=1, description="The most turns that stay unfolded. If not set, any number."
    )
    turn_slack: int = Field(
        _POLICY.turn_slack, ge=0, description="How many turns may exceed it before a compaction is due."
    )
    row_window: int | None = Field(
        _POLICY.row_window, ge=1, description="The most messages that stay unfolded. If not set, any number."
    )
    row_headroom: int = Field(
        _POLICY.row_headroom, ge=0, description="How many messages may exceed it before a compaction is due."
    )
    rows_per_digest: int = Field(_POLICY.rows_per_digest, ge=1, description="The most messages in one compaction.")
    keep_recent: int = Field(
        _POLICY.keep_recent, ge=1, description="How many messages a manual, cadence or gap compaction leaves unfolded."
    )
    continuous_interval: int = Field(
        _POLICY.continuous_interval, ge=0, description="Compact and refresh after this many exchanges; 0 turns it off."
    )
    gap_secs: float = Field(
        _POLICY.gap_secs,
        ge=0,
        description="Compact and refresh when the user returns after this long; 0 turns it off. `sessions.gap_secs` is for "
        "the dream that runs while the user is away.",
    )
    gap_deadline_secs: float = Field(
        _POLICY.gap_deadline_secs, gt=0, description="How long a turn may wait for this refresh."
    )
    gap_max_lookback_secs: float = Field(
        _POLICY.gap_max_lookback_secs, gt=0, description="How far back a refresh may look."
    )
    context_sources: tuple[ContextSourceSettings, ...] = Field(
        default=(), description="The sources that a refresh asks. No other source is asked."
    )
    context_token_cap: int = Field(
        2000,
        ge=0,
        description="The most tokens that all answers together may take in the window; 0 for no separate cap.",
    )
    source_timeout_secs: float = Field(30.0, gt=0, description="How long one source may take.")
    source_floor_tokens: int = Field(256, ge=65, description="The least share of the cap that one source gets.")
    lease_secs: float = Field(
        180.0, gt=0, description="How long a worker's claim on a compaction lasts before it must be renewed."
    )
    synchronous: bool = Field(
        default=False, description="Run background work inline, before a window is returned; for scripts and tests."
    )
    model: str | None = Field(
        None, pattern=MODEL_PATTERN, description="The model that writes digests. If not set, `model.name`."
    )
    summary_timeout_secs: float = Field(90.0, gt=0, description="Timeout of one model call.")
    retries: int = Field(1, ge=0, description="How often a call is repeated after a temporary error.")


class SpendSettings(_Section):
    """What models may cost, in US dollars. A call of unknown price counts as 0, and its record says so."""

    per_compaction_usd: float | None = Field(
        None, gt=0, description="The most that the calls of one compaction may cost."
    )
    per_day_usd: float | None = Field(None, gt=0, description="The most that all calls of one day (UTC) may cost.")


class PricesSettings(_Section):
    """Prices of input tokens, with which the dashboard shows in dollars what folding saves. They charge nothing."""

    input_usd: float | None = Field(
        None, ge=0, description="US dollars per million input tokens. If not set, the dashboard shows tokens only."
    )
    cached_usd: float | None = Field(
        None,
        ge=0,
        description="US dollars per million input tokens from the provider's cache. If not set, a tenth of `input_usd`.",
    )

    @property
    def known_cached_usd(self) -> float | None:
        """The price of cached tokens: the one that is set, or a tenth of the other.

        Source: the ratio of `everfold.core.observation.costs.UNIT_PRICES`.
        """
        if self.cached_usd is not None or self.input_usd is None:
            return self.cached_usd
        return self.input_usd * UNIT_PRICES.cached / UNIT_PRICES.input


class HookSettings(_Section):
    """How plug-ins are called."""

    timeout_secs: float = Field(10.0, gt=0, description="Timeout of one call of one plug-in.")
    strict: bool = Field(False, description="Fold nothing unless at least one plug-in succeeds in `on_pre_compress`.")


class SessionsSettings(_Section):
    """How sessions follow each other."""

    rotate_on_compaction: bool = Field(
        default=False, description="After a compaction, continue in a new session; hooks are told of the switch."
    )
    gap_secs: float = Field(
        300.0,
        ge=0,
        description="Run a dream once the user has been away for this long; 0 turns it off. `compaction.gap_secs` is for the "
        "compaction and the refresh when the user returns.",
    )
    poll_secs: float = Field(30.0, gt=0, description="How often to look for users who have been away.")


class MemorySettings(_Section):
    """Long-term memory, for agents that opt in."""

    system: MemorySystem = Field(
        _MEMORY.system,
        description="Digests only (`summarization`), or also items with evidence, dreams, snapshot and delta (`structured`).",
    )
    delta_max_chars: int = Field(
        _MEMORY.delta_max_chars,
        ge=1,
        description="The most characters of the delta: what memory gained since its snapshot.",
    )
    user_char_limit: int = Field(
        _MEMORY.user_char_limit, ge=1, description="The most characters of the snapshot about the person."
    )
    agent_char_limit: int = Field(
        _MEMORY.agent_char_limit, ge=1, description="The most characters of the snapshot of the agent's own notes."
    )
    extract_ratio: float = Field(
        _MEMORY.extract_ratio,
        gt=0,
        le=1,
        description="An extraction is due when the new messages reach this share of the context limit.",
    )
    extract_tool_calls: int = Field(
        _MEMORY.extract_tool_calls, ge=1, description="An extraction is also due after this many tool calls."
    )
    review: bool = Field(_MEMORY.review, description="Dreams change nothing until a person approves them.")


class RecallSettings(_Section):
    """Recall for each user message: from the session's folded messages and, if it is on, from structured memory."""

    enabled: bool = Field(
        _MEMORY.recall_enabled,
        description="Recall for the newest user message, at the end of each request, once something is folded.",
    )
    entries: int = Field(_MEMORY.recall_entries, ge=1, description="The most results of one recall.")


_TOOL_PATTERN = r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"
"""A Python function by its import path."""


class McpSettings(_Section):
    """A tool server, in an `[agents.NAME.mcp.SERVER]` or `[hands.NAME.mcp.SERVER]`: a program or a URL."""

    command: tuple[str, ...] = Field(default=(), description="A program that speaks MCP over stdio, and its arguments.")
    env: Mapping[str, str] = Field(
        default_factory=dict[str, str],
        description="Its environment variables, each with the name of the variable that holds the value.",
    )
    url: Url | None = Field(None, description="A server that speaks MCP over streamable HTTP.")
    headers: Mapping[str, str] = Field(
        default_factory=dict[str, str],
        description="Headers sent to it, each with the name of the variable that holds the value.",
    )
    allow: tuple[str, ...] | None = Field(None, description="The tools that may be used. If not set, all.")
    allow_private: bool = Field(
        default=False, description="Let a name in `url` lead into a private network, such as to 10.0.0.5."
    )

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server has either a command or a url")
        return self


class AgentSettings(_Section):
    """One agent, in its own `[agents.NAME]`. What is not set comes from `[model]`, `[memory]` and so on."""

    model: str | None = Field(None, pattern=MODEL_PATTERN, description="Instead of `model.name`.")
    context_limit: int | None = Field(None, gt=0, description="Instead of `model.context_limit`.")
    instructions: str = Field("", description="The system prompt.")
    tools: tuple[Annotated[str, Field(pattern=_TOOL_PATTERN)], ...] = Field(
        default=(), description="The Python functions that it may call, each `package.module:function`."
    )
    mcp: Mapping[str, McpSettings] = Field(default_factory=dict[str, McpSettings], description="Tool servers, by name.")
    compaction: Mapping[str, object] = Field(
        default_factory=dict[str, object], description="Settings of `[compaction]` that differ for its sessions."
    )
    memory_system: MemorySystem | None = Field(None, description="Instead of `memory.system`.")
    recall_enabled: bool | None = Field(None, description="Instead of `recall.enabled`.")
    memory_review: bool | None = Field(None, description="Instead of `memory.review`.")


class HandSettings(_Section):
    """A short-lived agent that answers one question in isolation, in its own `[hands.NAME]`."""

    model: str | None = Field(None, pattern=MODEL_PATTERN, description="Instead of `model.name`.")
    instructions: str = Field("", description="The system prompt.")
    tools: tuple[Annotated[str, Field(pattern=_TOOL_PATTERN)], ...] = Field(
        default=(), description="The read-only Python functions that it may call, each `package.module:function`."
    )
    mcp: Mapping[str, McpSettings] = Field(
        default_factory=dict[str, McpSettings],
        description="Tool servers, by name; each lists the tools that are allowed.",
    )
    max_output_tokens: int = Field(512, gt=0, description="The most tokens of an answer; a caller may ask for less.")
    timeout_secs: float = Field(30.0, gt=0, description="Timeout of an answer; a caller may ask for less.")


class UserSettings(_Section):
    """Users that are created when the store is opened, each in its own `[[users]]`. One is the default user."""

    name: str = Field(min_length=1, description="The display name. Commands and `user=` accept it as the user.")
    bindings: tuple[str, ...] = Field(
        default=(), description="The user's ids in other systems, each `CHANNEL:ID`, such as `telegram:12345`."
    )
    is_default: bool = Field(
        default=False, description="Make this the default user. If no user is marked, it is the first one."
    )


class EmbedSettings(_Section):
    """The model that makes vectors for recall. Without one, recall searches by words alone."""

    model: str | None = Field(
        None,
        pattern=r"^[a-z-]+:\S+$",
        description="An embedder: `openai:NAME`, `ollama:NAME`, `sentence-transformers:NAME` and others, or `hash:384`, "
        "which needs no model and compares words by their letters.",
    )
    base_url: Url | None = Field(None, description="The server's URL, if not the provider's own.")
    api_key_env: str | None = Field(
        None,
        pattern=_VARIABLE_PATTERN,
        description="The variable that holds the API key. If not set, the provider's usual one.",
    )
    dimensions: int | None = Field(None, gt=0, description="The size of a vector, if the model offers several.")


class ServerSettings(_Section):
    """The server's address and its limits for each caller."""

    host: str = Field(
        "127.0.0.1", description="The address to listen on. The default accepts connections from this machine only."
    )
    port: int = Field(8420, ge=0, le=65_535, description="The port; 0 picks a free one and prints it.")
    public_url: Url | None = Field(
        None,
        description="The public URL, if a proxy is in front. With https, the cookie is sent over https only.",
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Further names that are accepted in `Host`, without a port; `*` for any. Loopback, `host` and the host "
        "of `public_url` are always accepted.",
    )
    body_limit_bytes: int = Field(10_000_000, ge=1, description="The largest request body.")
    import_limit_bytes: int = Field(200_000_000, ge=1, description="The largest file that `POST /api/imports` takes.")
    messages_per_request: int = Field(1_000, ge=1, description="The most messages that one request may append.")
    requests_per_minute: int = Field(
        6_000, ge=0, description="The most requests of one API key in a minute; 0 for no limit."
    )
    header_secs: float = Field(10.0, gt=0, description="How long a client may take to send the headers of a request.")
    body_secs: float = Field(60.0, gt=0, description="How long a client may take to send the body of a request.")
    send_secs: float = Field(60.0, gt=0, description="How long a client may leave its response unread.")
    max_connections: int = Field(
        800,
        ge=1,
        description="The most connections. If there are more, the one that has been idle longest is closed.",
    )
    streams_per_api_key: int = Field(
        100, ge=1, description="The most event streams that one API key has open at a time."
    )
    failed_api_keys_per_minute: int = Field(
        30, ge=0, description="The most invalid API keys from one IP address in a minute; 0 for no limit."
    )
    drain_secs: float = Field(5.0, ge=0, description="How long a stop waits for running requests and work.")


class GatewaySettings(_Section):
    """The gateway: a proxy for the APIs of providers that stores and folds conversations."""

    enabled: bool = Field(
        default=False, description="Whether `everfold serve` is also a gateway; `everfold gateway` always is."
    )
    upstream: Url | None = Field(
        None,
        description="The provider's URL, without `/v1`. If not set, `/v1/messages` goes to Anthropic, the rest to OpenAI.",
    )
    api_key_env: str | None = Field(
        None,
        pattern=_VARIABLE_PATTERN,
        description="The variable that holds the provider's API key, for clients that send one of Everfold's.",
    )
    user: str | None = Field(
        None,
        min_length=1,
        description="The user of all conversations. If not set, each provider key has its own user, identified by a hash.",
    )
    agent: str = Field("gateway", min_length=1, description="The agent that conversations are stored under.")
    context_limit: int | None = Field(None, gt=0, description="Instead of `model.context_limit`.")
    recall: bool = Field(
        default=False, description="Recall in forwarded requests. `recall.enabled` has no effect on them."
    )
    history_tools: bool = Field(
        default=False,
        description="Offer `history_search` and `history_read` to the model in each request, and answer its calls to them.",
    )
    on_failure: Literal["pass", "refuse"] = Field(
        "pass",
        description="What happens, if Everfold fails, to a request that contains its whole history: `pass` forwards it "
        "unfolded, `refuse` answers 503.",
    )
    timeout_secs: float = Field(600.0, gt=0, description="How long the provider may send nothing.")


class SourceSettings(BaseModel):
    """A context source that a refresh may ask, in its own `[sources.NAME]`. Further settings depend on the kind."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Literal["calendar", "mailbox", "http", "callable"] = Field(description="The kind of source.")


class WorkersSettings(_Section):
    """Background work in `everfold worker` processes."""

    enabled: bool = Field(
        default=False,
        description="Leave background work to workers. Otherwise, the process of a turn does it. Needs PostgreSQL.",
    )
    concurrency: int = Field(8, ge=1, description="How many jobs a worker runs at once.")
    heartbeat_secs: float = Field(
        10.0,
        gt=0,
        description="How often a worker reports that it is alive. After three missed reports, its jobs are run again.",
    )
    drain_secs: float = Field(30.0, ge=0, description="How long running jobs may take once a worker is told to stop.")


class RecoverySettings(_Section):
    """How unfinished and failed compactions are retried."""

    grace_secs: float = Field(600.0, ge=0, description="How long a failed compaction waits before it is retried.")
    lookback_secs: float = Field(
        604_800.0, ge=0, description="Older compactions are not retried automatically; 0 turns automatic retries off."
    )
    attempts: int = Field(
        3, ge=1, description="How often a compaction is tried before its extractive digest becomes final."
    )
    every_secs: float = Field(120.0, gt=0, description="How often recovery runs.")
