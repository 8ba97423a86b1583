"""`everfold store`: what is done with a whole store."""

import shlex
from pathlib import Path
from typing import Annotated, cast

import typer

from everfold.adapters.sql.copy_store import SqlCopying, copy_store
from everfold.bootstrap import open_store
from everfold.cli.opening.engine import run_async
from everfold.cli.opening.options import Json
from everfold.cli.tables.output import print_json, say, show_progress
from everfold.core.threats.hiding import hide_in_addresses
from everfold.errors import InvalidInputError, NotFoundError

NAME = "store"
_SQLITE = "sqlite:///"

app = typer.Typer(name=NAME, no_args_is_help=True)


@app.callback()
def run() -> None:
    """Copy a whole store into another one.

    Examples:
    - `everfold store copy sqlite:///talk.db postgresql://ada@db.example/everfold`
    - `everfold store copy postgresql://ada@db.example/everfold sqlite:///backup.db --json`
    """


@app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The URL of the source store.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The URL of an empty store, or of an interrupted copy.")],
    *,
    as_json: Json = False,
) -> None:
    """Copy a whole store: every user, session, digest, certificate, memory and API key, with the same ids.

    Stop every writer of the source first: if the source is written during the copy, the copy is refused at the end. To
    continue an interrupted copy, run the same command again. Vectors are copied only between SQLite files; otherwise, the
    embedder of the settings makes them again.

    Examples:
    - `everfold store copy sqlite:///talk.db postgresql://ada@db.example/everfold`
    - `everfold store copy sqlite:///talk.db sqlite:////backup/talk.db --json`
    """
    _require_source(source, target)

    async def act() -> dict[str, int]:
        old = await open_store(source)
        try:
            new = await open_store(target)
            try:
                with show_progress("copying", None) as advance:
                    return await copy_store(
                        cast("SqlCopying", old), cast("SqlCopying", new), lambda what, count: advance(count, what)
                    )
            finally:
                await new.close()
        finally:
            await old.close()

    counts = run_async(act)
    if as_json:
        print_json({"copied": counts})
        return
    shown = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count)
    say(f"copied {shown or 'nothing that was not there'}")
    say(
        f"`EVERFOLD_STORE__URL={shlex.quote(hide_in_addresses(target))} everfold verify` checks every session of the copy"
    )


def _require_source(source: str, target: str) -> None:
    if "memory://" in {source, target}:
        raise InvalidInputError(
            "a store in memory would be lost after this command; name a file or a PostgreSQL database"
        )
    if source == target:
        raise InvalidInputError("FROM and TO are the same store; name an empty one as TO")
    path = Path(source.removeprefix(_SQLITE))
    if source.startswith(_SQLITE) and not path.exists():
        raise NotFoundError(f"there is no database {path}; name one as FROM, such as {_SQLITE}talk.db", path=str(path))
