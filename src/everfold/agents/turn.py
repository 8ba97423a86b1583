"""One turn of a chat: the log is the truth, and what a model is asked is made of it anew for every step.

A step is window, request, answer, tools. The answer is appended when it is whole, each tool result when it is there, and
only then is the next window made: whatever ends the process leaves a log that is complete up to there. An answer that
breaks off is stored once, as one message marked interrupted; a step whose tools are cut off stays open, and the session
closes it when the next message comes.

Source: DESIGN section 3, G1 and 3.1.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from everfold.agents.chat_events import ChatEvent, Retried, Said, Stopped, TextDelta, ToolAnswered, ToolCalled
from everfold.agents.models import AgentModel
from everfold.agents.speaking import Call, Draft, speak
from everfold.agents.spending import Spending
from everfold.agents.stopped import find_stopped
from everfold.agents.toolbox import Toolbox
from everfold.core.log.budget import share_budget
from everfold.core.log.calibration import Calibration
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.window import Window
from everfold.errors import ContextLengthError, EverfoldError, StoreError
from everfold.services.memory.memory_tools import MemoryTools
from everfold.services.models.spending import CANCELLED
from everfold.session import Session

MOST_STEPS: Final = 100
"""How often a model may call tools in one turn."""

BY_USER: Final = "it was stopped"
_HURRY_SECS: Final = 0.05
"""How often a turn that is being stopped looks whether its append asks context sources by now."""
_TOO_MANY_STEPS: Final = f"the model called tools {MOST_STEPS} times in a row"


@dataclass(slots=True, kw_only=True)
class Turn:
    """What happens between a message of the user and the end of its answer.

    Attributes:
        memory: The tools of memory, made for this turn.
        tell: Told everything that happens.
        look_around: Tells what happened beside the turn; called between its steps.
    """

    session: Session
    model: AgentModel
    toolbox: Toolbox
    memory: MemoryTools
    spending: Spending
    tell: Callable[[ChatEvent], None]
    look_around: Callable[[], None]

    async def run(self, text: str | None) -> None:
        """Append what the user said, if anything, and answer the log. Being cancelled is how it is stopped.

        What ends it early is told as a `Stopped`, and raised.
        """
        try:
            await self._run(text)
        except asyncio.CancelledError:
            await self._tell_stopped(BY_USER)
            raise
        except EverfoldError as error:
            await self._tell_stopped(str(error))
            raise

    async def _run(self, text: str | None) -> None:
        if text is not None:
            [seq] = await self._append({"role": "user", "content": text})
            self.tell(Said(seq=seq, role="user"))
        for _ in range(MOST_STEPS):
            calls, seq = await self._answer()
            self.look_around()
            if not calls:
                return
            await self._work(calls, seq)
        await self._tell_stopped(_TOO_MANY_STEPS)

    async def _append(self, wire: JsonObject) -> list[int]:
        """Append; a turn that is being stopped waits for it, but not for the context sources that it asks."""
        appending = asyncio.ensure_future(self.session.append(wire))
        try:
            return await asyncio.shield(appending)
        except asyncio.CancelledError:
            while not appending.done():
                await self.session.inspect.hurry()
                await asyncio.wait([appending], timeout=_HURRY_SECS)
            raise

    async def _tell_stopped(self, reason: str) -> None:
        """Tell where the log stands now, as it will be told when it is opened again."""
        with suppress(StoreError):
            stopped = await find_stopped(self.session)
            self.tell(Stopped(reason=reason) if stopped is None else replace(stopped, reason=reason))

    # --- answering

    async def _answer(self) -> tuple[list[Call], int]:
        """The calls of the model's answer, and the message that it is stored as."""
        window = await self.session.window()
        self.look_around()
        draft = Draft()
        try:
            try:
                await self._speak(window, draft, call_number=1)
            except ContextLengthError as error:
                await self.session.observe_context_error(window)
                self.tell(Retried(reason=str(error)))
                window = await self.session.window()
                self.look_around()
                draft = Draft()
                await self._speak(window, draft, call_number=2)
        except asyncio.CancelledError:
            await self._store_cut(draft, BY_USER)
            raise
        except EverfoldError as error:
            if draft.is_begun:
                await self._store_cut(draft, str(error))
            raise
        return await self._store(window, draft)

    async def _speak(self, window: Window, draft: Draft, *, call_number: int) -> None:
        """Ask once, and record what it used."""
        await self.spending.require_budget()
        settings = self.session.settings
        budget = share_budget(
            settings.limit_tokens, settings.policy, prompt_tokens=settings.prompt_tokens, calibration=Calibration()
        )
        started_at = self.spending.clock.now()
        try:
            await speak(
                self.model,
                window,
                draft,
                definitions=self.toolbox.definitions,
                most_tokens=budget.answer_tokens,
                hear=lambda text: self.tell(TextDelta(text=text)),
            )
        except asyncio.CancelledError:
            draft.outcome = CANCELLED
            raise
        except EverfoldError as error:
            draft.outcome = error.code
            raise
        finally:
            await self.spending.record(
                self.session.record,
                draft,
                model=self.model.name,
                call_number=call_number,
                started_at=started_at,
                outcome=draft.outcome,
            )

    async def _store(self, window: Window, draft: Draft) -> tuple[list[Call], int]:
        [seq] = await self._append(draft.to_wire())
        self.tell(Said(seq=seq, role="assistant"))
        if draft.interruption:
            self.tell(Stopped(seq=seq, reason=draft.interruption, text=draft.text))
        if draft.input_tokens and not self.model.name.startswith("script:"):  # a script counts nothing
            await self.session.observe_usage(window, counted_tokens=draft.input_tokens)
        return draft.calls, seq

    async def _store_cut(self, draft: Draft, reason: str) -> None:
        draft.interrupt(reason)
        await self._append(draft.to_wire())

    # --- tools

    async def _work(self, calls: list[Call], seq: int) -> None:
        """Run the tools of a step side by side, and append each result when it is there."""
        turn = asyncio.Lock()

        async def work(call: Call) -> None:
            self.tell(ToolCalled(seq=seq, call_id=call.id, name=call.name, arguments=call.arguments))
            answer = await self.toolbox.call(call.name, call.arguments, call_id=call.id, memory=self.memory)
            text = f"[error] {answer.text}" if answer.is_error else answer.text
            async with turn:
                [result_seq] = await self._append({"role": "tool", "tool_call_id": call.id, "content": text})
            self.tell(
                ToolAnswered(
                    seq=result_seq, call_id=call.id, name=call.name, text=answer.text, is_error=answer.is_error
                )
            )

        try:
            async with asyncio.TaskGroup() as group:
                for call in calls:
                    group.create_task(work(call))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
