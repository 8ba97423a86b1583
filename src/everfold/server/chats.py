"""The running answers: at most one a session over all servers of a store, each stopped when its client disconnects.

A chat is opened for one answer, and closed with it: what it says is in the log, so nothing is lost between two. Models
keep their connections by themselves.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

import anyio

from everfold.agents.chat_events import ChatEvent
from everfold.config import Settings
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.engine import Everfold
from everfold.errors import ConflictError, InvalidInputError
from everfold.ports.leases import LeaseName, LeaseStore
from everfold.ports.system import Clock, Ids
from everfold.services.sessions.hold_lease import hold_lease

if TYPE_CHECKING:
    from everfold.agents.chat import Chat

LEASE_SECS: Final = 5.0
"""How long the session of a server that dies is held; renewed while the answer runs.

Source: own choice; a person waits so long after a restart, and it is several times a pause of a busy process."""
LOOK_SECS: Final = 0.2
"""Between two looks whether such a session is free."""


@cache
def load_answering() -> None:
    """Load what only answers need: Pydantic AI, and its price list, which would hold up the first call that asks for a price.

    Source: our measurement; a server is ready 1.5 s after its start without them, and 2.4 s with them; loading them in a thread
    delays one request by 0.2 s, in the second after that.
    """
    from everfold.adapters.models.pydantic_ai import load_prices

    import_module("everfold.agents.open_chat")
    load_prices()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is said to an agent, and where.

    Attributes:
        text: None to have answered what was said last, where its answer was stopped.
        session_id: The session to talk in, which becomes the current one of its session key; None for the current one.
        model: Instead of the agent's own.
    """

    user_id: UserId
    agent_id: AgentId
    text: str | None
    session_id: str | None = None
    model: str | None = None


@dataclass(slots=True, kw_only=True)
class Chats:
    """The chats of a server in which an answer runs."""

    stopping: asyncio.Event
    _talks: list["Talk"] = field(default_factory=list["Talk"])

    @asynccontextmanager
    async def open(
        self, engine: Everfold, settings: Settings, question: Question, *, clock: Clock, ids: Ids
    ) -> AsyncIterator["Talk"]:
        """A chat that is ready to answer; leaving it stops the answer, once what was said of it is stored.

        Raises:
            ConflictError: an answer is running in the same session.
            NotFoundError: the user has no such session with the agent.
            InvalidInputError: the agent has no model or a tool cannot be had, or nothing waits for an answer.
            BudgetUnsatisfiableError: instructions and tools leave no room within the limit.
        """
        self._require_rest(question.session_id)
        await asyncio.to_thread(load_answering)
        from everfold.agents.open_chat import open_chat

        if question.text is None:
            await _require_open(engine, question)
        async with (
            open_chat(
                engine,
                settings,
                agent=question.agent_id,
                user=question.user_id,
                model=question.model,
                session_id=question.session_id,
                clock=clock,
                ids=ids,
            ) as chat,
            AsyncExitStack() as held,
        ):
            self._require_rest(chat.session.id)
            leases = Leases(store=engine.admin.leases, user_id=question.user_id, holder=ids.new_id("ans_"), held=held)
            events = _answer(chat, question.text, leases)
            talk = Talk(chat=chat, holder=leases.holder, first_id=chat.session.id, events=events)
            self._talks.append(talk)
            held.callback(self._talks.remove, talk)
            await leases.wait_for(talk.first_id)
            talk.is_held = True
            if question.session_id is not None:  # a refusal leaves the current session as it is
                await chat.resume(question.session_id)
            stopper = asyncio.create_task(self._stop_with_server(chat), name="everfold chat stopper")
            try:
                async with aclosing(events):
                    yield talk
            finally:
                stopper.cancel()

    def stop(self, session_id: str) -> bool:
        """Stop the running answer of a session at this server; False where none runs here."""
        talk = self._find(session_id)
        return talk is not None and talk.chat.stop()

    def stop_holder(self, holder: str) -> bool:
        """Stop the running answer of a lease's holder; False where this server gives none."""
        return any(talk.chat.stop() for talk in self._talks if talk.holder == holder)

    def holds(self, session_id: str) -> bool:
        """Whether this server has a session for an answer, from before it begins until it has ended."""
        talk = self._find(session_id)
        return talk is not None and talk.is_held

    def _find(self, session_id: str) -> "Talk | None":
        """A session may change its id within an answer, and is known by both."""
        return next((talk for talk in self._talks if session_id in (talk.first_id, talk.chat.session.id)), None)

    def _require_rest(self, session_id: str | None) -> None:
        if session_id is not None and self._find(session_id) is not None:
            raise _refuse(session_id)

    async def _stop_with_server(self, chat: "Chat") -> None:
        await self.stopping.wait()
        chat.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Leases:
    """The sessions that an answer has for itself, so that no other server of the store gives one in them too."""

    store: LeaseStore
    user_id: UserId
    holder: str
    held: AsyncExitStack

    async def wait_for(self, session_id: str) -> None:
        """Have a session until the answer ends. What a dead server has left is waited for: a living one renews it.

        Raises:
            ConflictError: another server answers in it.
        """
        runs_out_at = anyio.current_time() + LEASE_SECS
        while not await self.claim(session_id):
            if anyio.current_time() > runs_out_at:
                raise _refuse(session_id)
            await anyio.sleep(LOOK_SECS)

    async def claim(self, session_id: str) -> bool:
        """Have a session until the answer ends; False where another server answers in it."""
        name = LeaseName(user_id=self.user_id, work="answer", about=SessionId(session_id))
        return await self.held.enter_async_context(hold_lease(self.store, name, holder=self.holder, secs=LEASE_SECS))


def _refuse(session_id: str) -> ConflictError:
    return ConflictError(f"session {session_id}: an answer is running; wait for it, or stop it", session=session_id)


async def _require_open(engine: Everfold, question: Question) -> None:
    """Refuse a question without words where nothing waits for an answer; nothing is written.

    Raises:
        InvalidInputError: nothing does.
    """
    from everfold.agents.stopped import find_stopped

    if question.session_id is not None:
        session = await engine.session(id=question.session_id)
    else:
        session = await engine.session(user=question.user_id, agent=question.agent_id, create=False)
    stopped = await find_stopped(session)
    if stopped is None or not stopped.is_open:
        raise InvalidInputError(f"session {session.id}: no message waits for an answer; send one", session=session.id)


async def _answer(chat: "Chat", text: str | None, leases: Leases) -> AsyncGenerator[ChatEvent]:
    """What happens until the answer is there. A session that rotates within it is held under its new id as well.

    At its end the sessions are given back, so that who is told of the end can ask again.
    """
    session_id = chat.session.id
    async with leases.held, aclosing(chat.answer() if text is None else chat.send(text)) as events:
        async for event in events:
            if chat.session.id != session_id:
                session_id = chat.session.id
                await leases.claim(session_id)
            yield event


@dataclass(slots=True, kw_only=True, eq=False)
class Talk:
    """One answer.

    Attributes:
        chat: Gives it.
        holder: Has the lease of its session.
        first_id: The session in which it begins.
        events: What happens until it is there; they raise as `Chat.send`.
        is_held: Whether it has its session for itself.
    """

    chat: "Chat"
    holder: str
    first_id: str
    events: AsyncGenerator[ChatEvent]
    is_held: bool = False
