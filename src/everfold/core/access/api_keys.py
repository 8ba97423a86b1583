"""Access: what an API key may see and write.

A key is a secret of 256 random bits with a name and a scope. A store keeps the hash of the secret only. Such a secret
cannot be guessed, so one fast hash protects it as well as a slow one. A key is found by its hash: the time of the
look-up reveals something about the hash only, and no secret follows from it.

Source: NIST SP 800-63B, 5.1.2.2 (a look-up secret of at least 112 bits of entropy is stored under an approved one-way
function; salt and a slow function are for those with less).
"""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, NewType

from everfold.core.primitives.ids import AgentId, UserId
from everfold.errors import ConflictError, InvalidInputError

ApiKeyId = NewType("ApiKeyId", str)
ScopeKind = Literal["admin", "user", "agent"]
Refusal = Literal["revoked", "expired"]

KEY_PREFIX: Final = "key_"
"""Begins the id of a key, and no name of one."""

SECRET_PREFIX: Final = "ef_"  # noqa: S105 - what every secret begins with is none
"""Begins every secret, so that one that was written down by accident is found by a search."""

SECRET_BYTES: Final = 32
"""The randomness in a secret. Source: RFC 6750, 5.2, asks for tokens that cannot be guessed; 256 bits are a full hash."""

SECRET_CHARS: Final = 43
"""Characters behind the prefix: the random bytes in the alphabet of RFC 4648, section 5, unpadded."""

MOST_NAME_CHARS: Final = 100
"""Source: own choice; a name is read in a table."""

_SCOPE_FORM = "`admin`, `user:ID` or `agent:NAME`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What an API key may see: everything, one user or one agent.

    Attributes:
        name: The id of the user, or the agent; empty for an admin.
        is_read_only: It changes nothing.

    Raises:
        InvalidInputError: the kind is none, or it has no name where it needs one.
    """

    kind: ScopeKind
    name: str = ""
    is_read_only: bool = False

    def __post_init__(self) -> None:
        if self.kind not in {"admin", "user", "agent"} or (self.kind == "admin") == bool(self.name.strip()):
            raise _no_scope(f"{self.kind}:{self.name}")

    def __str__(self) -> str:
        """The form that `parse_scope` reads; whether it is read only is not in it."""
        return self.kind if self.kind == "admin" else f"{self.kind}:{self.name}"

    def describe(self) -> str:
        """What a person reads."""
        return f"{self}, read only" if self.is_read_only else str(self)


ADMIN: Final = Scope(kind="admin")
"""Everything."""


def parse_scope(text: str, *, is_read_only: bool = False) -> Scope:
    """A scope from `admin`, `user:ID` or `agent:NAME`. The text for the user is taken as it is.

    Raises:
        InvalidInputError: the text has another form.
    """
    kind, colon, name = text.partition(":")
    match kind:
        case "admin" if not colon:
            return Scope(kind="admin", is_read_only=is_read_only)
        case "user" | "agent":
            return Scope(kind=kind, name=name, is_read_only=is_read_only)
        case _:
            raise _no_scope(text)


def _no_scope(text: str) -> InvalidInputError:
    return InvalidInputError(f"a scope must be {_SCOPE_FORM}, got {text!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """One key as it is stored; its secret is known to its holder only.

    Attributes:
        name: What people call it; no other API key that is not revoked has this name.
        secret_hash: See `hash_secret`.
        expires_at: From when on it is refused; None for never.
        last_used_at: Up to a minute before its last use; None before the first.
    """

    id: ApiKeyId
    name: str
    scope: Scope
    secret_hash: str = field(repr=False)
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


def hash_secret(secret: str) -> str:
    """What is stored of a secret: SHA-256 in 64 hex digits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def judge(key: ApiKey, now: datetime) -> Refusal | None:
    """Why a key is refused at a moment; None when it works."""
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    return None


def is_admin(key: ApiKey, now: datetime) -> bool:
    """Whether a key works at a moment, and may do everything."""
    return key.scope == ADMIN and judge(key, now) is None


def refuse_last_admin(key: ApiKey) -> ConflictError:
    """The error for revoking the last working API key of the scope admin."""
    return ConflictError(
        f"API key {key.name!r} is the last working admin API key. Create another one first "
        "(`everfold api-keys add NAME --scope admin`), then revoke this one.",
        api_key=key.id,
    )


def require_name(name: str) -> str:
    """The name of a key.

    Raises:
        InvalidInputError: it is empty, too long, begins as an id does, or cannot be printed.
    """
    if not name.strip() or len(name) > MOST_NAME_CHARS or name.startswith(KEY_PREFIX) or not name.isprintable():
        raise InvalidInputError(
            f"The name of an API key must have 1 to {MOST_NAME_CHARS} printable characters and not begin with "
            f"{KEY_PREFIX!r}, got {name[: 2 * MOST_NAME_CHARS]!r}"
        )
    return name


def may_see_user(scope: Scope, user_id: UserId) -> bool:
    """Whether it may see all that there is of a user: profile, memory of every agent, audit, all sessions.

    An agent's key sees of a user what `may_see_session` grants.
    """
    return scope.kind == "admin" or (scope.kind == "user" and scope.name == user_id)


def may_see_agent(scope: Scope, agent_id: AgentId) -> bool:
    """Whether it may see how an agent is configured, and what it does for any user.

    A user's key talks with any agent, and sees nothing of its instructions.
    """
    return scope.kind == "admin" or (scope.kind == "agent" and scope.name == agent_id)


def may_see_session(scope: Scope, user_id: UserId, agent_id: AgentId) -> bool:
    """Whether it may see what is between a user and an agent: their sessions, and what that agent knows of them."""
    return may_see_user(scope, user_id) or may_see_agent(scope, agent_id)


def may_write(scope: Scope) -> bool:
    """Whether it may change what it sees."""
    return not scope.is_read_only
