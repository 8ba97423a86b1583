"""Who may see what: one rule a route, as the type of a parameter.

A route says by what it takes whom it lets in: `AsAdmin`, `OfUser`, `OfMemory`, `OfSession`, `OfAgent` or `AnyKey`; a
route without a rule is refused when the app is made. A key that only reads may only ask with GET. What reads memory has the
scope "function", so that the audit knows of a read before its answer is sent.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

from fastapi import Depends, Path, Query, Request
from fastapi.routing import APIRoute

from everfold.core.access.api_keys import ApiKey, Scope, may_see_agent, may_see_session, may_see_user, may_write
from everfold.core.access.users import require_strict
from everfold.core.primitives.ids import AgentId, UserId
from everfold.engine import Everfold
from everfold.errors import (
    ForbiddenError,
    InvalidInputError,
    MalformedRequestError,
    NotFoundError,
    UnauthenticatedError,
)
from everfold.memory import Memory
from everfold.ports.writing import watch_writes
from everfold.server.runtime import Runtime, runtime_of
from everfold.session import Session

Rule: TypeAlias = Literal["open", "any", "admin", "user", "memory", "session", "agent"]
"""Whom a route lets in.

open: everybody. any: every key; what it gives is what the key may see. admin: keys of the scope admin. user: those, and
keys of the user in the path. memory: the same, and keys of an agent, which see what their agent does. session: admin, and
keys of the user or the agent of the session in the path. agent: admin, and keys of the agent in the path.
"""

_SAFE: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks."""

    key: ApiKey

    @property
    def scope(self) -> Scope:
        """What the key may see."""
        return self.key.scope

    @property
    def actor(self) -> str:
        """How the audit names them."""
        return f"key:{self.key.name}"

    @property
    def is_admin(self) -> bool:
        """Whether the key sees everything."""
        return self.scope.kind == "admin"

    @property
    def user_id(self) -> UserId | None:
        """The only user whom the key sees; None where it is of no user."""
        return UserId(self.scope.name) if self.scope.kind == "user" else None

    @property
    def agent_id(self) -> AgentId | None:
        """The only agent that the key sees; None where it is of no agent."""
        return AgentId(self.scope.name) if self.scope.kind == "agent" else None


async def let_anybody() -> None:
    """The rule `open`."""


async def let_key(request: Request) -> Caller:
    """The rule `any`.

    Raises:
        UnauthenticatedError: the request brings no key.
        ForbiddenError: the key only reads, and this is a write.
    """
    key: ApiKey | None = request.state.key
    if key is None:
        raise UnauthenticatedError(
            "This needs an API key. Send `Authorization: Bearer ef_...`; `everfold api-keys add` creates one."
        )
    if not may_write(key.scope) and request.method not in _SAFE:
        raise ForbiddenError(
            f"API key {key.name!r} is read-only. Use one that can write for {request.method}.", api_key=key.id
        )
    return Caller(key=key)


AnyKey = Annotated[Caller, Depends(let_key)]


async def let_admin(caller: AnyKey) -> Caller:
    """The rule `admin`.

    Raises:
        ForbiddenError: the key is of a user or an agent.
    """
    if not caller.is_admin:
        raise forbid(caller, "it needs the scope admin")
    return caller


AsAdmin = Annotated[Caller, Depends(let_admin)]


async def give_runtime(request: Request) -> Runtime:
    """What the app works on. Not a plain function, which would be called in a thread of its own for each request."""
    return runtime_of(request)


Context = Annotated[Runtime, Depends(give_runtime)]

UserText = Annotated[
    str,
    Path(description="`default`, or the UUID of a user.", examples=["default", "6f1c2f0e-8d3b-4c55-9a53-0c1d2e3f4a5b"]),
]
AgentText = Annotated[
    str, Path(min_length=1, description="The agent's name; a slash in it is sent as `%2F`.", examples=["default"])
]
SessionText = Annotated[str, Path(description="The session's id.", examples=["ses_01"])]


async def read_user(engine: Everfold, text: str) -> UserId:
    """The user whom a strict text names: `default` or a UUID.

    Raises:
        MalformedRequestError: it is anything else.
    """
    try:
        reference = require_strict(text)
    except InvalidInputError as error:
        raise MalformedRequestError(str(error)) from error
    if reference.kind != "default":
        return UserId(reference.text)
    with watch_writes():  # of its own: that the default user is there now is nothing that a repeat would do again
        return (await engine.get_user()).id


async def let_user(caller: AnyKey, runtime: Context, user: UserText) -> UserId:
    """The rule `user`: gives the user in the path.

    Raises:
        MalformedRequestError: the text is neither `default` nor a UUID.
        ForbiddenError: the API key is another user's or agent's.
    """
    user_id = await read_user(runtime.engine, user)
    if not may_see_user(caller.scope, user_id):
        raise forbid(caller, f"it does not see the user {user}")
    return user_id


OfUser = Annotated[UserId, Depends(let_user)]


async def let_memory(request: Request, caller: AnyKey, runtime: Context, user: UserText) -> AsyncIterator[Memory]:
    """The rule `memory`: what is known of the user in the path, as the key may see it; reads of it are audited.

    Raises:
        MalformedRequestError: the text is neither `default` nor a UUID.
        ForbiddenError: the key is of another user.
    """
    memory = await _open_memory(caller, runtime.engine, await read_user(runtime.engine, user))
    yield memory
    await _note(request, caller, memory)


OfMemory = Annotated[Memory, Depends(let_memory, scope="function")]


async def let_owner(request: Request, caller: AnyKey, runtime: Context, user_id: OfUser) -> AsyncIterator[Memory]:
    """The rule `user` for memory: all of it, as its owner sees it; reads of it are audited. Errors as `let_user`."""
    memory = await runtime.engine.memory(user=user_id)
    yield memory
    await _note(request, caller, memory)


OfOwner = Annotated[Memory, Depends(let_owner, scope="function")]


async def let_agent_memory(memory: OfMemory, caller: AnyKey, agent: AgentText) -> AgentId:
    """The rule `memory` for what one agent has for itself: gives the agent in the path.

    Raises:
        ForbiddenError: the key is of another agent.
    """
    if caller.agent_id not in (None, agent):
        raise forbid(caller, f"it does not see what the agent {agent!r} knows of the user {memory.user_id}")
    return AgentId(agent)


OfAgentMemory = Annotated[AgentId, Depends(let_agent_memory)]


async def let_search(
    request: Request,
    caller: AnyKey,
    runtime: Context,
    user: Annotated[
        str | None, Query(description="`default`, or the UUID of a user; a user's API key may leave it out.")
    ] = None,
    agent: Annotated[str | None, Query(min_length=1, description="Only what this agent knows.")] = None,
) -> AsyncIterator[Memory]:
    """The rule `any` for memory: that of the user and the agent who are asked for, as the key may see it.

    Raises:
        MalformedRequestError: the user is neither `default` nor a UUID, or none was named.
        ForbiddenError: the key is of another user, or of another agent.
    """
    if user is None and caller.user_id is None:
        raise MalformedRequestError("name the user: `user=default`, or `user=` and a UUID")
    user_id = caller.user_id if user is None else await read_user(runtime.engine, user)
    memory = await _open_memory(caller, runtime.engine, UserId(str(user_id)), agent)
    yield memory
    await _note(request, caller, memory)


OfSearch = Annotated[Memory, Depends(let_search, scope="function")]


async def _open_memory(caller: Caller, engine: Everfold, user_id: UserId, agent: str | None = None) -> Memory:
    if caller.user_id not in (None, user_id):
        raise forbid(caller, f"it does not see the user {user_id}")
    if agent is not None and caller.agent_id not in (None, agent):
        raise forbid(caller, f"it does not see what the agent {agent!r} knows")
    return await engine.memory(user=user_id, agent=agent or caller.agent_id, is_by_agent=caller.agent_id is not None)


async def _note(request: Request, caller: Caller, memory: Memory) -> None:
    """Have the audit say that a request has read a memory; writes tell of themselves."""
    if request.method in _SAFE:
        await memory.note_read(actor=caller.actor, about=(request.url.path,))


async def let_session(caller: AnyKey, runtime: Context, session: SessionText) -> Session:
    """The rule `session`: gives the session in the path, opened anew.

    Raises:
        NotFoundError: there is none that the key sees; whether there is another is not told.
    """
    try:
        opened = await runtime.engine.session(id=session)
    except NotFoundError as error:
        raise no_session(session) from error
    _require_session(caller, opened)
    return opened


OfSession = Annotated[Session, Depends(let_session)]


async def let_turn(request: Request, session: SessionText) -> AbstractAsyncContextManager[Session]:
    """The rule `session` for turns: gives the session that stays open between requests, to be entered.

    What it needs beside the path it takes by itself: every further dependency costs a turn 70,000 instructions.

    Raises:
        NotFoundError: as in `let_session`.
    """
    caller, runtime = await let_key(request), runtime_of(request)
    opened = runtime.handles.find(session) or await let_session(caller, runtime, session)
    _require_session(caller, opened)
    return runtime.handles.use(opened)


OfTurn = Annotated[AbstractAsyncContextManager[Session], Depends(let_turn)]


def sees_session(caller: Caller, user_id: UserId, agent_id: AgentId) -> bool:
    """Whether a caller sees the sessions of a user with an agent."""
    return may_see_session(caller.scope, user_id, agent_id)


def _require_session(caller: Caller, session: Session) -> None:
    if not sees_session(caller, session.record.user_id, session.record.agent_id):
        raise no_session(session.id)


def no_session(session: str) -> NotFoundError:
    """The error for a session that a key does not see, whether or not there is one."""
    return NotFoundError(f"there is no session {session!r}; list them", session=session)


async def let_agent(caller: AnyKey, agent: AgentText) -> AgentId:
    """The rule `agent`: gives the agent in the path.

    Raises:
        ForbiddenError: the key is of a user or of another agent.
    """
    if not may_see_agent(caller.scope, AgentId(agent)):
        raise forbid(caller, f"it does not see the agent {agent!r}")
    return AgentId(agent)


OfAgent = Annotated[AgentId, Depends(let_agent)]

RULES: Final[Mapping[Callable[..., object], Rule]] = {
    let_admin: "admin",
    let_agent: "agent",
    let_session: "session",
    let_turn: "session",
    let_agent_memory: "memory",
    let_memory: "memory",
    let_owner: "user",
    let_user: "user",
    let_search: "any",
    let_key: "any",
    let_anybody: "open",
}
"""Which rule each dependency is; the first one that a route has is its rule, the strictest comes first."""


def find_rule(route: APIRoute) -> Rule:
    """The rule of a route.

    Raises:
        RuntimeError: it has none.
    """
    taken = {dependant.call for dependant in route.dependant.dependencies}
    for dependency, rule in RULES.items():
        if dependency in taken:
            return rule
    raise RuntimeError(f"the route {route.path} has no rule of access; see everfold.server.access")


def forbid(caller: Caller, why: str) -> ForbiddenError:
    """The error for what a key may not do."""
    return ForbiddenError(f"API key {caller.key.name!r} may not do this: {why}.", api_key=caller.key.id)
