"""Changes of a client's own files, and their exact reverse.

What was added is kept with the connection. Taking it out again works on the file as it is then, so that what others changed
meanwhile stays. Where that would not give back the bytes that were there, as in a file with an unusual form, the file is kept
whole, and is put back if nothing else changed it.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from everfold.core.primitives.json_values import JsonValue
from everfold.errors import InvalidInputError
from everfold.integrations.coding_agents import json_edits, toml_edits
from everfold.integrations.coding_agents.connection import make_private, naming, write_whole

Form = Literal["json", "toml", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What is put into a file.

    Attributes:
        file: Which.
        form: How it is written; a `text` is a file of our own.
        path: The keys that lead to it.
        value: Elements for a list, the value of a member, or the text.
    """

    file: str
    form: Form
    path: tuple[str, ...]
    value: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What was done to a file.

    Attributes:
        was_there: The file was there before.
        made: The paths of containers that were made for the additions, the innermost last.
        after_hash: Of the file as the change left it.
        before: The whole file before, in Base64; None where the additions can be taken out exactly.
    """

    file: str
    form: Form
    additions: tuple[Addition, ...]
    was_there: bool
    made: tuple[tuple[str, ...], ...]
    after_hash: str
    before: str | None = None


def plan_changes(additions: Sequence[Addition]) -> list[tuple[Change, bytes]]:
    """What becomes of each file that gets additions. Nothing is written.

    Raises:
        InvalidInputError: a file cannot be read, is not of its form, or holds another value at the place of an addition.
    """
    files = dict.fromkeys((one.file, one.form) for one in additions)
    return [_plan(file, form, [one for one in additions if one.file == file]) for file, form in files]


def _plan(file: str, form: Form, additions: Sequence[Addition]) -> tuple[Change, bytes]:
    """What a file becomes, and how that is taken back."""
    before = _read(Path(file))
    try:
        text = before.decode("utf-8") if before else _EMPTY[form]
        made = _list_missing(text, form, additions)
        for one in additions:
            text = _EDITS[form].add(text, one)
    except (UnicodeDecodeError, InvalidInputError) as error:
        raise InvalidInputError(f"{file}: {error}") from error
    after = text.encode("utf-8")
    change = Change(
        file=file,
        form=form,
        additions=tuple(additions),
        was_there=before is not None,
        made=made,
        after_hash=hashlib.sha256(after).hexdigest(),
    )
    if _take_out(change, after) != before:
        change = replace(change, before=None if before is None else base64.b64encode(before).decode())
    return change, after


def revert_changes(changes: Sequence[Change]) -> list[str]:
    """Take out of each file what was put in, and give the files that were changed. What was not put in is passed over.

    Raises:
        InvalidInputError: a file cannot be read or written, or is no longer of its form.
    """
    changed: list[str] = []
    for change in changes:
        path = Path(change.file)
        found = _read(path)
        after = None if found is None else _revert(change, found)
        if found is None or after == found:
            continue
        if after is None:
            with naming(path, "removed"):
                path.unlink()
        else:
            write_whole(path, after)
        changed.append(change.file)
    return changed


def _revert(change: Change, found: bytes) -> bytes | None:
    """A file without what was put in; None where it goes."""
    if change.before is not None and hashlib.sha256(found).hexdigest() == change.after_hash:
        return base64.b64decode(change.before)
    return _take_out(change, found)


def _take_out(change: Change, found: bytes) -> bytes | None:
    """A file without the additions and the empty containers that were made for them; None where nothing else is in it."""
    try:
        text = found.decode("utf-8")
        for one in reversed(change.additions):
            text = _EDITS[change.form].remove(text, one)
        for path in reversed(change.made):
            text = _EDITS[change.form].remove_empty(text, path)
    except (UnicodeDecodeError, InvalidInputError) as error:
        raise InvalidInputError(f"{change.file}: {error}") from error
    is_bare = text.strip() == _EMPTY[change.form].strip()
    return None if is_bare and not change.was_there else text.encode("utf-8")


def _list_missing(text: str, form: Form, additions: Sequence[Addition]) -> tuple[tuple[str, ...], ...]:
    """The containers on the way to the additions that are not there yet, the outermost first."""
    has = _EDITS[form].has
    paths = {
        one.path[:depth]
        for one in additions
        for depth in range(1, len(one.path) + isinstance(one.value, list))
        if not has(text, one.path[:depth])
    }
    return tuple(sorted(paths, key=lambda path: (len(path), path)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edits:
    add: Callable[[str, Addition], str]
    remove: Callable[[str, Addition], str]
    remove_empty: Callable[[str, tuple[str, ...]], str]
    has: Callable[[str, tuple[str, ...]], bool]


def _add_text(text: str, one: Addition) -> str:
    if text.strip():
        raise InvalidInputError("a file that Everfold did not write already exists there; move it, and try again")
    return str(one.value)


_EMPTY: dict[Form, str] = {"json": "{}\n", "toml": "", "text": ""}
_EDITS: dict[Form, _Edits] = {
    "json": _Edits(
        add=lambda text, one: json_edits.add(text, one.path, one.value),
        remove=lambda text, one: json_edits.remove(text, one.path, one.value),
        remove_empty=json_edits.remove_empty,
        has=lambda text, path: json_edits.find_place(text, path) is not None,
    ),
    "toml": _Edits(
        add=lambda text, one: toml_edits.add(text, one.path, one.value),
        remove=lambda text, one: toml_edits.remove(text, one.path, one.value),
        remove_empty=toml_edits.remove_empty,
        has=toml_edits.has,
    ),
    "text": _Edits(
        add=_add_text,
        remove=lambda text, one: "" if text == one.value else text,
        remove_empty=lambda text, _: text,
        has=lambda _text, _path: True,
    ),
}


def _read(path: Path) -> bytes | None:
    with naming(path, "read"):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def write_changes(path: Path, changes: Sequence[Change]) -> None:
    """Keep what is done, for this user alone to read, before it is done.

    Raises:
        InvalidInputError: it cannot be written.
    """
    make_private(path.parent)
    write_whole(path, f"{json.dumps([asdict(change) for change in changes], indent=2)}\n".encode(), mode=0o600)


def read_changes(path: Path) -> list[Change]:
    """What `write_changes` kept; nothing where there is no such file.

    Raises:
        InvalidInputError: the file cannot be read, or is cut or changed.
    """
    content = _read(path)
    try:
        return [] if content is None else [_make_change(change) for change in json.loads(content)]
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInputError(
            f"{path} is no record of changes; delete it, and take what names everfold out of the client's settings",
            path=str(path),
        ) from error


def _make_change(kept: dict[str, Any]) -> Change:
    additions = tuple(Addition(**{**one, "path": tuple(one["path"])}) for one in kept["additions"])
    return Change(**{**kept, "additions": additions, "made": tuple(tuple(made) for made in kept["made"])})
