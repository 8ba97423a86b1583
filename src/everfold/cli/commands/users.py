"""`everfold users`: list users, add one, show one."""

from typing import Annotated

import typer

from everfold.cli.opening.engine import ask_engine
from everfold.cli.opening.options import Db, Json
from everfold.cli.tables.output import Cell, print_json, print_table
from everfold.core.access.users import NAME_CHANNEL, User
from everfold.errors import InvalidInputError

NAME = "users"

app = typer.Typer(name=NAME, invoke_without_command=True)
_COLUMNS = ("user", "id", "reached at", "default", "created")


@app.callback()
def run(
    context: typer.Context,
    after: Annotated[str | None, typer.Option(metavar="ID", help="Continue after this user.")] = None,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 100,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """List users, the oldest first.

    Examples:
    - `everfold users --db everfold.db`
    - `everfold users --count 20 --json`
    """
    if (command := context.invoked_subcommand) is not None:
        if db is not None or after is not None or as_json:
            raise InvalidInputError(f"put the options after `{command}`: everfold users {command} ... --db FILE")
        return
    users = ask_engine(context, db, lambda engine: engine.list_users(after=after, limit=count))
    print_json({"users": [_describe(user) for user in users]}) if as_json else _print(users)


@app.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The display name. Commands accept it as the user.")],
    bind: Annotated[
        list[str] | None,
        typer.Option(metavar="CHANNEL:ID", help="The user's id in another system; may be repeated."),
    ] = None,
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Add a user with a name and ids in other systems.

    Examples:
    - `everfold users add "Ilse Fennel" --bind telegram:12345 --db everfold.db`
    - `everfold users add ben --bind mail:ben@example.org --bind telegram:678 --json`
    """
    user = ask_engine(context, db, lambda engine: engine.add_user(name, bindings=bind or []), must_exist=False)
    print_json(_describe(user)) if as_json else _print([user])


@app.command()
def show(
    context: typer.Context,
    user: Annotated[str, typer.Argument(metavar="USER", help="A name, an id, or `default`.")],
    db: Db = None,
    *,
    as_json: Json = False,
) -> None:
    """Show one user.

    Examples:
    - `everfold users show default --db everfold.db`
    - `everfold users show "Ilse Fennel" --json`
    """
    found = ask_engine(context, db, lambda engine: engine.get_user(user))
    print_json(_describe(found)) if as_json else _print([found])


def _describe(user: User) -> dict[str, object]:
    return {
        "user_id": user.id,
        "user": user.shown_name,
        "names": [it.own_id for it in user.bindings if it.channel == NAME_CHANNEL],
        "bindings": [str(it) for it in user.bindings if it.channel != NAME_CHANNEL],
        "is_default": user.is_default,
        "created_at": f"{user.created_at:%Y-%m-%d %H:%M}",
    }


def _print(users: list[User]) -> None:
    print_table(_COLUMNS, [_line(user) for user in users])


def _line(user: User) -> tuple[Cell, ...]:
    bindings = "\n".join(it.own_id if it.channel == NAME_CHANNEL else str(it) for it in user.bindings)
    default = "yes" if user.is_default else ""
    return user.name, user.id, bindings, default, f"{user.created_at:%Y-%m-%d %H:%M}"
