"""Patterns made ready when they are first used: on import, all of them together would cost tens of milliseconds."""

import re
from functools import cache


@cache
def compile_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern made ready, once."""
    return re.compile(pattern, flags)
