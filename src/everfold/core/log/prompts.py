"""The system prompt and the tool schemas of a session."""

from dataclasses import dataclass, field

from everfold.core.primitives.json_values import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The system prompt and the tool schemas of a session, as they were given. Tools are in either provider's form."""

    system: str | None = None
    tools: tuple[JsonValue, ...] = field(default=())
