"""What Everfold handed to a client comes back in its transcript, and is no new message."""

import re
from typing import Final

from everfold.core.primitives.json_values import JsonValue
from everfold.core.text.frames import HANDED_BEGIN, HANDED_END

_HANDED: Final = re.compile(rf"\s*{re.escape(HANDED_BEGIN)}.*?(?:{re.escape(HANDED_END)}|\Z)\s*", re.DOTALL)
_WRAPPING: Final = re.compile(r"</?system-reminder>|\b\w+ hook additional context:")
"""What clients put around the additional context of a hook."""


def cut_handed(message: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """A message without what Everfold handed to the client; None where nothing else is left of it.

    Only what stands in texts of the user and of the program is looked at: what a model repeats, it said.
    """
    content = message.get("content")
    if message.get("role") not in {"user", "system", "developer"} or not _holds(content):
        return message
    rest = _cut(content)
    return {**message, "content": rest} if rest else None


def _holds(content: JsonValue) -> bool:
    if isinstance(content, str):
        return HANDED_BEGIN in content
    return isinstance(content, list) and any(isinstance(part, dict) and _holds(part.get("text")) for part in content)


def _cut(content: JsonValue) -> JsonValue:
    if isinstance(content, str):
        return _cut_text(content)
    parts: list[JsonValue] = []
    for part in content if isinstance(content, list) else []:
        text = part.get("text") if isinstance(part, dict) else None
        if not isinstance(part, dict) or not isinstance(text, str):
            parts.append(part)
        elif rest := _cut_text(text):
            parts.append({**part, "text": rest})
    return parts


def _cut_text(text: str) -> str:
    """A text without ours; nothing where what is left is what a client puts around the context of a hook."""
    rest = _HANDED.sub("", text)
    is_empty = rest != text and not _WRAPPING.sub("", rest).strip()
    return "" if is_empty else rest
