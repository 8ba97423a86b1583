"""How memory is kept for an agent. The fields are settings of the same name; see docs/reference/settings.md."""

from dataclasses import dataclass
from typing import Literal

from everfold.errors import InvalidInputError

MemorySystem = Literal["summarization", "structured"]
"""summarization: digests only. structured: items, dreams, snapshot and delta as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPolicy:
    """What an agent's memory does, and its limits.

    Attributes:
        recall_enabled: Recall for the newest user message in the dynamic suffix: of the session's folded messages, and
            with structured memory of all that the user's memory holds.
        recall_entries: How many results recall gives at most.
        delta_max_chars: The longest delta.
        user_char_limit: The longest always-injected text about the person.
        agent_char_limit: The longest one of the agent's own notes.
        extract_ratio: The model's pass is due when so much of the limit was said since the last.
        extract_tool_calls: Or when so many tools were called.
        review: Dreams wait for a person's approval.

    Raises:
        InvalidInputError: a value does not fit.

    Source: DESIGN section 6; REQUIREMENTS HM-1 and OF-41 for the limits.
    """

    system: MemorySystem = "summarization"
    recall_enabled: bool = True
    recall_entries: int = 8
    delta_max_chars: int = 1200
    user_char_limit: int = 1375
    agent_char_limit: int = 2200
    extract_ratio: float = 0.30
    extract_tool_calls: int = 10
    review: bool = False

    def __post_init__(self) -> None:
        if self.recall_entries < 1:
            raise InvalidInputError(f"recall.entries must be at least 1, got {self.recall_entries}")
        for name in ("delta_max_chars", "user_char_limit", "agent_char_limit", "extract_tool_calls"):
            if getattr(self, name) < 1:
                raise InvalidInputError(f"memory.{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.extract_ratio <= 1:
            raise InvalidInputError(f"memory.extract_ratio must be above 0 and at most 1, got {self.extract_ratio}")

    @property
    def has_suffix(self) -> bool:
        """Whether the dynamic suffix can hold anything of ours beside the continuity note: recall, or a delta."""
        return self.recall_enabled or self.is_structured

    @property
    def is_structured(self) -> bool:
        """The one predicate that decides whether memory does anything at all."""
        return self.system == "structured"
