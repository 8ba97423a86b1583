"""Messages, pages and windows as a person reads them at a terminal."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from everfold.cli.tables.output import Cell, make_table, one_line, open_console, plain, print_json
from everfold.core.log.messages import Message
from everfold.core.windows.entries import MessageEntry, RangeEntry, TextEntry
from everfold.core.windows.rendering import Provider, render
from everfold.core.windows.window import Window
from everfold.services.sessions.read import Page

ROLE_STYLE = {"user": "bold cyan", "assistant": "green", "tool": "yellow", "system": "magenta"}
_FULL_CHARS = 2000


def show_messages(session_id: str, messages: Sequence[Message], *, as_json: bool, mark: int = 0) -> None:
    """Print messages, one after another; a long text is cut with a pointer to its pages. `mark` is pointed out."""
    if as_json:
        print_json(_to_document(session_id, messages))
        return
    console = open_console()
    for message in messages:
        role = message.view.role
        # A notice is in a user's role, and was not said by the user.
        speaker = f"{message.origin} {message.source}" if message.kind == "notice" else message.view.name or role
        head = f"{'> ' if message.seq == mark else ''}{message.seq} {speaker}"
        style = "dim" if message.kind == "notice" else ROLE_STYLE[role]
        console.print(Text(head, style=style), Text(f"{message.said_at:%Y-%m-%d %H:%M} {message.kind}", "dim"))
        text = message.view.text
        console.print(Text(plain(text[:_FULL_CHARS])), soft_wrap=True)
        if len(text) > _FULL_CHARS:
            rest = f"[{len(text) - _FULL_CHARS:,} more characters: --seq {message.seq} --page 1]"
            console.print(Text(rest, style="dim"))
        console.print()


def show_page(page: Page, *, as_json: bool) -> None:
    """Print one page of a message."""
    if as_json:
        print_json(page)
        return
    console = open_console()
    console.print(Text(f"message {page.seq}, page {page.page} of {page.page_count}", style="dim"))
    console.print(Text(plain(page.text)), soft_wrap=True)


def _to_document(session_id: str, messages: Sequence[Message]) -> dict[str, object]:
    """Messages as one JSON value, each with its wire form."""
    return {
        "session": session_id,
        "messages": [
            {
                "seq": message.seq,
                "role": message.view.role,
                "kind": message.kind,
                "origin": message.origin,
                "source": message.source,
                "said_at": message.said_at,
                "tokens": message.tokens,
                "raw_tokens": message.raw_tokens,
                "wire": message.wire,
            }
            for message in messages
        ],
    }


def show_window(window: Window, *, as_json: bool, provider: Provider) -> None:
    """Print what the model would be shown: a line for each message and digest, and the tokens of each slice."""
    if as_json:
        print_json({"report": window.report, "request": render(window, provider)})
        return
    console = open_console()
    console.print(make_table(("slice", "what", "text"), _window_rows(window)))
    report = window.report
    slices = [(name, tokens) for name, tokens in report.by_slice.items() if tokens]
    console.print(make_table(("slice", "tokens"), [*slices, ("all", report.tokens), ("budget", report.budget_tokens)]))


def _window_rows(window: Window) -> Iterator[tuple[Cell, Cell, Cell]]:
    for entry in window.entries:
        match entry:
            case MessageEntry():
                yield entry.slice, _what(entry.message), one_line(entry.message.view.text)
            case RangeEntry():
                for message in entry.kept:
                    asked = entry.asked.get(message.seq, "")
                    yield "kept", _what(message), one_line(f"{asked} {message.view.text}".lstrip())
                if entry.digest_text:
                    shown = entry.shown
                    yield "digest", f"{shown.first_seq}-{shown.last_seq} {shown.kind}", one_line(entry.digest_text)
            case TextEntry():
                yield entry.slice, "", one_line(entry.text)


def _what(message: Message) -> str:
    return f"{message.seq} {message.view.name or message.view.role}"
