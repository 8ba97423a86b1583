"""What the Anthropic messages endpoint accepts as `system` and `messages`, rule by rule.

Stricter than the endpoint in one point: roles must alternate (the endpoint joins consecutive ones; DESIGN 3.6
promises alternation). Nothing of Everfold is used here, so that renderer and judge cannot share a mistake.

Source: Anthropic API reference "Create a message"; guides on tool use, extended thinking, vision, PDF support and
prompt caching; and the texts of the endpoint's 400 answers.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import Final, TypeAlias

from everfold.testing.judges.json_rules import list_json_violations

Wire: TypeAlias = Mapping[str, object]
BlockRule: TypeAlias = Callable[[Wire, str], Iterator[str]]

# Source: "A maximum of 4 blocks with cache_control may be provided".
CACHE_MARKS_LIMIT_COUNT: Final = 4
# Source: "String should match pattern '^[a-zA-Z0-9_-]+$'", for `tool_use.id` and `tool_result.tool_use_id`.
CALL_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
# Source: tool use guide, tool names.
TOOL_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# Source: vision guide, supported media types.
IMAGE_MEDIA_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
THINKING_TYPES: Final = frozenset({"thinking", "redacted_thinking"})
# Blocks of the provider's own tools: echoed as they came, so only their type is known here.
SERVER_BLOCK_TYPES: Final = frozenset(
    {
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "advisor_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "container_upload",
        "compaction",
    }
)
SERVER_CALL_TYPES: Final = frozenset({"server_tool_use", "mcp_tool_use"})
# Source: the reference's member lists; the endpoint answers "Extra inputs are not permitted" to any other.
BLOCK_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "document": frozenset({"type", "source", "title", "context", "citations", "cache_control"}),
    "search_result": frozenset({"type", "source", "title", "content", "citations", "cache_control"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
}
USER_TYPES: Final = frozenset({"text", "image", "document", "search_result", "tool_result", "container_upload"})
ASSISTANT_TYPES: Final = frozenset({"text", "tool_use"}) | THINKING_TYPES | SERVER_BLOCK_TYPES
RESULT_TYPES: Final = frozenset({"text", "image", "document", "search_result"})


def list_anthropic_violations(request: Wire, *, interleaved_thinking: bool = False) -> Iterator[str]:
    """Yield what the endpoint would refuse in `request`, system first, then the messages in order.

    Args:
        request: The request body; only `system`, `tools` and `messages` are looked at.
        interleaved_thinking: Whether thinking may also stand between later blocks of an assistant message; its first
            block must be thinking either way.
    """
    yield from list_json_violations(request)
    yield from _check_system(request.get("system"))
    yield from _check_cache_marks(request)
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: a non-empty list is required"
        return
    for index, message in enumerate(messages):
        yield from _check_message(message, f"messages[{index}]")
    yield from _check_roles(messages)
    yield from check_anthropic_pairing(messages)
    yield from _check_server_pairing(messages)
    yield from _check_unique_call_ids(messages)
    yield from _check_final(messages[-1], f"messages[{len(messages) - 1}]")
    for index, message in enumerate(messages):
        yield from _check_thinking_order(message, f"messages[{index}]", interleaved=interleaved_thinking)


def list_blocks(message: object) -> list[Wire]:
    """List the blocks of a message; a string stands for one text block, anything else for none."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def check_anthropic_pairing(messages: list[object]) -> Iterator[str]:
    """Yield where tool results do not open the message after their calls, or do not answer exactly its ids.

    Source: tool use guide: results follow at once, in the next user message, before any other content of it.
    """
    call_ids: list[str] = []
    for index, message in enumerate(messages):
        path = f"messages[{index}]"
        blocks = list_blocks(message)
        leading = list(takewhile(lambda block: block.get("type") == "tool_result", blocks))
        answered = [str(block.get("tool_use_id")) for block in leading]
        if sum(block.get("type") == "tool_result" for block in blocks) > len(leading):
            yield f"{path}: a tool_result stands after other content"
        for call_id in call_ids:
            if call_id not in answered:
                yield f"{path}: no tool_result answers call {call_id!r} of the message before"
        for position, call_id in enumerate(answered):
            if call_id not in call_ids:
                yield f"{path}: tool_result {call_id!r} answers no call of the message before"
            elif call_id in answered[:position]:
                yield f"{path}: call {call_id!r} is answered twice"
        call_ids = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
    for call_id in call_ids:
        yield f"the end: no tool_result answers call {call_id!r}"


def _check_system(system: object) -> Iterator[str]:
    match system:
        case None:
            return
        case str():
            if not system.strip():
                yield "system: the text is empty; leave the key out"
        case list():
            for index, block in enumerate(system):
                yield from _check_block(block, frozenset({"text"}), f"system[{index}]")
        case _:
            yield "system: a string or a list of text blocks is required"


def _check_message(message: object, path: str) -> Iterator[str]:
    if not isinstance(message, Mapping):
        yield f"{path}: an object is required"
        return
    for key in message:
        if key not in {"role", "content"}:
            yield f"{path}: unknown key {key!r}"
    role, content = message.get("role"), message.get("content")
    if role not in {"user", "assistant"}:
        yield f"{path}.role: {role!r} is neither user nor assistant"
        return
    if isinstance(content, str):
        if not content.strip():
            yield f"{path}.content: the text is empty"
    elif isinstance(content, list) and content:
        known = USER_TYPES if role == "user" else ASSISTANT_TYPES
        for index, block in enumerate(content):
            yield from _check_block(block, known, f"{path}.content[{index}]")
    else:
        yield f"{path}.content: a non-empty string or list of blocks is required"


def _check_block(block: object, known: frozenset[str], path: str) -> Iterator[str]:
    if not isinstance(block, Mapping):
        yield f"{path}: an object is required"
        return
    kind = block.get("type")
    if not isinstance(kind, str) or kind not in known:
        yield f"{path}.type: {kind!r} is none of {', '.join(sorted(known))}"
        return
    if kind in SERVER_BLOCK_TYPES:
        return
    for key in block:
        if key not in BLOCK_KEYS[kind]:
            yield f"{path}: unknown key {key!r} in a {kind} block"
    yield from _BLOCK_RULES[kind](block, path)


def _check_text_block(block: Wire, path: str) -> Iterator[str]:
    text = block.get("text")
    if not isinstance(text, str):
        yield f"{path}.text: a string is required"
    elif not text.strip():
        yield f"{path}.text: the text is empty"


def _check_image_block(block: Wire, path: str) -> Iterator[str]:
    yield from _check_source(block.get("source"), IMAGE_MEDIA_TYPES, {"base64", "url", "file"}, f"{path}.source")


def _check_document_block(block: Wire, path: str) -> Iterator[str]:
    kinds = {"base64", "url", "file", "text", "content"}
    yield from _check_source(block.get("source"), frozenset({"application/pdf"}), kinds, f"{path}.source")


def _check_search_result_block(block: Wire, path: str) -> Iterator[str]:
    content = block.get("content")
    if not isinstance(block.get("source"), str) or not isinstance(block.get("title"), str):
        yield f"{path}: source and title are required strings"
    yield from _check_inner(content, frozenset({"text"}), f"{path}.content")


def _check_source(source: object, media_types: frozenset[str], kinds: set[str], path: str) -> Iterator[str]:
    if not isinstance(source, Mapping) or source.get("type") not in kinds:
        yield f"{path}: an object with a type of {', '.join(sorted(kinds))} is required"
        return
    match source["type"]:
        case "base64":
            yield from _check_base64_source(source, media_types, path)
        case "url" if not str(source.get("url")).startswith(("https://", "http://")):
            yield f"{path}.url: a web address is required"
        case "file" if not _is_filled(source.get("file_id")):
            yield f"{path}.file_id: a non-empty string is required"
        case "text" if source.get("media_type") != "text/plain" or not _is_filled(source.get("data")):
            yield f"{path}: media_type text/plain and non-empty data are required"
        case "content":
            yield from _check_inner(source.get("content"), frozenset({"text", "image"}), f"{path}.content")


def _check_base64_source(source: Wire, media_types: frozenset[str], path: str) -> Iterator[str]:
    if source.get("media_type") not in media_types:
        yield f"{path}.media_type: {source.get('media_type')!r} is none of {', '.join(sorted(media_types))}"
    if not _is_base64(source.get("data")):
        yield f"{path}.data: non-empty base64 is required"


def _check_tool_use_block(block: Wire, path: str) -> Iterator[str]:
    yield from _check_pattern(block.get("id"), CALL_ID, f"{path}.id")
    yield from _check_pattern(block.get("name"), TOOL_NAME, f"{path}.name")
    if not isinstance(block.get("input"), Mapping):
        yield f"{path}.input: an object is required"


def _check_tool_result_block(block: Wire, path: str) -> Iterator[str]:
    yield from _check_pattern(block.get("tool_use_id"), CALL_ID, f"{path}.tool_use_id")
    content, is_error = block.get("content"), block.get("is_error", False)
    if not isinstance(is_error, bool):
        yield f"{path}.is_error: true or false is required"
    elif is_error and not content:
        yield f"{path}.content: must not be empty when is_error is true"
    if content is not None and content != []:
        yield from _check_inner(content, RESULT_TYPES, f"{path}.content")


def _check_inner(content: object, known: frozenset[str], path: str) -> Iterator[str]:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        yield f"{path}: a string or a list of blocks is required"
        return
    for index, block in enumerate(content):
        yield from _check_block(block, known, f"{path}[{index}]")


def _check_thinking_block(block: Wire, path: str) -> Iterator[str]:
    if not isinstance(block.get("thinking"), str):
        yield f"{path}.thinking: a string is required"
    if not _is_filled(block.get("signature")):
        yield f"{path}.signature: a non-empty string is required"


def _check_redacted_block(block: Wire, path: str) -> Iterator[str]:
    if not _is_filled(block.get("data")):
        yield f"{path}.data: a non-empty string is required"


_BLOCK_RULES: Final[Mapping[str, BlockRule]] = {
    "text": _check_text_block,
    "image": _check_image_block,
    "document": _check_document_block,
    "search_result": _check_search_result_block,
    "tool_use": _check_tool_use_block,
    "tool_result": _check_tool_result_block,
    "thinking": _check_thinking_block,
    "redacted_thinking": _check_redacted_block,
}


def _check_roles(messages: list[object]) -> Iterator[str]:
    roles = [message.get("role") if isinstance(message, Mapping) else None for message in messages]
    if roles[0] != "user":
        yield f"messages[0].role: the first message must be the user's, got {roles[0]!r}"
    for index in range(1, len(roles)):
        if roles[index] == roles[index - 1]:
            yield f"messages[{index}].role: two {roles[index]} messages in a row"


def _check_server_pairing(messages: list[object]) -> Iterator[str]:
    """Yield where the result of a server tool has no call before it, or a call no result before the user speaks again.

    Results of the client's own tools may stand between; a call that the last message leaves open is a paused turn.

    Source: "`web_search` tool use ... was found without a corresponding `web_search_tool_result` block"; guide on `pause_turn`.
    """
    waiting: set[str] = set()
    for index, message in enumerate(messages):
        for block in list_blocks(message):
            kind = str(block.get("type"))
            if kind in SERVER_CALL_TYPES:
                waiting.add(str(block.get("id")))
            elif kind.endswith("_tool_result"):
                call_id = str(block.get("tool_use_id"))
                if call_id not in waiting:
                    yield f"messages[{index}]: {kind} {call_id!r} answers no server call before it"
                waiting.discard(call_id)
            elif waiting and isinstance(message, Mapping) and message.get("role") == "user" and kind != "tool_result":
                yield f"messages[{index}]: no result answers the server calls {', '.join(sorted(waiting))}"
                waiting.clear()


def _check_unique_call_ids(messages: list[object]) -> Iterator[str]:
    """Source: "`tool_use` ids must be unique"."""
    seen: set[str] = set()
    for index, message in enumerate(messages):
        for block in list_blocks(message):
            if block.get("type") != "tool_use":
                continue
            call_id = str(block.get("id"))
            if call_id in seen:
                yield f"messages[{index}]: tool_use id {call_id!r} is not unique in the request"
            seen.add(call_id)


def _check_final(message: object, path: str) -> Iterator[str]:
    """Source: "final assistant content cannot end with trailing whitespace"."""
    blocks = list_blocks(message)
    if not isinstance(message, Mapping) or message.get("role") != "assistant" or not blocks:
        return
    text = blocks[-1].get("text")
    if isinstance(text, str) and text != text.rstrip():
        yield f"{path}: the final assistant text ends in whitespace"
    if blocks[-1].get("type") in THINKING_TYPES:
        yield f"{path}: the final assistant message ends in a thinking block"


def _check_thinking_order(message: object, path: str, *, interleaved: bool) -> Iterator[str]:
    kinds = [block.get("type") in THINKING_TYPES for block in list_blocks(message)]
    if not any(kinds):
        return
    if not kinds[0] or (not interleaved and kinds != sorted(kinds, reverse=True)):
        yield f"{path}: thinking blocks must come first"


def _check_cache_marks(request: Wire) -> Iterator[str]:
    marks = list(_find_cache_marks({key: request.get(key) for key in ("tools", "system", "messages")}, ""))
    if len(marks) > CACHE_MARKS_LIMIT_COUNT:
        yield f"request: {len(marks)} blocks carry cache_control, at most {CACHE_MARKS_LIMIT_COUNT} may"
    shortest_seen = False
    for path, owner in marks:
        mark = owner["cache_control"]
        if not isinstance(mark, Mapping) or mark.get("type") != "ephemeral":
            yield f"{path}.cache_control: type ephemeral is required"
            continue
        ttl = mark.get("ttl", "5m")
        if ttl not in {"5m", "1h"}:
            yield f"{path}.cache_control.ttl: {ttl!r} is neither 5m nor 1h"
        elif ttl == "1h" and shortest_seen:
            yield f"{path}.cache_control.ttl: a mark of 1h stands after one of 5m"
        shortest_seen = shortest_seen or ttl == "5m"


def _find_cache_marks(value: object, path: str) -> Iterator[tuple[str, Wire]]:
    """Yield the owners of cache marks in the order tools, system, messages; call arguments are data and skipped."""
    if isinstance(value, Mapping):
        if value.get("cache_control") is not None:
            yield path, value
        for key, member in value.items():
            if key not in {"input", "input_schema", "cache_control"}:
                yield from _find_cache_marks(member, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _find_cache_marks(member, f"{path}[{index}]")


def _check_pattern(value: object, pattern: re.Pattern[str], path: str) -> Iterator[str]:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        yield f"{path}: a string that matches {pattern.pattern} is required"


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_base64(value: object) -> bool:
    if not isinstance(value, str) or not value:
        return False
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
