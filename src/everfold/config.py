"""Settings: from `everfold.toml`, the environment and arguments, in rising order; unknown keys are refused.

An environment variable names a key with `EVERFOLD_` in front and two underscores between its parts:
`EVERFOLD_COMPACTION__TRIGGER_RATIO=0.85`.
"""

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from everfold.core.access.users import UserEntry, parse_binding, plan_users
from everfold.core.log.budget import Policy, choose_trigger_ratio
from everfold.core.log.sessions import SessionSettings
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.threats.hiding import hide_in_addresses, hide_secrets
from everfold.errors import InvalidInputError
from everfold.sections import (
    NOT_POLICY,
    AgentSettings,
    CompactionSettings,
    EmbedSettings,
    GatewaySettings,
    HandSettings,
    HookSettings,
    MemorySettings,
    ModelSettings,
    PricesSettings,
    RecallSettings,
    RecoverySettings,
    ServerSettings,
    SessionsSettings,
    SourceSettings,
    SpendSettings,
    StoreSettings,
    UserSettings,
    WorkersSettings,
)

CONFIG_FILE = "everfold.toml"
ENV_PREFIX = "EVERFOLD_"
NESTED_DELIMITER = "__"
_NEAR_RATIO = 0.85
"""So alike a variable and a key must be for the one to be taken for the other, misspelt."""

_LISTED = "docs/reference/settings.md lists every key"

RENAMED = {
    "agents.memory_inject": "agents.recall_enabled",
    "compaction.force_ratio": "compaction.hard_limit_ratio",
    "compaction.pinned_ratio": "compaction.standing_ratio",
    "compaction.volatile_ratio": "compaction.suffix_ratio",
    "memory.inject": "recall.enabled",
    "memory.recall_max": "recall.entries",
    "server.failed_keys_per_minute": "server.failed_api_keys_per_minute",
    "server.streams_per_key": "server.streams_per_api_key",
    "spend.per_event_usd": "spend.per_compaction_usd",
    "sweep": "recovery",
    "sweep.attempts": "recovery.attempts",
    "sweep.every_secs": "recovery.every_secs",
    "sweep.grace_secs": "recovery.grace_secs",
    "sweep.lookback_secs": "recovery.lookback_secs",
}
"""Settings that have another name since: the old one is refused, and the error names the new one."""

_NOT_SHOWN = frozenset({"model.base_url", "model.api_key_env", "embed.base_url", "embed.api_key_env"})
"""Keys into which a person may paste a secret by mistake: what was given is not repeated."""


class Settings(BaseSettings):
    """Every setting of Everfold."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter=NESTED_DELIMITER, extra="forbid", frozen=True, toml_file=CONFIG_FILE
    )

    store: StoreSettings = StoreSettings.model_validate({})
    model: ModelSettings = ModelSettings.model_validate({})
    compaction: CompactionSettings = CompactionSettings.model_validate({})
    sessions: SessionsSettings = SessionsSettings.model_validate({})
    recovery: RecoverySettings = RecoverySettings.model_validate({})
    workers: WorkersSettings = WorkersSettings.model_validate({})
    spend: SpendSettings = SpendSettings.model_validate({})
    prices: PricesSettings = PricesSettings.model_validate({})
    hooks: HookSettings = HookSettings.model_validate({})
    memory: MemorySettings = MemorySettings.model_validate({})
    recall: RecallSettings = RecallSettings.model_validate({})
    embed: EmbedSettings = EmbedSettings.model_validate({})
    users: tuple[UserSettings, ...] = ()
    agents: Mapping[str, AgentSettings] = Field(default_factory=dict[str, AgentSettings])
    hands: Mapping[str, HandSettings] = Field(default_factory=dict[str, HandSettings])
    server: ServerSettings = ServerSettings.model_validate({})
    gateway: GatewaySettings = GatewaySettings.model_validate({})
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
        values = compaction.model_dump(exclude=set(NOT_POLICY))
        values["message_cap_tokens"] = values.pop("message_cap")
        if "suffix_ratio" not in compaction.model_fields_set and not self.memory_policy(agent or "").has_suffix:
            values["suffix_ratio"] = 0.0
        awaits_model = bool(compaction.model or self.model.name)
        if compaction.trigger_ratio is None:
            values["trigger_ratio"] = choose_trigger_ratio(compaction.hard_limit_ratio, awaits_model=awaits_model)
        policy = Policy(answer_tokens=self.model.answer_tokens, awaits_model=awaits_model, **values)
        limit_tokens = self.gateway.context_limit if agent in self.gateway_agents else None
        limit_tokens = (own and own.context_limit) or limit_tokens or self.model.context_limit
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
                hint = f"did you mean {near[0]!r}?" if near else "describe it in a [sources.NAME]"
                raise InvalidInputError(f"compaction.context_sources names the source {entry.source!r}; {hint}")
        for name in entries:
            if entries.count(name) > 1:
                raise InvalidInputError(f"compaction.context_sources names {name!r} twice; join its entries")

    @property
    def has_memory(self) -> bool:
        """Whether any agent has opted in to structured memory."""
        return "structured" in {self.memory.system, *(entry.memory_system for entry in self.agents.values())}

    @property
    def gateway_agents(self) -> tuple[str, str]:
        """The agents of the gateway: of users who are known, and of those of whom only a key is."""
        return self.gateway.agent, f"{self.gateway.agent}-anonymous"

    def memory_policy(self, agent: str) -> MemoryPolicy:
        """How memory is kept for an agent."""
        recall = self.recall
        is_recalling = self.gateway.recall if agent in self.gateway_agents else recall.enabled
        policy = MemoryPolicy(**self.memory.model_dump(), recall_enabled=is_recalling, recall_entries=recall.entries)
        if agent == self.gateway_agents[1]:  # nothing is recalled across sessions
            policy = replace(policy, system="summarization")
        own = self.agents.get(agent)
        if own is None:
            return policy
        return replace(
            policy,
            system=own.memory_system or policy.system,
            recall_enabled=policy.recall_enabled if own.recall_enabled is None else own.recall_enabled,
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
    known = set(CompactionSettings.model_fields) - NOT_POLICY
    for key in own:
        if key not in known:
            renamed = RENAMED.get(f"compaction.{key}", "").removeprefix("compaction.")
            near = [renamed] if renamed else difflib.get_close_matches(key, sorted(known), n=1)
            hint = f"did you mean {near[0]!r}?" if near else "an agent may set the keys of [compaction]"
            raise InvalidInputError(f"the setting 'agents.{agent}.compaction.{key}' is unknown; {hint}")
    try:
        return CompactionSettings.model_validate({**compaction.model_dump(exclude_unset=True), **own})
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
    if path is not None and not os.path.isfile(path):  # noqa: PTH113 - a path that cannot be one is no file
        raise InvalidInputError(f"there is no settings file {path}; expected a TOML file", path=str(path))

    _refuse_unknown_variables()
    try:
        settings = _locate(path or CONFIG_FILE)(**cast("dict[str, StoreSettings]", dict(overrides or {})))  # type: ignore[arg-type]
    except ValidationError as error:
        raise InvalidInputError(_explain(error), path=str(path or CONFIG_FILE)) from error
    except SettingsError as error:
        raise InvalidInputError(
            f"an environment variable does not contain the JSON of a section: {error}; set {ENV_PREFIX}SECTION__KEY"
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


@lru_cache(maxsize=8)
def _locate(path: Path | str) -> type[Settings]:
    """The settings as they are read from a file; making the class takes longer than reading them."""

    class Located(Settings):
        model_config = SettingsConfigDict(toml_file=path)

    return Located


def _refuse_unknown_variables() -> None:
    """Refuse a variable that was meant for a key and names none. One that only shares the prefix is left alone."""
    by_name = {f"{ENV_PREFIX}{key.upper().replace('.', NESTED_DELIMITER)}": key for key in list_settings()}
    sections = tuple(f"{ENV_PREFIX}{section.upper()}" for section in Settings.model_fields)
    renamed = {f"{ENV_PREFIX}{old.upper().replace('.', NESTED_DELIMITER)}": new for old, new in RENAMED.items()}
    for given in os.environ:
        name = given.upper()
        if new := renamed.get(name):
            raise InvalidInputError(
                f"the variable {given} is now called {ENV_PREFIX}{new.upper().replace('.', NESTED_DELIMITER)}"
            )
        is_section = name in sections or name.startswith(tuple(f"{section}{NESTED_DELIMITER}" for section in sections))
        if not name.startswith(ENV_PREFIX) or is_section:
            continue  # a key of a known section is checked with the section
        near = difflib.get_close_matches(name, list(by_name), n=1, cutoff=_NEAR_RATIO)
        if near or NESTED_DELIMITER in name:
            hint = f"did you mean {near[0]} ({by_name[near[0]]})?" if near else _LISTED
            raise InvalidInputError(f"the variable {given} is unknown; {hint}")


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"] if not isinstance(part, int))
        if problem["type"] == "extra_forbidden" and (new := _find_new_name(problem["loc"])):
            lines.append(f"the setting {key!r} is now called {new!r}")
        elif problem["type"] == "extra_forbidden":
            near = difflib.get_close_matches(key, [*Settings.model_fields, *list_settings()], n=1)
            hint = f"did you mean {_name_entry(problem['loc'], near[0])!r}?" if near else _LISTED
            lines.append(f"the setting {key!r} is unknown; {hint}")
        else:
            got = "something else" if key in _NOT_SHOWN else hide_in_addresses(repr(problem["input"]))
            lines.append(f"the setting {key!r} does not fit: {problem['msg']}, got {got}")
    return "\n".join(lines)


def _find_new_name(place: Sequence[int | str]) -> str | None:
    """The name that a setting has now, where it once had the one that was given; `place` leads to it."""
    section, *names = [part for part in place if not isinstance(part, int)]
    old = ".".join([str(section), *(str(name) for name in names[-1:])])
    new = RENAMED.get(old)
    return None if new is None else _name_entry(place, new)


def _name_entry(place: Sequence[int | str], key: str) -> str:
    """A key as it is typed where `place` leads: with the name of its agent, hand or source."""
    section, _, name = key.partition(".")
    has_names = get_origin(Settings.model_fields[section].annotation) is Mapping
    return f"{section}.{place[1]}.{name}" if has_names and section == place[0] and len(place) > 1 else key


def list_settings() -> Iterator[str]:
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
    """Every key with its effective value and where it came from; of a list, the values of all its entries.

    Secrets are hidden: users, passwords and parameters in addresses, and what looks like an API key.
    """
    from pydantic_settings import EnvSettingsSource

    located = _locate(path or CONFIG_FILE)
    file_values = TomlConfigSettingsSource(located)()
    env_values = EnvSettingsSource(located)()
    places: list[tuple[Place, Mapping[str, object]]] = [
        ("argument", overrides or {}),
        ("environment", env_values),
        ("file", file_values),
    ]
    rows: list[tuple[str, object, Place]] = []
    for key in list_settings():
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
        rows.append((key, _hide(value, name), found))
    return rows


def _hide(value: object, name: str) -> object:
    """A value as it may be shown; what has keys of its own becomes a dict."""
    if isinstance(value, BaseModel):
        return hide_secrets(value.model_dump())
    if isinstance(value, Mapping):
        return {key: _hide(one, str(key)) for key, one in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(one, BaseModel | Mapping) for one in value):
        return [_hide(one, name) for one in value]
    return hide_secrets(value, name)
