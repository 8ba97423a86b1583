"""Where the coding agents are that `make agents` installs."""

import os
from pathlib import Path
from typing import Final

import pytest

INSTALLED: Final = os.environ.get("CODING_AGENTS", "")
"""The folder of their packages; the variable has no meaning for Everfold itself."""
NEEDS_AGENTS: Final = pytest.mark.skipif(not INSTALLED, reason="needs the coding agents; `make agents` installs them")

_PATTERNS: Final = {
    "claude-code": "@anthropic-ai/claude-code-linux-*/claude",
    "codex": "@openai/codex-linux-*/vendor/*/bin/codex",
    "opencode": "opencode-linux-*/bin/opencode",
}


def find_program(name: str) -> str:
    """The program of an agent for this machine, from its package; another machine's package is installed empty."""
    found = [path for path in sorted(Path(INSTALLED).glob(_PATTERNS[name])) if path.stat().st_size > 1_000_000]
    return str(found[0])
