"""An answer shown as Markdown while it comes: whole paragraphs as they end, and what is not whole below them."""

import re
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown

from everfold.cli.tables.output import plain

_FENCE: Final = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_FRAMES_PER_SEC: Final = 12


class MarkdownWriter:
    """Writes one answer. Links are shown with their address: no text can hide where one leads."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._open = ""
        self._live = Live(console=console, transient=True, refresh_per_second=_FRAMES_PER_SEC)
        self._live.start()

    def write(self, text: str) -> None:
        """Take the next piece of the answer."""
        self._open += plain(text)
        whole, self._open = split_whole(self._open)
        if whole:
            self._live.console.print(_render(whole))
        self._live.update(_render(self._open))

    def end(self) -> None:
        """Show what is left: the answer has ended, or was stopped."""
        self._live.stop()
        if self._open.strip():
            self._console.print(_render(self._open))
        self._open = ""


def split_whole(text: str) -> tuple[str, str]:
    """The paragraphs of a text that have ended, and the rest. A block of code ends with its fence."""
    place = 0
    for found in re.finditer(r"\n[ \t]*\n", text):
        if len(_FENCE.findall(text, 0, found.start())) % 2 == 0:
            place = found.end()
    return text[:place], text[place:]


def _render(text: str) -> Markdown:
    return Markdown(text, hyperlinks=False)
