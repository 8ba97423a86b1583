"""`everfold config`: the effective settings."""

import typer

from everfold.cli.opening.invocation import invocation_of
from everfold.cli.opening.options import Json
from everfold.cli.tables.output import print_json, print_table
from everfold.config import explain_settings, load_settings

NAME = "config"


def run(context: typer.Context, *, as_json: Json = False) -> None:
    """Print every setting with its effective value and where it came from.

    Examples:
    - `everfold config`
    - `EVERFOLD_MODEL__CONTEXT_LIMIT=32000 everfold --config shop.toml config --json`
    """
    path = invocation_of(context).config
    rows = explain_settings(load_settings(path), path=path)
    if as_json:
        print_json({"settings": [{"key": key, "value": value, "from": place} for key, value, place in rows]})
    else:
        print_table(
            ("setting", "value", "from"),
            [(key, "not set" if value is None else str(value), place) for key, value, place in rows],
        )
