"""What the OpenAI chat completions endpoint accepts as `messages`, rule by rule.

Nothing of Everfold is used here: the rules are read from the provider's reference and from the words of its refusals,
so that a mistake of the renderer cannot hide behind the same mistake in its judge.

Source: OpenAI API reference, "Create chat completion", request messages; and the texts of its 400 answers.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NoReturn, TypeAlias

from everfold.testing.judges.json_rules import list_json_violations

Wire: TypeAlias = Mapping[str, object]
PartRule: TypeAlias = Callable[[Wire, str], Iterator[str]]

# Source: the reference's member lists per role; `annotations` because its examples append the reply as it came.
MESSAGE_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset(
        {"role", "content", "name", "tool_calls", "refusal", "audio", "function_call", "annotations"}
    ),
    "tool": frozenset({"role", "content", "name", "tool_call_id"}),
}
# Source: "string too long. Expected a string with maximum length 40", for `tool_calls[].id`.
CALL_ID_LIMIT_CHARS: Final = 40
# Source: reference, function name: letters, digits, underscores and dashes, at most 64.
FUNCTION_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# Source: "Expected a string that matches the pattern '^[^\s<|\\/>]+$'", for `messages[].name`; at most 64.
PARTICIPANT_NAME: Final = re.compile(r"[^\s<|\\/>]{1,64}")
IMAGE_URL: Final = re.compile(r"https?://\S+|data:image/(?:png|jpeg|jpg|gif|webp);base64,[A-Za-z0-9+/=]+")
AUDIO_FORMATS: Final = frozenset({"wav", "mp3"})


def list_openai_violations(request: Wire) -> Iterator[str]:
    """Yield what the endpoint would refuse in `request`, in the order of the messages."""
    yield from list_json_violations(request)
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: a non-empty list is required"
        return
    for index, message in enumerate(messages):
        yield from _check_message(message, f"messages[{index}]")
    yield from check_openai_pairing(messages)


def check_openai_pairing(messages: list[object]) -> Iterator[str]:
    """Yield each call without its result directly after it, and each result without a call there.

    Ids are compared within one step only: the same id may come back in a later assistant message.
    """
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping):
            continue
        path = f"messages[{index}]"
        if message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            if call_id in open_ids:
                open_ids.remove(str(call_id))
            else:
                yield f"{path}.tool_call_id: {call_id!r} answers no open call of the preceding assistant message"
            continue
        yield from _unanswered(open_ids, path)
        open_ids = _call_ids(message)
    yield from _unanswered(open_ids, "the end")


def _unanswered(open_ids: list[str], path: str) -> Iterator[str]:
    for call_id in open_ids:
        yield f"{path}: no tool message answers call {call_id!r} before here"


def _call_ids(message: Wire) -> list[str]:
    calls = message.get("tool_calls")
    if message.get("role") != "assistant" or not isinstance(calls, list):
        return []
    return list(dict.fromkeys(str(call.get("id")) for call in calls if isinstance(call, Mapping)))


def _check_message(message: object, path: str) -> Iterator[str]:
    if not isinstance(message, Mapping):
        yield f"{path}: an object is required"
        return
    role = message.get("role")
    if not isinstance(role, str) or role not in MESSAGE_KEYS:
        yield f"{path}.role: {role!r} is none of {', '.join(MESSAGE_KEYS)}"
        return
    for key in message:
        if key not in MESSAGE_KEYS[role]:
            yield f"{path}: unknown key {key!r} in a {role} message"
    if "name" in message:
        yield from _check_pattern(message["name"], PARTICIPANT_NAME, f"{path}.name")
    if role == "assistant":
        yield from _check_assistant(message, path)
    else:
        yield from _check_content(message.get("content"), _PART_RULES_BY_ROLE[role], f"{path}.content")
    if role == "tool" and not _is_filled(message.get("tool_call_id")):
        yield f"{path}.tool_call_id: a non-empty string is required"


def _check_assistant(message: Wire, path: str) -> Iterator[str]:
    has_calls = bool(message.get("tool_calls")) or bool(message.get("function_call"))
    has_other = _is_filled(message.get("refusal")) or message.get("audio") is not None
    content = message.get("content")
    if content is not None:
        yield from _check_content(content, _ASSISTANT_PARTS, f"{path}.content")
    elif not has_calls and not has_other:
        yield f"{path}: an assistant message needs content or tool_calls"
    if not isinstance(message.get("refusal"), str | None):
        yield f"{path}.refusal: a string or null is required"
    if "tool_calls" in message:
        yield from _check_calls(message["tool_calls"], f"{path}.tool_calls")


def _check_calls(calls: object, path: str) -> Iterator[str]:
    if not isinstance(calls, list) or not calls:
        yield f"{path}: a non-empty list is required, or no such key"
        return
    seen: set[object] = set()
    for index, call in enumerate(calls):
        call_path = f"{path}[{index}]"
        if not isinstance(call, Mapping):
            yield f"{call_path}: an object is required"
            continue
        call_id = call.get("id")
        if not isinstance(call_id, str) or not 0 < len(call_id) <= CALL_ID_LIMIT_CHARS:
            yield f"{call_path}.id: a string of 1 to {CALL_ID_LIMIT_CHARS} characters is required"
        elif call_id in seen:
            yield f"{call_path}.id: {call_id!r} stands twice in one assistant message"
        else:
            seen.add(call_id)
        yield from _check_call_body(call, call_path)


def _check_call_body(call: Wire, path: str) -> Iterator[str]:
    kind = call.get("type")
    if kind not in {"function", "custom"}:
        yield f"{path}.type: {kind!r} is neither function nor custom"
        return
    yield from _check_keys(call, {"id", "type", str(kind)}, path)
    body = call.get(str(kind))
    if not isinstance(body, Mapping):
        yield f"{path}.{kind}: an object is required"
        return
    text_key = "arguments" if kind == "function" else "input"
    yield from _check_keys(body, {"name", text_key}, f"{path}.{kind}")
    yield from _check_pattern(body.get("name"), FUNCTION_NAME, f"{path}.{kind}.name")
    text = body.get(text_key)
    if not isinstance(text, str):
        yield f"{path}.{kind}.{text_key}: a string is required"
    elif kind == "function" and not _is_json(text):
        yield f"{path}.function.arguments: the string is no valid JSON"


def _check_content(content: object, rules: Mapping[str, PartRule], path: str) -> Iterator[str]:
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        yield f"{path}: a string or a non-empty list of parts is required"
        return
    for index, part in enumerate(content):
        part_path = f"{path}[{index}]"
        rule = rules.get(str(part.get("type"))) if isinstance(part, Mapping) else None
        if rule is None:
            yield f"{part_path}: not one of the parts {', '.join(rules)}"
        else:
            yield from rule(part, part_path)


def _check_text_part(part: Wire, path: str) -> Iterator[str]:
    yield from _check_keys(part, {"type", "text"}, path)
    if not isinstance(part.get("text"), str):
        yield f"{path}.text: a string is required"


def _check_refusal_part(part: Wire, path: str) -> Iterator[str]:
    yield from _check_keys(part, {"type", "refusal"}, path)
    if not isinstance(part.get("refusal"), str):
        yield f"{path}.refusal: a string is required"


def _check_image_part(part: Wire, path: str) -> Iterator[str]:
    yield from _check_keys(part, {"type", "image_url"}, path)
    image = part.get("image_url")
    if not isinstance(image, Mapping):
        yield f"{path}.image_url: an object with a url is required"
        return
    yield from _check_keys(image, {"url", "detail"}, f"{path}.image_url")
    yield from _check_pattern(image.get("url"), IMAGE_URL, f"{path}.image_url.url")
    if image.get("detail", "auto") not in {"auto", "low", "high", "original"}:
        yield f"{path}.image_url.detail: one of auto, low, high, original is required"


def _check_audio_part(part: Wire, path: str) -> Iterator[str]:
    yield from _check_keys(part, {"type", "input_audio"}, path)
    audio = part.get("input_audio")
    if not isinstance(audio, Mapping) or not _is_filled(audio.get("data")) or audio.get("format") not in AUDIO_FORMATS:
        yield f"{path}.input_audio: data and a format of {', '.join(sorted(AUDIO_FORMATS))} are required"


def _check_file_part(part: Wire, path: str) -> Iterator[str]:
    yield from _check_keys(part, {"type", "file"}, path)
    file = part.get("file")
    if not isinstance(file, Mapping) or not (_is_filled(file.get("file_id")) or _is_filled(file.get("file_data"))):
        yield f"{path}.file: a file_id or file_data is required"
    elif str(file.get("file_data")).lower().startswith(("https://", "http://")):
        yield f"{path}.file.file_data: data is required, not an address"


_TEXT_ONLY: Final[Mapping[str, PartRule]] = {"text": _check_text_part}
_ASSISTANT_PARTS: Final[Mapping[str, PartRule]] = {"text": _check_text_part, "refusal": _check_refusal_part}
_USER_PARTS: Final[Mapping[str, PartRule]] = {
    "text": _check_text_part,
    "image_url": _check_image_part,
    "input_audio": _check_audio_part,
    "file": _check_file_part,
}
_PART_RULES_BY_ROLE: Final[Mapping[str, Mapping[str, PartRule]]] = {
    "system": _TEXT_ONLY,
    "developer": _TEXT_ONLY,
    "user": _USER_PARTS,
    "tool": _TEXT_ONLY,
}


def _check_keys(value: Wire, known: set[str], path: str) -> Iterator[str]:
    for key in value:
        if key not in known:
            yield f"{path}: unknown key {key!r}"


def _check_pattern(value: object, pattern: re.Pattern[str], path: str) -> Iterator[str]:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        yield f"{path}: a string that matches {pattern.pattern} is required"


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
