"""A provider that has a coding agent run commands, in whichever form it is asked, so that its context fills."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from tests.server.gateway.played import Planned, PlayedProvider, Sent

STEPS_COUNT: Final = 24
OUTPUT: Final = 'for n in $(seq 1 120); do echo "line $n of step {step} says berth $n is free"; done'
_PROMPT: Final = re.compile(r"PROMPT-(\d+)")
_SHELLS: Final = ("Bash", "bash", "shell", "exec_command", "shell_command", "local_shell")


class SteeringProvider(PlayedProvider):
    """Answers each prompt with so many commands, one after another, and then with a text.

    A request without a tool that runs commands is one beside the conversation (a title, a summary): it gets a text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps: dict[str, int] = {}

    def take(self, sent: Sent) -> tuple[Planned, str]:
        """See `PlayedProvider`."""
        self.sent.append(sent)
        shell = find_shell(sent.body.get("tools") or ())
        if shell is None:
            return Planned(), "A title"
        prompt = find_prompt(sent.text)
        done = self.steps.setdefault(prompt, 0)
        if done >= STEPS_COUNT:
            return Planned(), f"Done with {prompt}."
        self.steps[prompt] = done + 1
        return Planned(calls=((f"call_{prompt}_{done}", shell, write_call(shell, f"{prompt}-{done}")),)), ""


def find_shell(tools: Any) -> str | None:
    """The name of the tool that runs commands."""
    names = {
        tool.get("name") or (tool.get("function") or {}).get("name") for tool in tools if isinstance(tool, Mapping)
    }
    return next((name for name in _SHELLS if name in names), None)


def find_prompt(text: str) -> str:
    """The marker of the newest prompt: the largest that stands there."""
    numbers = [int(found) for found in _PROMPT.findall(text)]
    return f"P{max(numbers, default=0)}"


def write_call(shell: str, step: str) -> str:
    """The arguments of a command in the tool's own form."""
    command = OUTPUT.format(step=step)
    if shell == "exec_command":
        return json.dumps({"cmd": command})
    if shell == "shell":
        return json.dumps({"command": ["bash", "-lc", command]})
    return json.dumps({"command": command, "description": "Count"})
