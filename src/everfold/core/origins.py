"""Where a message, and every line derived from it, comes from."""

from typing import Literal

Origin = Literal["user", "assistant", "tool", "external", "system"]
"""Who said it. Only `user` can make a standing statement; `external` is always shown inside a fence.

Source: DESIGN G9.
"""
