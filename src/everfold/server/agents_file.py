"""The agents of the settings file, changed in place: what a person wrote there stays, comments too."""

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import tomlkit
from tomlkit.exceptions import ConvertError, TOMLKitError
from tomlkit.items import Table

from everfold.config import CONFIG_FILE, Overrides, Settings, load_settings
from everfold.core.log.budget import require_budget, share_budget
from everfold.core.log.calibration import Calibration
from everfold.core.log.prompts import Prompt
from everfold.core.recall.snapshots import reserve_snapshot
from everfold.errors import BudgetUnsatisfiableError, InvalidInputError
from everfold.ports.writing import note_commit
from everfold.server.problems import FieldProblem, FieldsError

_KEY: Final = re.compile(r"agents\.(?:\"[^\"]*\"|[^.'\s]+)\.([\w.]+)")


def change_agent(path: Path | None, agent: str, changes: Mapping[str, object], overrides: Overrides | None) -> Settings:
    """Write what an agent is to be otherwise into the settings file, and give the settings that result.

    The new file takes the old one's place in one step, once it was read as settings; else nothing is changed.

    Args:
        path: The settings file; `everfold.toml` in the working folder when None. It is made where there is none.
        agent: The agent; its section is made where there is none.
        changes: Keys of `[agents.NAME]` with their new values; None takes a key out.
        overrides: What outranks the file.

    Raises:
        FieldsError: a value does not fit; says in which field.
        InvalidInputError: the file cannot be read, or is no TOML.
    """
    place = (path or Path(CONFIG_FILE)).resolve()
    text = _read_text(place)
    for field, value in changes.items():
        _require_toml(field, value)
    new = _edit(text, agent, changes, place)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=".new")
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        settings = _read(draft, overrides, list(changes))
        _require_budget(settings, agent)
        if place.is_file():
            shutil.copymode(place, draft)
        note_commit()
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
    return settings


def read_changed(
    path: Path | None,
    changes: Mapping[str, Mapping[str, object]],
    overrides: Overrides | None,
    *,
    changed: tuple[str, Mapping[str, object]] | None = None,
) -> Settings:
    """The settings of a file, with what agents are to be otherwise. Nothing is written.

    Args:
        path: The settings file, as in `change_agent`; it may be missing.
        changes: What agents are to be otherwise.
        overrides: What outranks both.
        changed: An agent, and what of it is new among the changes: it is checked, and what does not fit is laid to it.

    Raises:
        FieldsError: a value does not fit; says in which field.
        InvalidInputError: the file cannot be read, or is no TOML.
    """
    place = (path or Path(CONFIG_FILE)).resolve()
    text = _read_text(place)
    agent, new = changed or ("", {})
    for field, value in new.items():
        _require_toml(field, value)
    for name, values in changes.items():
        text = _edit(text, name, values, place)
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / place.name
        draft.write_text(text, "utf-8")
        settings = _read(draft, overrides, list(new))
    if agent:
        _require_budget(settings, agent)
    return settings


def _read_text(place: Path) -> str:
    """The text of a settings file; empty where there is none."""
    try:
        return place.read_text("utf-8") if place.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{place.name} cannot be read: {error}; have it readable and in UTF-8", path=place.name
        ) from error


def _require_toml(field: str, value: object) -> None:
    """Refuse what a TOML file cannot hold: null within a list or a table of a table, and half a character."""
    try:
        tomlkit.dumps({field: _drop_empty(value)}).encode("utf-8")
    except (ConvertError, UnicodeEncodeError) as error:
        message = f"a TOML file cannot hold this: {error}".encode("utf-8", "backslashreplace").decode("utf-8")
        raise FieldsError(message, [FieldProblem(field=f"body.{field}", message=message)]) from error


def _drop_empty(value: object) -> object:
    """A value without the keys that are taken out."""
    if isinstance(value, Mapping):
        return {key: one for key, one in value.items() if one is not None}
    return "" if value is None else value


def _edit(text: str, agent: str, changes: Mapping[str, object], place: Path) -> str:
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise InvalidInputError(
            f"{place.name} cannot be read as TOML: {error}; correct it by hand", path=place.name
        ) from error
    agents = document.setdefault("agents", tomlkit.table(is_super_table=True))
    section = agents.setdefault(agent, tomlkit.table())
    if not isinstance(section, Table):
        raise InvalidInputError(f"{place.name}: agents.{agent} is not a section; write it as [agents.{agent}]")
    for key, value in changes.items():
        if value is None:
            section.pop(key, None)
        elif isinstance(value, Mapping):
            _fill(section, key, value)
        else:
            section[key] = value
    return tomlkit.dumps(document)


def _fill(section: Table, key: str, values: Mapping[str, object]) -> None:
    """Have a section under a section hold just these values; what stays keeps its place and its comment."""
    inner = section.setdefault(key, tomlkit.table())
    for name in [name for name in inner if name not in values]:
        inner.pop(name)
    for name, value in values.items():
        if inner.get(name) != value:
            inner[name] = value
    if not values:
        section.pop(key)


def _require_budget(settings: Settings, agent: str) -> None:
    """Refuse a limit in which the agent's instructions and memory leave no room for a conversation.

    Raises:
        FieldsError: names the smallest limit that works.
    """
    own, session = settings.agents[agent], settings.session_settings(agent)
    policy = replace(session.policy, snapshot_tokens=reserve_snapshot(settings.memory_policy(agent)))
    session = replace(session, policy=policy, prompt=Prompt(system=own.instructions))
    budget = share_budget(session.limit_tokens, policy, prompt_tokens=session.prompt_tokens, calibration=Calibration())
    try:
        require_budget(budget, policy, calibration=Calibration(), whose=f"a session of agent {agent}")
    except BudgetUnsatisfiableError as error:
        raise FieldsError(str(error), [FieldProblem(field="body.context_limit", message=str(error))]) from error


def _read(draft: Path, overrides: Overrides | None, changed: Sequence[str]) -> Settings:
    """The settings of a file; what does not fit is laid to the fields that it names, else to all that were changed."""
    try:
        return load_settings(draft, overrides)
    except InvalidInputError as error:
        found = _KEY.findall(str(error)) or list(changed)
        problems = [FieldProblem(field=f"body.{field}", message=str(error)) for field in dict.fromkeys(found)]
        raise FieldsError(str(error), problems) from error
