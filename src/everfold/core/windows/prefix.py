"""How much of a request stays as it was in the next one: what a provider's cache can keep.

A request is read as a row of parts: tool schemas, system text, then each message part by part with its role. Cache
markers are no part of it, because moving one changes nothing that is cached.

Source: DESIGN section 1, G5.
"""

import json
from collections.abc import Iterator, Sequence

from everfold.core.primitives.json_values import JsonObject, JsonValue


def list_parts(request: JsonObject) -> list[bytes]:
    """The parts of a rendered request in the order in which a provider reads them, cache markers left out."""
    parts = [_encode("tool", tool) for tool in _items(request.get("tools"))]
    parts += [_encode("system", block) for block in _items(request.get("system"))]
    for message in _items(request.get("messages")):
        if isinstance(message, dict):
            parts += _message_parts(message)
    return parts


def _message_parts(message: JsonObject) -> Iterator[bytes]:
    """The parts of one message; what belongs to the message as a whole (a name, a call id) rides on each."""
    own = {key: value for key, value in message.items() if key not in {"content", "tool_calls"}}
    role = json.dumps(own, ensure_ascii=False, separators=(",", ":"))
    yield from (_encode(role, part) for part in _items(message.get("content")))
    yield from (_encode(role, call) for call in _items(message.get("tool_calls")))


def _items(value: JsonValue) -> Sequence[JsonValue]:
    if value is None:
        return ()
    return value if isinstance(value, list) else (value,)


def _encode(role: str, part: JsonValue) -> bytes:
    if isinstance(part, dict):
        part = {key: value for key, value in part.items() if key != "cache_control"}
    text = role + json.dumps(part, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def count_stable_bytes(before: Sequence[bytes], after: Sequence[bytes]) -> int:
    """The bytes at the beginning of `before` that `after` begins with too, in whole parts."""
    stable_bytes = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        stable_bytes += len(old)
    return stable_bytes
