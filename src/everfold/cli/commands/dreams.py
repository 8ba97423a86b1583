"""`everfold dreams`: what was dreamt, and a person's judgement of it."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from everfold.cli.opening.engine import open_memory, run_async
from everfold.cli.opening.options import Db, Json, KnownBy, Owner
from everfold.cli.tables.dream_rows import ShownDream, read_dream, show_dreams
from everfold.core.memory.topics import Dream
from everfold.errors import InvalidInputError
from everfold.memory import Memory

NAME = "dreams"

app = typer.Typer(name=NAME, invoke_without_command=True)
_Dream = Annotated[str, typer.Argument(metavar="DREAM", help="A dream's id; `everfold dreams` lists them.")]
_Judge = Callable[[Memory], Awaitable[Dream]]


@app.callback()
def run(
    context: typer.Context,
    user: Owner = "default",
    agent: KnownBy = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 20,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List dreams, newest first, each with the lines that it added to topics and removed from them.

    Examples:
    - `everfold dreams --user ilse --db everfold.db`
    - `everfold dreams --user ilse -n 3 --json`
    """
    if (command := context.invoked_subcommand) is not None:
        if db is not None or agent is not None or user != "default" or as_json:
            raise InvalidInputError(f"put the options after `{command}`: everfold dreams {command} ... --db FILE")
        return

    async def act() -> list[ShownDream]:
        async with open_memory(context, db, user, agent) as memory:
            return [await read_dream(memory, dream) for dream in await memory.dreams(limit=count)]

    show_dreams(run_async(act), as_json=as_json)


@app.command()
def approve(
    context: typer.Context, dream: _Dream, user: Owner = "default", db: Db = None, *, as_json: Json = False
) -> None:
    """Apply a proposed dream.

    Examples:
    - `everfold dreams approve drm_01 --user ilse --db everfold.db`
    - `everfold dreams approve drm_01 --json`
    """
    _judge(context, db, user, lambda memory: memory.approve(dream), as_json=as_json)


@app.command()
def reject(
    context: typer.Context, dream: _Dream, user: Owner = "default", db: Db = None, *, as_json: Json = False
) -> None:
    """Drop a proposed dream. It is not proposed again.

    Examples:
    - `everfold dreams reject drm_01 --user ilse --db everfold.db`
    - `everfold dreams reject drm_01 --json`
    """
    _judge(context, db, user, lambda memory: memory.reject(dream), as_json=as_json)


@app.command()
def revert(
    context: typer.Context, dream: _Dream, user: Owner = "default", db: Db = None, *, as_json: Json = False
) -> None:
    """Restore the topics that a dream changed, and remove the topics that it created.

    Examples:
    - `everfold dreams revert drm_01 --user ilse --db everfold.db`
    - `everfold dreams revert drm_01 --json`
    """
    _judge(context, db, user, lambda memory: memory.revert(dream), as_json=as_json)


def _judge(context: typer.Context, db: Path | None, user: str, judge: _Judge, *, as_json: bool) -> None:
    async def act() -> ShownDream:
        async with open_memory(context, db, user) as memory:
            return await read_dream(memory, await judge(memory))

    show_dreams([run_async(act)], as_json=as_json)
