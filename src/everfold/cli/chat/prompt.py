"""Reading messages at a terminal: several lines, history, and a paste as one message.

Enter sends; Alt-Enter, or a backslash at the end of a line, begins a new line. Ctrl-C empties the line, and leaves where it is
empty. What was typed while an answer came is dropped, so that it is not sent.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, Final

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

_PROMPT: Final = ANSI("\x1b[1myou > \x1b[0m")
_NEXT_LINE: Final = "    > "


class Prompt:
    """Asks for messages. `earlier` are those that the arrow keys bring back, the oldest first."""

    def __init__(self, earlier: Sequence[str] = ()) -> None:
        self._is_leaving = False
        self._session: PromptSession[str] = PromptSession(
            multiline=True,
            history=InMemoryHistory(earlier),
            key_bindings=_bind_keys(),
            prompt_continuation=_NEXT_LINE,
            enable_history_search=True,
        )

    def read(self) -> str | None:
        """The next message; None at the end, which Ctrl-D, Ctrl-C at an empty line and `leave` bring."""
        self._drop_typed()
        try:
            return self._session.prompt(_PROMPT, pre_run=self._leave_if_asked)
        except (EOFError, KeyboardInterrupt):
            return None

    def leave(self) -> None:
        """End the wait for a message, also one that has not begun yet. May be called by a handler of signals."""
        self._is_leaving = True
        self._leave_if_asked()

    def _leave_if_asked(self) -> None:
        if self._is_leaving and self._session.app.is_running:
            with suppress(Exception):  # it may be ending already
                self._session.app.exit(exception=EOFError)

    def _drop_typed(self) -> None:
        clear_typeahead(self._session.app.input)
        if find_spec("termios") is not None:
            import termios

            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


@contextmanager
def hiding_keys() -> Iterator[None]:
    """While an answer comes, keys are not shown between its words; Ctrl-C still stops it."""
    if not sys.stdin.isatty() or find_spec("termios") is None:
        yield
        return
    import termios

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    hidden: list[Any] = [*before]
    hidden[3] &= ~termios.ECHO
    termios.tcsetattr(fd, termios.TCSANOW, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)


def _bind_keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    @keys.add("c-j")
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.current_line.endswith("\\") and buffer.document.is_cursor_at_the_end:
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def begin_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    @keys.add("<sigint>")
    def give_up(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt)

    del send, begin_line, give_up  # the bindings hold them
    return keys
