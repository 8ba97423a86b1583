"""Settings: from `everfold.toml`, the environment and arguments, in rising order; unknown keys are refused.

An environment variable names a key with `EVERFOLD_` in front and two underscores between its parts:
`EVERFOLD_COMPACTION__TRIGGER_RATIO=0.85`.
"""

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from everfold.core.memory_policy import MemoryPolicy, MemorySystem
from everfold.core.room import DEFAULT_LIMIT_TOKENS, Policy
from everfold.core.sessions import SessionSettings
from everfold.core.users import UserEntry, parse_binding, plan_users
from everfold.errors import InvalidInputError

CONFIG_FILE = "everfold.toml"
ENV_PREFIX = "EVERFOLD_"
NESTED_DELIMITER = "__"
_NEAR_RATIO = 0.85
"""So alike a variable and a key must be for the one to be taken for the other, misspelt."""

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
_NOT_SHOWN = frozenset({"model.base_url", "model.api_key_env", "embed.base_url", "embed.api_key_env"})
"""Keys into which a person may paste a secret by mistake: what was given is not repeated."""


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


_NOT_POLICY = frozenset(
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


class Settings(BaseSettings):
    """Every setting of Everfold."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter=NESTED_DELIMITER, extra="forbid", frozen=True, toml_file=CONFIG_FILE
    )

    store: StoreSettings = StoreSettings.model_validate({})
    model: ModelSettings = ModelSettings.model_validate({})
    compaction: CompactionSettings = CompactionSettings.model_validate({})
    sessions: SessionsSettings = SessionsSettings.model_validate({})
    sweep: SweepSettings = SweepSettings.model_validate({})
    spend: SpendSettings = SpendSettings.model_validate({})
    hooks: HookSettings = HookSettings.model_validate({})
    memory: MemorySettings = MemorySettings.model_validate({})
    embed: EmbedSettings = EmbedSettings.model_validate({})
    users: tuple[UserSettings, ...] = ()
    agents: Mapping[str, AgentSettings] = Field(default_factory=dict[str, AgentSettings])
    hands: Mapping[str, HandSettings] = Field(default_factory=dict[str, HandSettings])
    sources: Mapping[str, SourceSettings] = Field(default_factory=dict[str, SourceSettings])

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class gives it
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class gives it
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments over environment over file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    def session_settings(self, agent: str | None = None) -> SessionSettings:
        """What a new session holds; of an agent, with what is set for it.

        Raises:
            InvalidInputError: the settings contradict each other.
        """
        own = None if agent is None else self.agents.get(agent)
        compaction = self.compaction if own is None else _overlay(self.compaction, own.compaction, agent=str(agent))
        values = compaction.model_dump(exclude=set(_NOT_POLICY))
        values["message_cap_tokens"] = values.pop("message_cap")
        policy = Policy(answer_tokens=self.model.answer_tokens, **values)
        limit_tokens = self.model.context_limit if own is None else own.context_limit or self.model.context_limit
        return SessionSettings(limit_tokens=limit_tokens, policy=policy)

    def require_agents(self) -> None:
        """Refuse an agent whose settings contradict each other, or are no settings of a session.

        Raises:
            InvalidInputError: names the agent, and what does not fit.
        """
        for name in self.agents:
            self.session_settings(name)

    def require_sources(self) -> None:
        """Refuse an allowed source that there is none of or that stands twice, and a cap that no answer fits.

        Raises:
            InvalidInputError: names it, with the nearest known one.
        """
        cap, floor = self.compaction.context_token_cap, self.compaction.source_floor_tokens
        if 0 < cap < floor:
            raise InvalidInputError(
                f"compaction.context_token_cap is {cap} and compaction.source_floor_tokens {floor}: no answer would fit; "
                "raise the cap, or lower the floor"
            )
        entries = [entry.source or f"hand {entry.hand}" for entry in self.compaction.context_sources]
        for entry in self.compaction.context_sources:
            if entry.source is not None and entry.source not in self.sources:
                near = difflib.get_close_matches(entry.source, list(self.sources), n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"describe it in [sources.{entry.source}]"
                raise InvalidInputError(f"compaction.context_sources names the source {entry.source!r}; {hint}")
        for name in entries:
            if entries.count(name) > 1:
                raise InvalidInputError(f"compaction.context_sources names {name!r} twice; join its entries")

    @property
    def has_memory(self) -> bool:
        """Whether any agent has opted in to structured memory."""
        return "structured" in {self.memory.system, *(entry.memory_system for entry in self.agents.values())}

    def memory_policy(self, agent: str) -> MemoryPolicy:
        """How memory is kept for an agent."""
        policy = MemoryPolicy(**self.memory.model_dump())
        own = self.agents.get(agent)
        if own is None:
            return policy
        return replace(
            policy,
            system=own.memory_system or policy.system,
            inject=policy.inject if own.memory_inject is None else own.memory_inject,
            review=policy.review if own.memory_review is None else own.memory_review,
        )

    def user_entries(self) -> tuple[UserEntry, ...]:
        """The users, one of them the default one; none for none.

        Raises:
            InvalidInputError: a name or a binding has no form that is known, or two users claim the same.
        """
        return plan_users(
            [
                UserEntry(
                    name=user.name,
                    bindings=tuple(parse_binding(binding) for binding in user.bindings),
                    is_default=user.is_default,
                )
                for user in self.users
            ]
        )


def _overlay(compaction: CompactionSettings, own: Mapping[str, object], *, agent: str) -> CompactionSettings:
    """The settings of compaction with those that an agent has otherwise."""
    known = set(CompactionSettings.model_fields) - _NOT_POLICY
    for key in own:
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"an agent may set: {', '.join(sorted(known))}"
            raise InvalidInputError(f"the setting 'agents.{agent}.compaction.{key}' is unknown; {hint}")
    try:
        return CompactionSettings.model_validate({**compaction.model_dump(), **own})
    except ValidationError as error:
        raise InvalidInputError(f"agent {agent!r}: {_explain(error)}") from error


Overrides: TypeAlias = Mapping[str, Mapping[str, object] | Sequence[Mapping[str, object]]]
"""Arguments by section and key; `users` as a list; `agents`, `hands` and `sources` by name and key."""


def load_settings(path: Path | None = None, overrides: Overrides | None = None) -> Settings:
    """The effective settings.

    Args:
        path: The settings file; `everfold.toml` in the working folder when left out, which may be missing.
        overrides: Arguments; they outrank everything.

    Raises:
        InvalidInputError: a key is unknown (the nearest known one is named), a value does not fit, the file is missing
            or no TOML, or the settings contradict each other.
    """
    if path is not None and not path.is_file():
        raise InvalidInputError(f"there is no settings file {path}; expected a TOML file", path=str(path))

    _refuse_unknown_variables()

    class Located(Settings):
        model_config = SettingsConfigDict(toml_file=path or CONFIG_FILE)

    try:
        settings = Located(**cast("dict[str, StoreSettings]", dict(overrides or {})))  # type: ignore[arg-type]
    except ValidationError as error:
        raise InvalidInputError(_explain(error), path=str(path or CONFIG_FILE)) from error
    except SettingsError as error:
        raise InvalidInputError(
            f"a variable of the environment does not hold the JSON of a section: {error}; set {ENV_PREFIX}SECTION__KEY"
        ) from error
    except ValueError as error:
        raise InvalidInputError(
            f"{path or CONFIG_FILE} cannot be read as TOML: {error}", path=str(path or "")
        ) from error
    settings.session_settings()
    settings.user_entries()
    settings.require_agents()
    settings.require_sources()
    return settings


def _refuse_unknown_variables() -> None:
    """Refuse a variable that was meant for a key and names none. One that only shares the prefix is left alone."""
    by_name = {f"{ENV_PREFIX}{key.upper().replace('.', NESTED_DELIMITER)}": key for key in list_keys()}
    sections = tuple(f"{ENV_PREFIX}{section.upper()}" for section in Settings.model_fields)
    for given in os.environ:
        name = given.upper()
        is_section = name in sections or name.startswith(tuple(f"{section}{NESTED_DELIMITER}" for section in sections))
        if not name.startswith(ENV_PREFIX) or is_section:
            continue  # a key of a known section is checked with the section
        near = difflib.get_close_matches(name, list(by_name), n=1, cutoff=_NEAR_RATIO)
        if near or NESTED_DELIMITER in name:
            hint = f"did you mean {near[0]} ({by_name[near[0]]})?" if near else f"known keys: {', '.join(list_keys())}"
            raise InvalidInputError(f"the variable {given} is unknown; {hint}")


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"] if not isinstance(part, int))
        if problem["type"] == "extra_forbidden":
            near = difflib.get_close_matches(key, list(list_keys()), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known keys: {', '.join(list_keys())}"
            lines.append(f"the setting {key!r} is unknown{hint}")
        else:
            got = "something else" if key in _NOT_SHOWN else repr(problem["input"])
            lines.append(f"the setting {key!r} does not fit: {problem['msg']}, got {got}")
    return "\n".join(lines)


def list_keys() -> Iterator[str]:
    """Every key as `section.name`, in the order of the documentation."""
    for section, field in Settings.model_fields.items():
        yield from (f"{section}.{name}" for name in read_section(field.annotation).model_fields)


def read_section(annotation: object) -> type[BaseModel]:
    """The keys of a section; of one entry, where the section has many."""
    args = [one for one in get_args(annotation) if isinstance(one, type) and issubclass(one, BaseModel)]
    return cast("type[BaseModel]", args[0] if args else annotation)


Place = Literal["argument", "environment", "file", "default"]


def explain_settings(
    settings: Settings, *, path: Path | None = None, overrides: Overrides | None = None
) -> list[tuple[str, object, Place]]:
    """Every key with its effective value and where it came from; of a list, the values of all its entries."""

    class Located(Settings):
        model_config = SettingsConfigDict(toml_file=path or CONFIG_FILE)

    file_values = TomlConfigSettingsSource(Located)()
    from pydantic_settings import EnvSettingsSource

    env_values = EnvSettingsSource(Located)()
    places: list[tuple[Place, Mapping[str, object]]] = [
        ("argument", overrides or {}),
        ("environment", env_values),
        ("file", file_values),
    ]
    rows: list[tuple[str, object, Place]] = []
    for key in list_keys():
        section, name = key.split(".")
        held = getattr(settings, section)
        entries = held.values() if isinstance(held, Mapping) else held if isinstance(held, tuple) else None
        value = getattr(held, name) if entries is None else [getattr(entry, name) for entry in entries]
        found: Place = "default"
        for place, values in places:
            inner = values.get(section)
            is_given = isinstance(inner, Mapping) and (name in inner or (isinstance(held, Mapping) and bool(inner)))
            if is_given or isinstance(inner, list | tuple):
                found = place
                break
        rows.append((key, value, found))
    return rows
