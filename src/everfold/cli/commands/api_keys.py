"""`everfold api-keys`: create, list and revoke the API keys of a server."""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, TypeAlias

import typer

from everfold.adapters.system.clock import SystemClock
from everfold.cli.opening.engine import open_engine, run_async
from everfold.cli.opening.options import Db, Json
from everfold.cli.tables.output import Cell, print_json, print_table, say
from everfold.core.access.api_keys import ApiKey, judge
from everfold.engine import Everfold
from everfold.errors import ConflictError, NotFoundError
from everfold.services.access.api_keys import MadeApiKey

NAME = "api-keys"
MOST_DAYS = 36_500

app = typer.Typer(name=NAME, no_args_is_help=True)
NamedKey: TypeAlias = tuple[ApiKey, str]
"""A key, and its scope as people say it."""

_COLUMNS = ("API key", "id", "scope", "state", "expires", "last used")


@app.callback()
def run() -> None:
    """Create, list and revoke the API keys of a server.

    Examples:
    - `everfold api-keys add desk --scope admin --db everfold.db`
    - `everfold api-keys list --json`
    """


@app.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the API key.")],
    scope: Annotated[
        str,
        typer.Option(
            metavar="SCOPE",
            help="Its scope: `admin`, `user:NAME` (a name, `default`, or an id), or `agent:NAME`.",
        ),
    ],
    read_only: Annotated[bool, typer.Option("--read-only", help="Allow reading only.")] = False,  # noqa: FBT002 - typer's form
    days: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=MOST_DAYS, help="Days until it expires. Default: never.")
    ] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Create an API key. Its secret is printed once; only a hash of it is stored.

    Examples:
    - `everfold api-keys add desk --scope admin --db everfold.db`
    - `everfold api-keys add phone --scope user:ilse --read-only --days 90 --json`
    """

    async def act() -> MadeApiKey:
        async with open_engine(context, db, must_exist=False) as engine:
            lifetime = None if days is None else timedelta(days=days)
            return await engine.admin.api_keys.make(name, scope, is_read_only=read_only, lifetime=lifetime)

    made = run_async(act)
    if as_json:
        print_json({"secret": made.secret, **_describe(made.api_key)})
        return
    typer.echo(made.secret)
    say(
        f"The secret of the API key {made.api_key.name}, {made.api_key.scope.describe()}. Save it now: it is not shown again."
    )


@app.command(name="list")
def list_all(
    context: typer.Context,
    after: Annotated[str | None, typer.Option(metavar="ID", help="Continue after this API key.")] = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 100,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List API keys, the oldest first, revoked and expired ones too. Secrets are not stored and not shown.

    Examples:
    - `everfold api-keys list --db everfold.db`
    - `everfold api-keys list --count 20 --json`
    """

    async def act() -> list[NamedKey]:
        async with open_engine(context, db) as engine:
            return [
                await _name(engine, key) for key in await engine.admin.api_keys.list_api_keys(after=after, limit=count)
            ]

    found = run_async(act)
    print_json({"api_keys": [_describe(key) for key, _ in found]}) if as_json else _print(found)


@app.command()
def revoke(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The API key's id or name.")],
    db: Db = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm: revoke even the last working admin API key.")] = False,
    as_json: Json = False,
) -> None:
    """Revoke an API key at once and permanently. Its name can be used again.

    The last admin API key is revoked only with `--yes`; the next `everfold serve` creates a new one.

    Examples:
    - `everfold api-keys revoke phone --db everfold.db`
    - `everfold api-keys revoke key_00061fd5a3c1b24d9e8f70a1b2c3d4 --json`
    """

    async def act() -> NamedKey:
        async with open_engine(context, db) as engine:
            try:
                return await _name(engine, await engine.admin.api_keys.revoke(key, even_last=yes))
            except ConflictError as error:
                raise ConflictError(f"{str(error).removesuffix('.')}, or confirm with --yes.", **error.ids) from error

    revoked = run_async(act)
    print_json(_describe(revoked[0])) if as_json else _print([revoked])


async def _name(engine: Everfold, key: ApiKey) -> NamedKey:
    """A key with its scope as people say it: a user by name, where they have one."""
    scope = key.scope
    if scope.kind == "user":
        with suppress(NotFoundError):  # an id that an application brought is known from its first session on
            scope = replace(scope, name=(await engine.get_user(scope.name)).shown_name)
    return key, scope.describe()


def _describe(key: ApiKey) -> dict[str, object]:
    return {
        "api_key_id": key.id,
        "api_key": key.name,
        "scope": str(key.scope),
        "is_read_only": key.scope.is_read_only,
        "state": _state(key),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }


def _state(key: ApiKey) -> str:
    return judge(key, SystemClock().now()) or "works"


def _print(keys: list[NamedKey]) -> None:
    print_table(_COLUMNS, [_line(key, scope) for key, scope in keys])


def _line(key: ApiKey, scope: str) -> tuple[Cell, ...]:
    return key.name, key.id, scope, _state(key), _show(key.expires_at), _show(key.last_used_at)


def _show(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M}"
