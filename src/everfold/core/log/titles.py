"""Titles: a session in one line, as it was given, or from its first words and its last, without a model."""

import re
from typing import Final

from everfold.core.log.messages import Message, TextPart
from everfold.core.primitives.json_values import clean_text
from everfold.core.threats.unseen import strip_unseen

TITLE_CHARS: Final = 80
MOST_TITLE_CHARS: Final = 200
"""How long a title that is given may be. Source: own choice; chat apps and coding agents make titles of under 100."""
PREVIEW_CHARS: Final = 140
_MARKS: Final = re.compile(r"^\s*(\[\[keep\]\]|#{1,6} |[-*>] |```\w*)\s*", re.IGNORECASE)
_EMPHASIS: Final = re.compile(r"\*\*|`")
_SENTENCE: Final = re.compile(r"(.{30,}?[.!?])\s")
_READ_CHARS: Final = 2_000
"""How far into a message or a title a line is looked for."""
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""What moves a terminal's cursor and no text. Source: ECMA-48; the ends of lines are spaces here."""


def clean_title(title: object) -> str:
    """A title from outside as it is stored: one line without what is not seen, shortened; empty for what is no text."""
    if not isinstance(title, str):
        return ""
    line = " ".join(strip_unseen(_CONTROLS.sub("", clean_text(title[:_READ_CHARS]))).split())
    return _shorten(line, MOST_TITLE_CHARS)


def make_title(message: Message | None) -> str:
    """The first sentence of a message, shortened; empty where it has no words."""
    text = _read_words(message)
    sentence = _SENTENCE.match(text + " ")
    return _shorten(sentence[1] if sentence else text, TITLE_CHARS)


def make_preview(message: Message | None) -> str:
    """How a message begins, on one line; the names of its calls where it has no words."""
    text = _read_words(message)
    if not text and message is not None and message.view.calls:
        text = "calls " + ", ".join(call.name for call in message.view.calls)
    return _shorten(text, PREVIEW_CHARS)


def _read_words(message: Message | None) -> str:
    """The words of a message on one line, without the mark that its first line begins with."""
    if message is None:
        return ""
    text = "\n".join(part.text for part in message.view.parts if isinstance(part, TextPart))[:_READ_CHARS]
    return " ".join(_EMPHASIS.sub("", _MARKS.sub("", text)).split())


def _shorten(text: str, most_chars: int) -> str:
    """A text of at most so many characters, cut between words where there is one."""
    if len(text) <= most_chars:
        return text
    cut = text[: most_chars - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(",;:") + "\u2026"
