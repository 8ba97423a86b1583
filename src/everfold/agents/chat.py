"""The chat runtime: one person, one agent, one session, and answers that stream."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Final, cast

import anyio

from everfold.agents.chat_events import ChatEvent, Compacted, Refreshed, Refreshing, Stopped
from everfold.agents.models import AgentModel
from everfold.agents.spending import Spending
from everfold.agents.stopped import find_stopped
from everfold.agents.toolbox import Toolbox
from everfold.agents.turn import Turn
from everfold.core.observation.events import CompactionCommitted, ContextRefreshed, Event, RefreshBegun
from everfold.engine import Everfold
from everfold.errors import ConflictError, InvalidInputError
from everfold.services.telling.feed import Subscription
from everfold.session import Session


class Chat:
    """A conversation with an agent over one session.

    The session holds the system prompt and the schemas of the tools; see `open_chat`. One turn runs at a time.

    Args:
        engine: Whose sessions these are.
        resume: Makes a session of the same user and agent current, and gives it with prompt and tools as they are now.
        session: The one to begin in.
        model: Who answers; entered already.
        toolbox: What it may call; entered already.
        spending: Records what it uses.
    """

    def __init__(
        self,
        engine: Everfold,
        resume: Callable[[str], Awaitable[Session]],
        session: Session,
        *,
        model: AgentModel,
        toolbox: Toolbox,
        spending: Spending,
    ) -> None:
        self._resume = resume
        self._session = session
        self._model = model
        self._toolbox = toolbox
        self._spending = spending
        self._been_in = {session.id}
        self._engine_events = cast("Subscription", engine.events())
        self._turn: asyncio.Task[None] | None = None

    @property
    def session(self) -> Session:
        """The session that is talked in."""
        return self._session

    @property
    def model_name(self) -> str:
        """The setting of the model that answers."""
        return self._model.name

    async def new(self) -> None:
        """Go on in a new, empty session.

        Raises:
            ConflictError: an answer is running.
        """
        self._require_rest()
        self._turn_to(await self._session.new())

    async def reset(self) -> None:
        """Like `new`, but what was learnt about the provider's token counts is learnt anew."""
        self._require_rest()
        self._turn_to(await self._session.new(keep_calibration=False))

    async def rewind(self, seq: int) -> None:
        """Go on in a branch that shares the past up to a message; the session that was stays as it is.

        Raises:
            ConflictError: an answer is running.
            InvalidInputError: there is no such message, or it lies inside a step.
        """
        self._require_rest()
        self._turn_to(await self._session.rewind(seq))

    async def resume(self, session_id: str) -> None:
        """Go on in another session of the same user and agent.

        Raises:
            ConflictError: an answer is running.
            NotFoundError: they have no such session.
        """
        self._require_rest()
        self._turn_to(await self._resume(session_id))

    def _turn_to(self, session: Session) -> None:
        self._session = session

    def send(self, text: str) -> AsyncGenerator[ChatEvent]:
        """Say something, and give what happens until the answer is there.

        Everything is stored as it happens, whether or not the events are read. An iteration that is left or
        cancelled stops the turn as `stop` does.

        Raises:
            ConflictError: an answer is running.
            InvalidInputError: the text is blank.
            EverfoldError: the model or the store did not serve; a `Stopped` came before, where an answer had begun.
        """
        if not text.strip():
            raise InvalidInputError("the message is empty; write some text")
        return self._run(text)

    async def answer(self) -> AsyncGenerator[ChatEvent]:
        """Have what was said last answered, where its answer was stopped. What was stored of that answer is retracted first.

        Raises:
            InvalidInputError: there is nothing that waits for an answer.
            ConflictError: an answer is running, or another message followed the stopped one. Else as `send`.
        """
        self._require_rest()
        stopped = await find_stopped(self._session)
        if stopped is None:
            raise InvalidInputError(f"session {self._session.id}: no message waits for an answer; send one")
        if not stopped.is_open:
            await self._session.retract(last=stopped.seq)
        async with aclosing(self._run(None)) as events:
            async for event in events:
                yield event

    def stop(self) -> bool:
        """Stop the running answer; its text so far is stored. False where none runs."""
        if self._turn is None or self._turn.done():
            return False
        _stop(self._turn)
        return True

    async def find_stopped(self) -> Stopped | None:
        """How the last answer was stopped, by this process or an earlier one; None where it is whole."""
        return await find_stopped(self._session)

    async def aclose(self) -> None:
        """Stop the running answer, wait until its text so far is stored, and end the subscription to events."""
        self.stop()
        if self._turn is not None:
            with anyio.CancelScope(shield=True):
                await asyncio.wait([self._turn])
            if not self._turn.cancelled():
                self._turn.exception()  # seen: the chat was left
        await self._engine_events.aclose()

    def take_notes(self) -> list[ChatEvent]:
        """What happened in this conversation beside the turns since this was last asked, oldest first."""
        notes: list[ChatEvent] = []
        self._been_in.add(self._session.id)  # a session that rotates changes its id within a turn
        while (event := self._engine_events.take_waiting()) is not None:
            if event.session_id in self._been_in and (note := _read_note(event)) is not None:
                notes.append(note)
        return notes

    def _require_rest(self) -> None:
        if self._turn is not None and not self._turn.done():
            raise ConflictError(
                f"session {self._session.id}: an answer is running; wait for it, or stop it",
                session=self._session.id,
            )

    async def _wait(self, events: asyncio.Queue[ChatEvent | None]) -> ChatEvent | None:
        """The next event of a turn, or beside it."""
        while True:
            with suppress(TimeoutError):
                return await asyncio.wait_for(events.get(), LOOK_SECS)
            for note in self.take_notes():
                events.put_nowait(note)

    async def _run(self, text: str | None) -> AsyncGenerator[ChatEvent]:
        self._require_rest()
        events: asyncio.Queue[ChatEvent | None] = asyncio.Queue()

        def look_around() -> None:
            for note in self.take_notes():
                events.put_nowait(note)

        turn = Turn(
            session=self._session,
            model=self._model,
            toolbox=self._toolbox,
            memory=self._session.tools(),
            spending=self._spending,
            tell=events.put_nowait,
            look_around=look_around,
        )
        task = self._turn = asyncio.get_running_loop().create_task(turn.run(text), name="everfold turn")
        task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await self._wait(events)) is not None:
                yield event
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error
        finally:
            _stop(task)
            with anyio.CancelScope(shield=True):
                await asyncio.wait([task])


LOOK_SECS: Final = 0.3
"""How long nothing may happen in a turn before what happens beside it is looked for: what it waits for may be that."""


def _stop(task: asyncio.Task[None]) -> None:
    """Cancel a turn, once: what it does then, storing what was said, is not to be broken off."""
    if not task.cancelling():
        task.cancel()


def _read_note(event: Event) -> ChatEvent | None:
    match event:
        case CompactionCommitted(report=report):
            return Compacted(
                trigger=report.trigger,
                first_seq=report.first_seq,
                last_seq=report.last_seq,
                folded_count=report.folded_count,
                tokens_before=report.tokens_before,
                tokens_after=report.tokens_after,
            )
        case RefreshBegun():
            return Refreshing(cause=event.cause, sources_count=event.sources_count)
        case ContextRefreshed():
            return Refreshed(
                seq=event.seq,
                cause=event.cause,
                sources_count=event.sources_count,
                tokens=event.tokens,
            )
        case _:
            return None
