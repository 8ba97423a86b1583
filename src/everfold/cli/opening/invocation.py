"""What was given before the command's name; read without the engine, so that help is quick."""

from dataclasses import dataclass
from pathlib import Path

import typer


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """What was given before the command's name."""

    config: Path | None = None
    debug: bool = False


def invocation_of(context: typer.Context) -> Invocation:
    """What was given before the command's name."""
    found = context.find_object(Invocation)
    return found if found is not None else Invocation()
