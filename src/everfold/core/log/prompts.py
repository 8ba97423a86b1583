"""The system prompt and the tool schemas of a session."""

from dataclasses import dataclass, field

from everfold.core.primitives.json_values import JsonValue, canonical_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The system prompt and the tool schemas of a session, as they were given. Tools are in either provider's form."""

    system: str | None = None
    tools: tuple[JsonValue, ...] = field(default=())

    def is_as(self, other: "Prompt") -> bool:
        """Whether another one says the same; the order of members within a tool schema says nothing."""
        return self.system == other.system and (
            self.tools is other.tools or canonical_json(self.tools) == canonical_json(other.tools)
        )
