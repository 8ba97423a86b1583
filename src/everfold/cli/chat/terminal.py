"""The terminal of `everfold chat`: reads messages, shows events, and hears signals.

The engine runs in an event loop on a thread of its own, so that background work goes on while the user types. The main
thread reads and shows. It also gets the signals, and they mean something else while an answer is on its way: Ctrl-C stops
the answer, which is stored as far as it came, and SIGTERM does that and then leaves.
"""

import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from io import TextIOWrapper
from queue import SimpleQueue
from types import FrameType
from typing import Any, Final

from anyio.from_thread import BlockingPortal, start_blocking_portal

from everfold.agents.chat import Chat
from everfold.agents.chat_events import ChatEvent
from everfold.agents.open_chat import open_chat
from everfold.agents.opening import open_agents
from everfold.cli.chat.commands import Commands, Found
from everfold.cli.chat.prompt import Prompt, hiding_keys
from everfold.cli.chat.screen import JsonScreen, Screen, TextScreen, tell_stopped
from everfold.config import Settings
from everfold.errors import EverfoldError

TERMINATED: Final = 128 + signal.SIGTERM
"""The exit code after SIGTERM, as shells count it."""

_HISTORY_COUNT: Final = 200
"""How many messages back the history of the prompt reaches."""


def talk(
    settings: Settings, *, url: str, agent: str, user: str, model: str | None, limit: int | None, as_json: bool
) -> int:
    """Talk until the user leaves, and give the exit code.

    Raises:
        EverfoldError: the chat cannot be opened.
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # what a terminal cannot say must not end a chat
    screen: Screen = JsonScreen() if as_json else TextScreen(agent)

    @asynccontextmanager
    async def opening() -> AsyncIterator[Commands]:
        async with (
            open_agents(url, settings=settings) as opened,
            open_chat(opened.engine, settings, agent=agent, user=user, model=model, limit=limit) as chat,
        ):
            yield Commands(engine=opened.engine, chat=chat)

    with start_blocking_portal("asyncio") as portal, portal.wrap_async_context_manager(opening()) as commands:
        return _Terminal(portal, commands, screen).run()


class _LeaveError(Exception):
    """SIGTERM came while nothing ran."""


class _Terminal:
    """Reads lines until there are no more, and shows what comes of them."""

    def __init__(self, portal: BlockingPortal, commands: Commands, screen: Screen) -> None:
        self._portal = portal
        self._commands = commands
        self._chat: Chat = commands.chat
        self._screen = screen
        self._stop: Callable[[], None] | None = None
        self._is_leaving = False
        self._prompt: Prompt | None = None
        self._code = 0

    def run(self) -> int:
        """Talk until the user leaves, and give the exit code."""
        with self._hearing_signals():
            try:
                if sys.stdin.isatty():
                    self._prompt = Prompt(self._portal.call(self._list_said))
                self._greet()
                while not self._is_leaving and (line := self._read()) is not None:
                    self._take(line.strip())
            except _LeaveError:
                return TERMINATED
            except KeyboardInterrupt:
                pass
        return TERMINATED if self._is_leaving else self._code

    # --- signals

    @contextmanager
    def _hearing_signals(self) -> Iterator[None]:
        names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        before = {name: signal.getsignal(getattr(signal, name)) for name in names}
        for name in names:
            signal.signal(getattr(signal, name), self._interrupt if name == "SIGINT" else self._terminate)
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(getattr(signal, name), handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a signal handler's form
        if self._stop is None:
            raise KeyboardInterrupt
        self._stop()

    def _terminate(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a signal handler's form
        self._is_leaving = True
        if self._stop is not None:
            self._stop()
        elif self._prompt is not None:
            self._prompt.leave()
        else:
            raise _LeaveError

    # --- reading

    def _read(self) -> str | None:
        """The next line; None at the end."""
        for note in self._portal.call(self._take_notes):
            self._screen.show(note)
        return sys.stdin.readline() or None if self._prompt is None else self._prompt.read()

    async def _take_notes(self) -> list[ChatEvent]:
        return self._chat.take_notes()

    # --- doing

    def _greet(self) -> None:
        count = self._portal.call(self._count_messages)
        if self._prompt is not None:
            place = f"{count} messages so far" if count else "a new conversation"
            self._screen.remark(f"everfold chat · {self._chat.model_name} · {place} · /help")
        self._tell_stopped()

    async def _list_said(self) -> list[str]:
        """What the user said lately in this conversation, the oldest first: the history of the prompt."""
        session = self._chat.session
        last_seq = (await session.inspect.state()).last_seq
        if not last_seq:
            return []
        recent = await session.messages(max(1, last_seq - _HISTORY_COUNT), last_seq)
        return [message.view.text for message in recent if message.kind == "user" and not message.is_erased]

    async def _count_messages(self) -> int:
        return (await self._chat.session.inspect.state()).last_seq

    def _tell_stopped(self) -> None:
        stopped = self._portal.call(self._chat.find_stopped)
        if stopped is not None:
            self._screen.remark(tell_stopped(stopped))

    def _take(self, line: str) -> None:
        """Do what a line says; what goes wrong is told, and the talk goes on."""
        name, _, argument = line.partition(" ")
        try:
            match name:
                case "":
                    pass
                case "/quit":
                    raise KeyboardInterrupt
                case "/again":
                    self._follow(self._chat.answer)
                case _ if name.startswith("/"):
                    self._command(name, argument.strip())
                case _:
                    self._follow(lambda: self._chat.send(line))
        except EverfoldError as error:
            self._screen.fail(str(error))
            if self._prompt is None:  # at a terminal the user has read it
                self._code = error.exit_code

    def _command(self, name: str, argument: str) -> None:
        found = self._await(lambda: self._commands.run(name, argument))
        if found is None:
            self._screen.remark(f"{name} was stopped")
            return
        self._screen.print(found.shown, found.document)
        if name == "/resume" and argument:
            self._tell_stopped()

    def _await(self, make: Callable[[], Coroutine[Any, Any, Found]]) -> Found | None:
        """What a command gives; None where it was stopped."""
        future: Future[Found] = self._portal.start_task_soon(make)
        with self._stopping(future.cancel):
            try:
                return future.result()
            except CancelledError:
                return None

    def _follow(self, make: Callable[[], AsyncGenerator[ChatEvent]]) -> None:
        """Show what happens until an answer is there, or stopped."""
        events: SimpleQueue[ChatEvent | None] = SimpleQueue()

        async def pump() -> None:
            try:
                async with aclosing(make()) as stream:
                    async for event in stream:
                        events.put(event)
            finally:
                events.put(None)

        async def stop() -> None:
            if not self._chat.stop():
                future.cancel()

        future: Future[None] = self._portal.start_task_soon(pump)
        with hiding_keys(), self._stopping(lambda: self._portal.start_task_soon(stop)):
            while (event := events.get()) is not None:
                self._screen.show(event)
        with suppress(CancelledError):
            future.result()

    @contextmanager
    def _stopping(self, stop: Callable[[], object]) -> Iterator[None]:
        """While something runs, signals stop it; so does whatever goes wrong here."""

        def stop_it() -> None:
            stop()

        self._stop = stop_it
        try:
            yield
        except BaseException:
            stop()
            raise
        finally:
            self._stop = None
