"""Who stands behind a message's content."""

from typing import Literal, TypeAlias

Origin: TypeAlias = Literal["user", "assistant", "tool", "external", "system"]
"""Where content comes from; authority follows from it and only sinks. Source: DESIGN section 1, G9."""
