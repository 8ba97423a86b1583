"""Possible values: what the numbers and names of a memory that was read from a document can be.

Their types are checked before. Here it is whether memory could have written them: a share is between 0 and 1, a count
is not below 0, a name is no path and stands on one line, an id has no slash, and a hash is one of SHA-256.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

from everfold.core.log.following import FollowedTranscript
from everfold.core.memory.files import MemoryFile
from everfold.core.memory.items import Evidence, Item
from everfold.core.memory.records import AuditEntry, Extraction
from everfold.core.memory.topics import Dream, Topic
from everfold.core.primitives.field_types import MOST_WHOLE, broken, require_text
from everfold.core.primitives.ids import MOST_ID_CHARS, is_agent_name

_COUNT: Final = (0, MOST_WHOLE)
_NUMBER: Final = (1, MOST_WHOLE)
_SHARE: Final = (0, 1)
_RANGES: Final[Mapping[type, Mapping[str, tuple[int, int]]]] = {
    Item: {"confidence": _SHARE, "revision": _NUMBER},
    Evidence: {"seq": _NUMBER, "start": _COUNT},
    Topic: {"revision": _NUMBER},
    Dream: {"epoch": _COUNT, "read_through": _COUNT, "cost_usd": _COUNT},
    Extraction: {"first_seq": _NUMBER, "last_seq": _NUMBER, "counts": _COUNT, "refused_count": _COUNT},
    AuditEntry: {"counts": _COUNT},
    FollowedTranscript: {"read_bytes": _COUNT},
}
"""The least and the most that each number can be. Source: the classes' own docstrings; messages are numbered from 1."""
_IDS: Final[Mapping[type, Sequence[str]]] = {
    Item: ("supersedes", "superseded_by"),
    Evidence: ("session_id",),
    Topic: ("id", "sources", "dream_id"),
    Dream: ("items",),
    Extraction: ("session_id", "compaction_id", "items"),
}
"""The fields that name something, each by one id, several or none."""
_ID: Final = re.compile(r"[A-Za-z0-9_:@-][A-Za-z0-9._:@-]{0,199}")
"""What an id of ours may be: no path, no control character. Source: `everfold.adapters.system.ids`, and room for others."""
ID_FORM: Final = "letters, digits and any of . _ : @ -, at most 200"
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_OWNED: Final = (Item, Topic, Dream, Extraction, AuditEntry, MemoryFile, FollowedTranscript)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SLASH: Final = re.compile(r"[/\\]")
_SHOWN_CHARS: Final = 40


def find_impossible(row: object) -> str:
    """What is wrong with the first number or name of a row that memory cannot have written; empty when nothing is."""
    problem = _check_row(row)
    if isinstance(row, Item):
        problem = problem or next(filter(None, map(_check_row, row.evidence)), "")
    return f"{problem}; correct it" if problem else ""


def _check_row(row: object) -> str:
    return _check_names(row) or _check_numbers(row) or _check_ids(row)


def is_id(text: str) -> bool:
    """Whether a text can be the id of something in a memory."""
    return _ID.fullmatch(text) is not None


def require_agent(value: object, at: str) -> None:
    """Refuse what cannot be an agent's name.

    Raises:
        InvalidInputError: it cannot; names the place.
    """
    problem = _check_agent(require_text(value, at))
    if problem:
        raise broken(at, f"{problem}; correct it")


def _check_names(row: object) -> str:
    if isinstance(row, _OWNED) and row.agent_id is not None and (problem := _check_agent(row.agent_id)):
        return problem
    return _check_topic(row) if isinstance(row, Topic) else ""


def _check_agent(agent_id: str) -> str:
    """What is wrong with the name of an agent."""
    if not is_agent_name(agent_id):
        shown = agent_id[:_SHOWN_CHARS]
        return f"agent_id is {shown!r}, expected a name without control characters and without the part '..'"
    return ""


def _check_topic(topic: Topic) -> str:
    """What is wrong with the name of a topic: it is a file's name where agents read it. An erased topic has none."""
    name = topic.name
    if not name and topic.status == "erased":
        return ""
    if not name.strip() or _is_unfit(name) or _SLASH.search(name) or name in (".", ".."):
        shown = name[:_SHOWN_CHARS]
        return f"name of {topic.id} is {shown!r}, expected a name without control characters and slashes"
    return ""


def _check_ids(row: object) -> str:
    """What is wrong with the first id that a row names, or with the hash of a quote."""
    for name in _IDS.get(type(row), ()):
        value = cast("str | tuple[str, ...] | None", getattr(row, name))
        for id_ in value if isinstance(value, tuple) else (value,):
            if id_ is not None and not is_id(id_):
                return f"{name} of {_describe(row)} is {id_[:_SHOWN_CHARS]!r}, expected {ID_FORM}"
    if isinstance(row, Evidence) and _HASH.fullmatch(row.content_hash) is None:
        shown = row.content_hash[:_SHOWN_CHARS]
        return f"content_hash of {_describe(row)} is {shown!r}, expected the 64 hex digits of a SHA-256"
    return ""


def _is_unfit(name: str) -> bool:
    return len(name) > MOST_ID_CHARS or _CONTROL.search(name) is not None


def _check_numbers(row: object) -> str:
    for name, (least, most) in _RANGES.get(type(row), {}).items():
        value = cast("float | tuple[float | tuple[str, int], ...] | None", getattr(row, name))
        for one in value if isinstance(value, tuple) else (value,):
            number = one[1] if isinstance(one, tuple) else one
            if number is not None and not least <= number <= most:  # of what is no number neither holds
                bound = f"from {least} to {most}" if most < MOST_WHOLE else f"{least} or more"
                return f"{name} of {_describe(row)} is {number}, expected {bound}"
    if isinstance(row, Extraction) and row.last_seq < row.first_seq:
        return f"last_seq of {row.id} is {row.last_seq}, expected first_seq, {row.first_seq}, or more"
    return ""


def _describe(row: object) -> str:
    if isinstance(row, Evidence):
        return f"the quote of {row.session_id[:_SHOWN_CHARS]}"
    if isinstance(row, AuditEntry):
        return f"the entry of {row.at:%Y-%m-%d %H:%M:%S}"
    return str(getattr(row, "id", ""))[:_SHOWN_CHARS] or "it"
