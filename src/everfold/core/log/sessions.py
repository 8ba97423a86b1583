"""Sessions: one append-only log each, related by where they came from."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, cast

from everfold.core.log.budget import DEFAULT_LIMIT_TOKENS, Policy
from everfold.core.log.prompts import Prompt
from everfold.core.primitives.ids import MOST_ID_CHARS, AgentId, SessionId, UserId
from everfold.core.text.tokens import MESSAGE_OVERHEAD_TOKENS, estimate_json_tokens, estimate_text_tokens
from everfold.errors import InvalidInputError

NO_END = 2**62
"""A sequence number, or an ordinal, that no log reaches."""

StartedBy = Literal["open", "new", "reset", "branch", "rewind", "compaction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of a log: the messages up to `last_seq`, and the compactions up to `last_ordinal`, of one session.

    A session's lineage is a row of them; the last one is its own and has no end (`last_seq` None).
    """

    session_id: SessionId
    last_seq: int | None = None
    last_ordinal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What a session holds from its opening on; a change is a cache break."""

    limit_tokens: int = DEFAULT_LIMIT_TOKENS
    prompt: Prompt = field(default_factory=Prompt)
    policy: Policy = field(default_factory=Policy)

    @property
    def prompt_tokens(self) -> int:
        """The estimate of the system prompt and the tool schemas."""
        system = self.prompt.system
        tokens = MESSAGE_OVERHEAD_TOKENS + estimate_text_tokens(system) if system else 0
        return tokens + sum(estimate_json_tokens(tool) for tool in self.prompt.tools)

    def is_as(self, other: "SessionSettings") -> bool:
        """Whether a session that holds the one need not be changed to hold the other."""
        return (self.limit_tokens, self.policy) == (other.limit_tokens, other.policy) and self.prompt.is_as(
            other.prompt
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """Who a session belongs to and where it came from.

    Attributes:
        parent_id: The session that was current before, or that it branched from.
        branch_seq: The last message that it shares with its parent; 0 when it shares none.
        lineage: Where its messages are: shared stretches first, its own last.
        is_current: It is the session that `engine.session(user, agent, session_key)` gives.
        session_key: Which of the conversations that a user has with an agent side by side it belongs to; empty for the
            one that needs no name. Sessions that follow it keep the key.
        title: The title that it was given, as `everfold.core.log.titles.clean_title` leaves it; empty where it has none.
    """

    id: SessionId
    user_id: UserId
    agent_id: AgentId
    parent_id: SessionId | None
    branch_seq: int
    started_by: StartedBy
    created_at: datetime
    lineage: tuple[Segment, ...]
    settings: SessionSettings
    is_current: bool = True
    session_key: str = ""
    title: str = ""


def parse_session_key(value: object) -> str:
    """A session key that is given; empty for None.

    Raises:
        InvalidInputError: it is no text, blank, too long, or holds a lone surrogate or a NUL.
    """
    if value is None:
        return ""
    is_fit = isinstance(value, str) and bool(value.strip()) and len(value) <= MOST_ID_CHARS
    if not is_fit or re.search("[\0\ud800-\udfff]", cast("str", value)):
        raise InvalidInputError(
            f"the session key must be a text of 1 to {MOST_ID_CHARS} characters that is valid UTF-8, "
            f"got {str(value)[:80]!r}"
        )
    return cast("str", value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of one session's own rows, both ends included."""

    session_id: SessionId
    first_seq: int
    last_seq: int


def find_stretches(lineage: tuple[Segment, ...], first_seq: int, last_seq: int) -> list[Stretch]:
    """Where the messages of a range are stored, in order."""
    stretches: list[Stretch] = []
    for segment in lineage:
        end = last_seq if segment.last_seq is None else min(last_seq, segment.last_seq)
        if first_seq <= end:
            stretches.append(Stretch(session_id=segment.session_id, first_seq=first_seq, last_seq=end))
            first_seq = end + 1
    return stretches


def find_holder(lineage: tuple[Segment, ...], seq: int) -> SessionId:
    """The session of a lineage that stores a message."""
    return next(segment.session_id for segment in lineage if segment.last_seq is None or seq <= segment.last_seq)


def branch_lineage(
    lineage: tuple[Segment, ...], *, branch_seq: int, last_ordinal: int, session_id: SessionId
) -> tuple[Segment, ...]:
    """The lineage of a branch that shares messages up to `branch_seq` and compactions up to `last_ordinal`."""
    shared: list[Segment] = []
    for segment in lineage:
        end = branch_seq if segment.last_seq is None else min(branch_seq, segment.last_seq)
        ordinal = last_ordinal if segment.last_ordinal is None else min(last_ordinal, segment.last_ordinal)
        shared.append(Segment(session_id=segment.session_id, last_seq=end, last_ordinal=ordinal))
    return (*shared, Segment(session_id=session_id))
