"""`everfold keys`: make a key that opens a server, list keys, revoke one."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, TypeAlias

import typer

from everfold.adapters.system.clock import SystemClock
from everfold.cli.engine import open_engine, run_async
from everfold.cli.options import Db, Json
from everfold.cli.output import Cell, print_json, print_table, say
from everfold.core.access import AccessKey, judge
from everfold.engine import Everfold
from everfold.errors import ConflictError, NotFoundError
from everfold.services.keys import MadeKey

NAME = "keys"
MOST_DAYS = 36_500

app = typer.Typer(name=NAME, no_args_is_help=True)
NamedKey: TypeAlias = tuple[AccessKey, str]
"""A key, and its scope as people say it."""

_COLUMNS = ("key", "id", "scope", "state", "expires", "last used")


@app.callback()
def run() -> None:
    """Say who may ask a server, and what for.

    Examples:
    - `everfold keys add desk --scope admin --db everfold.db`
    - `everfold keys list --json`
    """


@app.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What people call it.")],
    scope: Annotated[
        str,
        typer.Option(
            metavar="SCOPE",
            help="Whom it speaks for: `admin`, `user:NAME` (a name, `default`, or an id), `agent:NAME`.",
        ),
    ],
    read_only: Annotated[bool, typer.Option("--read-only", help="It changes nothing.")] = False,  # noqa: FBT002 - typer's form
    days: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=MOST_DAYS, help="How long it works; for ever when left out.")
    ] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Make a key. Its secret is printed this once: only a hash of it is stored.

    Examples:
    - `everfold keys add desk --scope admin --db everfold.db`
    - `everfold keys add phone --scope user:ilse --read-only --days 90 --json`
    """

    async def act() -> MadeKey:
        async with open_engine(context, db, must_exist=False) as engine:
            lifetime = None if days is None else timedelta(days=days)
            return await engine.keys.make(name, scope, is_read_only=read_only, lifetime=lifetime)

    made = run_async(act)
    if as_json:
        print_json({"secret": made.secret, **_describe(made.key)})
        return
    typer.echo(made.secret)
    say(f"The secret of {made.key.name}, {made.key.scope.describe()}: keep it, it is not shown again.")


@app.command(name="list")
def list_all(
    context: typer.Context,
    after: Annotated[str | None, typer.Option(metavar="ID", help="Go on after this key.")] = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 100,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List keys in the order of their making, those that work no more too. No secret is shown: none is stored.

    Examples:
    - `everfold keys list --db everfold.db`
    - `everfold keys list --count 20 --json`
    """

    async def act() -> list[NamedKey]:
        async with open_engine(context, db) as engine:
            return [await _name(engine, key) for key in await engine.keys.list_keys(after=after, limit=count)]

    found = run_async(act)
    print_json({"keys": [_describe(key) for key, _ in found]}) if as_json else _print(found)


@app.command()
def revoke(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Its id, or its name.")],
    db: Db = None,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="It is meant: also the last key that works and may do everything.")
    ] = False,
    as_json: Json = False,
) -> None:
    """End a key at once and for ever. Its name is free for another one.

    The last key of the scope admin is only ended with `--yes`; `everfold serve` makes another one then.

    Examples:
    - `everfold keys revoke phone --db everfold.db`
    - `everfold keys revoke key_00061fd5a3c1b24d9e8f70a1b2c3d4 --json`
    """

    async def act() -> NamedKey:
        async with open_engine(context, db) as engine:
            try:
                return await _name(engine, await engine.keys.revoke(key, even_last=yes))
            except ConflictError as error:
                raise ConflictError(f"{error}, or say with --yes that it is meant", **error.ids) from error

    revoked = run_async(act)
    print_json(_describe(revoked[0])) if as_json else _print([revoked])


async def _name(engine: Everfold, key: AccessKey) -> NamedKey:
    """A key with its scope as people say it: a user by name, where they have one."""
    scope = key.scope
    if scope.kind == "user":
        with suppress(NotFoundError):  # an id that an application brought is known from its first session on
            scope = replace(scope, name=(await engine.get_user(scope.name)).shown_name)
    return key, scope.describe()


def _describe(key: AccessKey) -> dict[str, object]:
    return {
        "key_id": key.id,
        "key": key.name,
        "scope": str(key.scope),
        "is_read_only": key.scope.is_read_only,
        "state": _state(key),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }


def _state(key: AccessKey) -> str:
    return judge(key, SystemClock().now()) or "works"


def _print(keys: list[NamedKey]) -> None:
    print_table(_COLUMNS, [_line(key, scope) for key, scope in keys])


def _line(key: AccessKey, scope: str) -> tuple[Cell, ...]:
    return key.name, key.id, scope, _state(key), _show(key.expires_at), _show(key.last_used_at)


def _show(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M}"
