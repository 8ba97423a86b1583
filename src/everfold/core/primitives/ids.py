"""Ids, with a type for each kind, so that they are not confused."""

import re
from typing import Final, NewType

from everfold.errors import InvalidInputError

SessionId = NewType("SessionId", str)

UserId = NewType("UserId", str)

AgentId = NewType("AgentId", str)

CompactionId = NewType("CompactionId", str)

MOST_ID_CHARS: Final = 512
"""How long an id, a name or a key that a caller chooses may be, in every store: thread ids of chat services and frameworks have under
200, and an entry of PostgreSQL's indexes at most 2,704 bytes. Source: own choice; PostgreSQL's `BTMaxItemSize`."""


def require_short(text: str, what: str) -> str:
    """A text that the index of every store holds.

    Raises:
        InvalidInputError: it is longer than `MOST_ID_CHARS`, or holds a NUL, which PostgreSQL's texts do not have.
    """
    if len(text) > MOST_ID_CHARS or "\0" in text:
        raise InvalidInputError(
            f"the {what} must have at most {MOST_ID_CHARS} characters and no NUL; got {len(text):,} characters, {text[:40]!r}"
        )
    return text


_NO_AGENT: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]|(?:^|[/\\])\.\.(?:[/\\]|$)")
"""What is in no agent's name: control characters, and the part that leads out of a folder. Names of repositories have slashes."""


def is_agent_name(text: str) -> bool:
    """Whether a text can be the name of an agent."""
    return bool(text.strip()) and len(text) <= MOST_ID_CHARS and _NO_AGENT.search(text) is None


def parse_agent(text: str) -> AgentId:
    """The agent that a caller names.

    Raises:
        InvalidInputError: it is blank or too long, or is a path out of a folder, or holds a control character.
    """
    if not text.strip():
        raise InvalidInputError(f"the agent must be a name that is not empty, got {text!r}")
    if not is_agent_name(require_short(text, "agent")):
        raise InvalidInputError(
            f"the agent must be a name without control characters and without the part '..', got {text[:40]!r}"
        )
    return AgentId(text)
