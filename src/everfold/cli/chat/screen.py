"""What a chat shows: answers on stdout, remarks beside them on stderr; or every event as a line of JSON.

What a model, a tool or a source said is shown without control characters.
"""

import json
import sys
from typing import Protocol, assert_never

from rich.console import RenderableType
from rich.text import Text

from everfold.agents.chat_events import (
    ChatEvent,
    Compacted,
    Refreshed,
    Refreshing,
    Retried,
    Said,
    Stopped,
    TextDelta,
    ToolAnswered,
    ToolCalled,
)
from everfold.cli.chat.markdown import MarkdownWriter
from everfold.cli.tables.output import one_line, open_console, plain, to_json

_SHOWN_CHARS = 60
"""How much of an answer that was stopped is repeated to say where: its end."""


class Screen(Protocol):
    """Where a chat is shown."""

    def show(self, event: ChatEvent) -> None:
        """Show what happened."""
        ...

    def remark(self, text: str) -> None:
        """Say something beside the conversation."""
        ...

    def print(self, shown: RenderableType, document: object) -> None:
        """Show what a command found, as people or as programs read it."""
        ...

    def fail(self, text: str) -> None:
        """Say what went wrong."""
        ...


class TextScreen:
    """For people. In a terminal `speaker` stands over each answer, and its Markdown is rendered; a pipe gets it as it is."""

    def __init__(self, speaker: str) -> None:
        self._speaker = speaker
        self._writer: MarkdownWriter | None = None
        self._is_within = False  # a line of the answer is begun and not ended

    def show(self, event: ChatEvent) -> None:
        """Show what happened."""
        match event:
            case TextDelta(text=text):
                self._write(text)
            case Said(role="assistant"):
                self._end_line()
            case Said():
                pass
            case _:
                self.remark(tell(event))

    def remark(self, text: str) -> None:
        """A short grey line."""
        self._end_line()
        open_console(stderr=True).print(Text(plain(text), style="bright_black"), soft_wrap=True)

    def print(self, shown: RenderableType, document: object) -> None:  # noqa: ARG002 - programs read that
        """What a command found."""
        self._end_line()
        open_console().print(shown, soft_wrap=True)
        sys.stdout.flush()

    def fail(self, text: str) -> None:
        """A red line."""
        self._end_line()
        open_console(stderr=True).print(Text(plain(f"error: {text}"), style="bold red"), soft_wrap=True)

    def _write(self, text: str) -> None:
        if not sys.stdout.isatty():
            self._is_within = True
            sys.stdout.write(plain(text))
            sys.stdout.flush()
            return
        if self._writer is None:
            console = open_console()
            console.print(Text(f"{self._speaker} >", style="bold cyan"))
            self._writer = MarkdownWriter(console)
        self._writer.write(text)

    def _end_line(self) -> None:
        if self._writer is not None:
            self._writer.end()
            self._writer = None
        if self._is_within:
            self._is_within = False
            sys.stdout.write("\n")
            sys.stdout.flush()


class JsonScreen:
    """For programs: one JSON object a line, each with its `kind`."""

    def show(self, event: ChatEvent) -> None:
        """Print the event."""
        _print_line(to_json(event))

    def remark(self, text: str) -> None:
        """Print a remark."""
        _print_line({"kind": "remark", "text": text})

    def print(self, shown: RenderableType, document: object) -> None:  # noqa: ARG002 - people read that
        """Print what a command found."""
        _print_line({"kind": "shown", "shown": to_json(document)})

    def fail(self, text: str) -> None:
        """Print what went wrong."""
        _print_line({"kind": "error", "text": text})


def _print_line(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=True, allow_nan=False) + "\n")
    sys.stdout.flush()


Remarkable = ToolCalled | ToolAnswered | Compacted | Refreshing | Refreshed | Retried | Stopped


def tell(event: Remarkable) -> str:
    """What happened beside an answer, in a line."""
    match event:
        case ToolCalled():
            return f"· {event.name} {one_line(event.arguments, 100)}"
        case ToolAnswered():
            return f"· {event.name} {'failed' if event.is_error else 'gave'}: {one_line(event.text, 100)}"
        case Compacted():
            return (
                f"· folded {event.folded_count} messages ({event.first_seq}-{event.last_seq}): "
                f"{event.tokens_before:,} > {event.tokens_after:,} tokens"
            )
        case Refreshing():
            return f"· asking {_count_sources(event.sources_count)} what happened meanwhile"
        case Refreshed():
            return (
                f"· refreshed what happened meanwhile: {_count_sources(event.sources_count)}, {event.tokens:,} tokens"
            )
        case Retried():
            return "· the request was too long for the model; asking again with a smaller window"
        case Stopped():
            return f"· {tell_stopped(event)}"
        case _:
            assert_never(event)


def _count_sources(count: int) -> str:
    return "1 source" if count == 1 else f"{count} sources"


def tell_stopped(stopped: Stopped) -> str:
    """What was cut, in a sentence."""
    why = one_line(stopped.reason, 300)
    again = "; /again asks for an answer" if stopped.is_open else "; /again asks for it anew"
    if stopped.is_open and stopped.calls:
        return f"the last answer was cut off while {', '.join(stopped.calls)} worked: {why}{again}"
    if stopped.is_open and stopped.seq is not None:
        return f"the last answer was cut off after its tools had answered: {why}{again}"
    if stopped.is_open:
        return f"your last message has no answer: {why}{again}"
    if stopped.text:
        text = one_line(stopped.text[-_SHOWN_CHARS:], _SHOWN_CHARS)
        return (
            f"the last answer was cut off after “{'…' if len(stopped.text) > _SHOWN_CHARS else ''}{text}”: {why}{again}"
        )
    return (
        f"the last answer was cut off before its first word: {why}{again}"
        if stopped.seq is not None
        else f"cut off: {why}"
    )
