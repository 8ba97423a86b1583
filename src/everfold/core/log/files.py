"""Files of messages: a PDF by its data, by its address, or by the id under which its provider holds it.

Source: the references of chat completions (`file`), of the Responses API (`input_file`) and of Anthropic's messages
(`document`).
"""

import base64
import re
from dataclasses import dataclass
from typing import Final

from everfold.core.log.messages import DocumentPart, ImagePart, OpaquePart, Part, ResultPart
from everfold.core.log.wire import read_wire
from everfold.core.primitives.json_values import JsonObject, JsonValue, clean_text
from everfold.errors import InvalidInputError

PDF: Final = "application/pdf"
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_LOOKED_CHARS: Final = 64
_WEB: Final = ("https://", "http://")
_ATTACHED: Final = ("image", "image_url", "input_image", "file", "input_file", "document")


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file; at most one of its data in base64, its address, and OpenAI's id of it is there.

    Attributes:
        title: As its message names it; empty where it does not.
    """

    title: str = ""
    media_type: str = ""
    data: str | None = None
    url: str | None = None
    file_id: str | None = None

    @property
    def name(self) -> str:
        """Its title as the name of a file, which OpenAI asks for."""
        title = self.title or "document"
        return f"{title}.pdf" if self.media_type == PDF and "." not in title else title

    @property
    def text(self) -> str | None:
        """Its words, where it is plain text."""
        if self.data is None or self.media_type != "text/plain":
            return None
        try:
            return base64.b64decode(self.data, validate=True).decode("utf-8")
        except ValueError:
            return None

    @property
    def marker(self) -> str:
        """The line that stands for it in a form that cannot carry it."""
        place = f" at {self.url}" if self.url else ""
        return f"[file {self.title or 'without a name'}{place}, not shown in this form]"


def find_file(raw: JsonObject) -> File | None:
    """The file that a content part of any form holds; None where it is no file, or is text or content of its own."""
    kind = raw.get("type")
    if kind == "input_file":
        return _read_openai(raw)
    held = raw.get("file") if kind == "file" else raw.get("source") if kind == "document" else None
    if not isinstance(held, dict):
        return None
    if kind == "file":
        return _read_openai(held)
    return _read_anthropic(_text(raw.get("title")), held) if held.get("type") in ("base64", "url", "file") else None


def _read_openai(held: JsonObject) -> File:
    title, data = _text(held.get("filename")), _text(held.get("file_data"))
    url, file_id = _text(held.get("file_url")), _text(held.get("file_id"))
    head, is_data, body = data.partition(";base64,")
    if is_data and head.startswith("data:") and looks_base64(body):
        return File(title=title, media_type=head[5:], data=body)
    url = next((one for one in (url, data) if one.startswith(_WEB)), "")
    return File(title=title, url=url or None, file_id=None if url else file_id or None)


def _read_anthropic(title: str, source: JsonObject) -> File:
    data, url, media_type = _text(source.get("data")), _text(source.get("url")), _text(source.get("media_type"))
    if source.get("type") == "base64" and looks_base64(data):
        return File(title=title, media_type=media_type, data=data)
    return File(title=title, media_type=PDF, url=url if source.get("type") == "url" and url.startswith(_WEB) else None)


def _text(value: JsonValue) -> str:
    return clean_text(value) if isinstance(value, str) else ""


def looks_base64(data: str) -> bool:
    """Whether data can be base64, by its length and its two ends, where a cut or a `data:` before it shows.

    To read all of it would cost every window of a session with a picture.
    """
    ends = data[:_LOOKED_CHARS], data[-_LOOKED_CHARS:]
    return data != "" and len(data) % 4 == 0 and data.isascii() and all(map(_BASE64.fullmatch, ends))


def read_attached(result: ResultPart) -> tuple[Part, ...]:
    """The images and the files that the result of a call holds beside its text, in their order."""
    raw = result.raw or {}
    content = raw.get("output", raw.get("content"))
    if not isinstance(content, list) or not any(isinstance(it, dict) and it.get("type") in _ATTACHED for it in content):
        return ()
    try:
        parts = read_wire({"role": "user", "content": content}).parts
    except InvalidInputError:
        return ()
    return tuple(part for part in parts if isinstance(part, ImagePart) or is_file(part))


def is_file(part: Part) -> bool:
    """Whether a part holds a file that is not read."""
    match part:
        case DocumentPart():
            return not part.text and find_file(part.raw) is not None
        case OpaquePart():
            return find_file(part.raw) is not None
        case _:
            return False


def read_inner_texts(document: DocumentPart) -> list[str]:
    """The texts of a document whose content is blocks of its own, which only Anthropic has."""
    source = document.raw.get("source")
    content = source.get("content") if isinstance(source, dict) and source.get("type") == "content" else None
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [text for block in blocks if isinstance(block, dict) and isinstance(text := block.get("text"), str)]
