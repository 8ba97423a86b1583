"""Objects of the providers' SDKs as the JSON that a request takes: a reply is appended as it came.

The SDKs give pydantic models: whole messages, content blocks and tool calls, which a program may also put into a dict of
its own. No SDK is imported here; what has `model_dump` is such an object.
"""

from collections.abc import Mapping
from typing import Final, Protocol, runtime_checkable

from everfold.core.log.responses import PARTS
from everfold.core.log.wire import ANTHROPIC_BLOCKS
from everfold.errors import InvalidInputError

_PART_TYPES: Final = {*ANTHROPIC_BLOCKS, "text", "refusal", "image_url", "file", *PARTS} - {"compaction"}
"""The types of what stands in a message's content. `compaction` is also an item of the Responses API, a message itself."""
_SDK_KEYS = frozenset({"parsed", "parsed_arguments", "parsed_output"})
"""What the SDKs add to a reply for the program, and no provider takes back."""

_NESTED_KEYS = frozenset({"content", "tool_calls", "function", "output"})
"""Where in a message there are parts that the SDKs add to. The input of a call is the model's own."""

_DEPTH = 4
"""From a message over its content and a block to the content of that block, which is a list again."""


@runtime_checkable
class SdkObject(Protocol):
    """A pydantic model."""

    def model_dump(self, *, mode: str, by_alias: bool, exclude_none: bool) -> dict[str, object]:
        """Its fields as JSON values."""
        ...


def to_wire(message: object) -> object:
    """A message with each SDK object in it as JSON; a message without one is given as it is.

    Fields that are None are left out, which is what a provider takes them for. Of Anthropic's reply its role and its
    content are kept: the API refuses the rest in a request. A completion of OpenAI's stands for the message of its one choice.

    Raises:
        InvalidInputError: a completion has no choice, or several.

    Source: the two SDKs' own examples, which send `response.choices[0].message` and `response.content` back.
    """
    return _convert(message, _DEPTH)


def _convert(value: object, depth: int) -> object:
    if value is None or depth < 0 or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        members = {key: _convert(member, depth - 1) for key, member in value.items()}
        return members if any(members[key] is not member for key, member in value.items()) else value
    if isinstance(value, list | tuple):
        items = [_convert(item, depth - 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return _dump(value) if isinstance(value, SdkObject) else value


def _dump(value: SdkObject) -> object:
    dumped = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if dumped.get("object") == "response":
        dumped = {key: dumped[key] for key in ("object", "output") if key in dumped}
    elif dumped.get("object") == "chat.completion":
        dumped = _get_message(dumped.get("choices"))
    elif "finish_reason" in dumped and isinstance(message := dumped.get("message"), dict):  # one choice of a completion
        dumped = message
    elif dumped.get("type") == "message" and "model" in dumped:  # Anthropic's; an item of OpenAI's names no model
        dumped = {key: dumped[key] for key in ("role", "content") if key in dumped}
    return _drop_sdk_keys(dumped)


def _get_message(choices: object) -> dict[str, object]:
    """The message of a completion that has one choice."""
    match choices:
        case [{"message": dict(message)}]:
            return message
        case _:
            count = len(choices) if isinstance(choices, list) else 0
            raise InvalidInputError(
                f"a completion with {count} choices is not one message; append `completion.choices[0].message`"
            )


def require_message(wire: object) -> None:
    """Refuse JSON that holds a message, or belongs into one, since it may be read as something else.

    Raises:
        InvalidInputError: it is a completion, one of its choices, or a content block; says what to append instead.
    """
    if not isinstance(wire, Mapping) or "role" in wire:
        return
    if isinstance(wire.get("choices"), list):
        raise InvalidInputError("a completion is no message; append its `choices[0].message`")
    if isinstance(wire.get("message"), Mapping):
        raise InvalidInputError("a choice of a completion is no message; append its `message`")
    if isinstance(kind := wire.get("type"), str) and kind in _PART_TYPES:
        raise InvalidInputError(
            f'a content block of type {kind!r} is no message; append {{"role": ..., "content": [...]}} with all blocks in it'
        )


def _drop_sdk_keys(value: object) -> object:
    if isinstance(value, list):
        return [_drop_sdk_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _drop_sdk_keys(member) if key in _NESTED_KEYS else member
        for key, member in value.items()
        if key not in _SDK_KEYS
    }
