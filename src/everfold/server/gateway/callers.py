"""Callers: whose conversation a request of the gateway is, and by which ids its client names it.

A provider's key that a client sends is never stored: the user of a caller without a name is the key's hash.
"""

import hashlib
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from everfold.core.access.api_keys import SECRET_PREFIX, ApiKey, may_write
from everfold.core.conversations.hashes import hash_text
from everfold.core.log.sessions import parse_session_key
from everfold.core.primitives.json_values import JsonObject
from everfold.engine import DEFAULT_USER
from everfold.errors import ForbiddenError, InvalidInputError
from everfold.server.runtime import Runtime

SESSION_HEADER: Final = "x-everfold-session"
"""Names the session strictly: the request may carry only what is new."""
USER_HEADER: Final = "x-everfold-user"
"""Names the user, with an API key of Everfold that may speak for any."""
KEY_HEADER: Final = "x-everfold-key"
"""An API key of Everfold beside the provider's."""
_ID_HEADERS: Final = ("x-claude-code-session-id", "session-id", "session_id", "conversation_id", "x-session-id")
_ID_METADATA: Final = ("session_id", "conversation_id", "thread_id", "user_id")
_RETRY_HEADER: Final = "x-stainless-retry-count"
"""The header by which the SDKs of OpenAI and Anthropic tell that a request is sent again."""
_ATTEMPT_HEADER: Final = "idempotency-key"
_NAMESPACE: Final = uuid.UUID("0e0b7f3a-6c7e-5d0c-9a41-7b1d5f0c2e68")
"""Of the ids of users who are known by a key only."""

Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whose a request is.

    Attributes:
        user: As the engine takes it.
        agent: The agent of the conversation.
        narrowing: The hash of the ids that the client sends; conversations with others are never met.
        session_key: The session that the request names strictly; None for none.
        is_retry: The request says that it was sent before.
        attempt: The hash of its idempotency key; None without one.
        upstream_key: The key that the provider is to get in place of ours; None where the client's own passes.
        is_known: Its user is named, and not known by a provider's key only.
    """

    user: str
    agent: str
    narrowing: bytes
    session_key: str | None = None
    is_retry: bool = False
    attempt: bytes | None = None
    upstream_key: str | None = None
    is_known: bool = True


async def identify(runtime: Runtime, headers: Headers, address: str, body: JsonObject) -> Caller:
    """Whose a request is.

    Raises:
        UnauthenticatedError: it has an API key of Everfold that is none.
        ForbiddenError: the key may not write, or not speak for the user who is named.
        RateLimitedError: the key asks too often.
        InvalidInputError: the session that it names cannot be one.
    """
    settings = runtime.settings.gateway
    beside = headers.get(KEY_HEADER)
    secret = beside or _read_secret(headers)
    is_own = beside or secret.startswith(SECRET_PREFIX)
    own = await runtime.identify(secret, address) if is_own else None
    user = _choose_user(runtime, own, headers)
    named = headers.get(SESSION_HEADER)
    attempt = headers.get(_ATTEMPT_HEADER)
    agent = own.scope.name if own is not None and own.scope.kind == "agent" else settings.agent
    return Caller(
        user=user or hash_user(secret),
        agent=agent if user else runtime.settings.gateway_agents[1],
        narrowing=hash_text("\n".join(list_ids(headers, body))),
        session_key=None if named is None else parse_session_key(named),
        is_retry=headers.get(_RETRY_HEADER, "0").isdigit() and headers.get(_RETRY_HEADER, "0") != "0",
        attempt=None if attempt is None else hash_text(attempt),
        is_known=bool(user),
        upstream_key=None if own is None or beside else _read_upstream_key(settings.api_key_env),
    )


def _read_secret(headers: Headers) -> str:
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "").strip()


def _choose_user(runtime: Runtime, own: ApiKey | None, headers: Headers) -> str:
    """The user who is named; empty where only a provider's key is known."""
    configured = runtime.settings.gateway.user or ""
    named = headers.get(USER_HEADER, "")
    if own is None:
        if named:
            raise ForbiddenError(f"{USER_HEADER} needs an API key of Everfold: send one as {KEY_HEADER}")
        return configured
    if not may_write(own.scope):
        raise ForbiddenError(
            f"API key {own.name!r} is read-only; the gateway must store conversations: use one that can write",
            key=own.id,
        )
    if own.scope.kind == "user":
        if named not in ("", own.scope.name):
            raise ForbiddenError(f"API key {own.name!r} may not act for user {named!r}", api_key=own.id)
        return own.scope.name
    return named or configured or DEFAULT_USER


def hash_user(secret: str) -> str:
    """The user who is known by a key only: a UUID from its hash."""
    return str(uuid.uuid5(_NAMESPACE, hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()))


def _read_upstream_key(variable: str | None) -> str:
    if variable is None:
        return ""
    found = os.environ.get(variable)
    if found is None:
        raise InvalidInputError(f"the variable {variable} of gateway.api_key_env is not set; set it, then start again")
    return found


def list_ids(headers: Headers, body: JsonObject) -> list[str]:
    """The ids by which a client names its conversation."""
    ids = [f"{name}: {headers[name]}" for name in _ID_HEADERS if name in headers]
    if isinstance(found := body.get("prompt_cache_key"), str):
        ids.append(f"prompt_cache_key: {found}")
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        ids += [f"{name}: {found}" for name in _ID_METADATA if isinstance(found := metadata.get(name), str)]
    return ids
