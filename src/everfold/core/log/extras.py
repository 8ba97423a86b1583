"""Extras: the members of a message that Everfold does not read and gives back to the provider it came from.

Providers add members that must come back: the reasoning of the models behind OpenAI's form (`reasoning_content`,
`reasoning_details`), the signature of a thought beside a call (`extra_content`), who made a call (`caller`). They are shown
with the message that has them, in its own form, where it is shown whole: their tokens are counted with it. A message that
is cut, or was stored when they were not counted, is shown without.
"""

from typing import Final

from everfold.core.log.envelopes import ENVELOPE_KEY
from everfold.core.log.interruption import INTERRUPTED_KEY
from everfold.core.log.messages import Cut, MessageView, Part
from everfold.core.primitives.json_values import JsonObject
from everfold.core.text.tokens import estimate_json_tokens

EXTRAS_PART: Final = -1
"""The part that a cut names which leaves the extras out."""
EXTRAS_CUT: Final = Cut(part=EXTRAS_PART, start=0, end=0)

ASKED_KEY: Final = "context_asked_since"
"""The member of a stored context refresh that says since when each source was asked. No provider is sent it."""
_OPENAI_KEYS: Final = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "function_call"}
    | {INTERRUPTED_KEY, ENVELOPE_KEY, ASKED_KEY}
)
"""What is read of a message in OpenAI's form. Source: the reference of chat completions."""
_PART_KEYS: Final = {
    "openai": {
        "text": frozenset({"type", "text", "refusal"}),
        "image": frozenset({"type", "image_url"}),
        "call": frozenset({"id", "type", "function", "custom"}),
    },
    "anthropic": {
        "text": frozenset({"type", "text", "citations", "cache_control"}),
        "image": frozenset({"type", "source", "cache_control"}),
        "document": frozenset({"type", "source", "title", "context", "citations", "cache_control"}),
        "call": frozenset({"type", "id", "name", "input", "cache_control"}),
        "result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    },
}
"""The same of its parts. Any other part is given back whole or not at all, or stands for a message that has extras itself."""


def read_extras(wire: JsonObject) -> JsonObject:
    """What a message in OpenAI's form has beside what is read of it. Anthropic takes nothing there but role and content."""
    if wire.keys() <= _OPENAI_KEYS:
        return {}
    extras = {key: value for key, value in wire.items() if key not in _OPENAI_KEYS}
    if isinstance(audio := extras.pop("audio", None), dict) and not read_transcript(wire) and "id" in audio:
        extras["audio"] = {"id": audio["id"]}  # a request takes nothing else of it
    return extras


def read_transcript(wire: JsonObject) -> str:
    """What a spoken reply says; empty where it has no transcript.

    The window shows these words instead of the recording: a request names it by an id, which the provider refuses once it
    has expired. Source: the reference of chat completions, `audio.expires_at` of a message.
    """
    audio = wire.get("audio")
    transcript = audio.get("transcript") if isinstance(audio, dict) else None
    return transcript if isinstance(transcript, str) else ""


def read_audio_id(wire: JsonObject) -> str:
    """The id of a spoken reply, by which alone a client gives it back; empty for any other message.

    Source: the reference of chat completions, `audio.id` of an assistant message.
    """
    audio = wire.get("audio") if wire.get("role") == "assistant" else None
    found = audio.get("id") if isinstance(audio, dict) else None
    return found if isinstance(found, str) else ""


def read_part_extras(part: Part, form: str) -> JsonObject:
    """The same of one part of a message in this form."""
    known = _PART_KEYS.get(form, {}).get(part.kind)
    if known is None or part.raw is None or part.raw.keys() <= known:
        return {}
    return {key: value for key, value in part.raw.items() if key not in known}


def has_extras(view: MessageView) -> bool:
    """Whether a message, or a part of it, has any."""
    return bool(view.extras) or any(read_part_extras(part, view.format) for part in view.parts)


def estimate_extras(view: MessageView) -> int:
    """The fixed estimate of the tokens of all extras of a message; 0 for none."""
    found = [view.extras, *(read_part_extras(part, view.format) for part in view.parts)]
    return sum(estimate_json_tokens(extras) for extras in found if extras)
