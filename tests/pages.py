"""Write anew what the documents show of the code: settings, commands, and what the programs in the pages print.

`make pages` runs this after a change that is meant; `tests/docs` compares.
"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

import anyio
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from tests.states_picture import draw_states, list_moves
from tests.strips_picture import draw_picture

from everfold.config import Settings, read_section
from everfold.core.compaction.transitions import COMPACTION, DIGEST, EXTRACTION, LAYOUT
from everfold.server.app import make_app
from everfold.server.opening import open_runtime

PROJECT = Path(__file__).resolve().parent.parent
SETTINGS_PAGE = PROJECT / "docs" / "reference" / "settings.md"
STATES_PAGE = PROJECT / "docs" / "reference" / "compaction.md"
COMMANDS_PAGE = PROJECT / "docs" / "reference" / "cli.md"
ROUTES_PAGE = PROJECT / "docs" / "reference" / "api.md"
STRIPS_PICTURE = PROJECT / "docs" / "pictures" / "strips.svg"
STATES_PICTURE = PROJECT / "docs" / "pictures" / "states.svg"
COMMANDS_SCRIPT = PROJECT / "tests" / "cli_listing.py"

HEAD = """# Settings

Settings come from `everfold.toml` in the working folder, from environment variables and from arguments; later sources
override earlier ones. An unknown key is refused, and the error names the nearest known key. Settings that contradict each
other are refused too. `everfold config` prints the effective values and where each came from.
[Choose limits and settings](../how-to/settings.md) shows how to set them.

The name of an environment variable begins with `EVERFOLD_`, with two underscores between its parts:
`EVERFOLD_COMPACTION__TRIGGER_RATIO=0.85`.

This page is generated from `everfold.sections` by `make pages`.
"""


ROUTES_HEAD = """# Routes

Every route of the server and the API keys that it accepts. [Use the API](../how-to/api.md) shows examples and the rules for
all routes. `/api/openapi.json` of a running server describes parameters, bodies and responses.

| rule | accepts |
| --- | --- |
| open | requests without an API key |
| any | every API key; the response contains only what the key may see |
| admin | API keys of the scope admin |
| user | those, and the API keys of the user in the path |
| memory | the same, and API keys of agents, which see what their agent sees |
| session | admin, and the API keys of the user or the agent of the session in the path |
| agent | admin, and the API keys of the agent in the path |

A read-only API key may only send GET.

This page is generated from the server's OpenAPI document by `make pages`.
"""


async def write_routes_page() -> str:
    """The page of routes: a section for each subject, a row for each route."""
    async with open_runtime("memory://") as runtime:
        paths = make_app(runtime).openapi()["paths"]
    sections: dict[str, list[str]] = {}
    for path, operations in paths.items():
        for method, operation in operations.items():
            row = f"| `{method.upper()} {path}` | {operation['x-access']} | {operation['summary']} |"
            sections.setdefault(operation["tags"][0], []).append(row)
    head = "| route | rule | what it does |\n| --- | --- | --- |"
    return "\n".join(
        [ROUTES_HEAD, *(f"## {tag}\n\n{head}\n" + "\n".join(rows) + "\n" for tag, rows in sections.items())]
    )


def name_type(annotation: object) -> str:
    """A setting's type as the page shows it."""
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) in {Union, UnionType}:
        return " or ".join(map(name_type, get_args(annotation)))
    if get_origin(annotation) is Annotated:
        return name_type(get_args(annotation)[0])
    if get_origin(annotation) is tuple:
        return f"list of {name_type(get_args(annotation)[0])}"
    if get_origin(annotation) is Mapping:
        return f"table of {name_type(get_args(annotation)[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "tables"
    if isinstance(annotation, type):
        return annotation.__name__.replace("NoneType", "None")
    return str(annotation)


def write_settings_page() -> str:
    """The page of settings: a section for each group, a row for each key."""
    return "\n".join([HEAD, *_list_sections()])


def _list_sections() -> Iterator[str]:
    for section, field in Settings.model_fields.items():
        model = read_section(field.annotation)
        yield f"## {section}\n"
        yield f"{(model.__doc__ or '').strip()}\n"
        yield "| key | type | default | meaning |\n| --- | --- | --- | --- |"
        for name, key in model.model_fields.items():
            kind = name_type(key.annotation)
            yield f"| `{section}.{name}` | {kind.replace('|', 'or')} | {_show(key)} | {key.description} |"
        yield ""


def _show(key: FieldInfo) -> str:
    value = key.default
    if key.default_factory is not None or value is None or value == ():
        return "not set"
    if value is PydanticUndefined:
        return "must be given"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def write_states() -> str:
    """The tables of what each cause makes of a compaction's state and layout, and of its jobs."""
    states = _write_moves({"state": COMPACTION, "layout": LAYOUT})
    jobs = _write_moves({"digest": DIGEST, "extraction": EXTRACTION})
    return f"{states}\n{jobs}"


def _write_moves(tables: Mapping[str, Mapping[str, Mapping[str | None, str]]]) -> str:
    """A table with a row for each cause, and a column for each table: what the cause finds and what that becomes."""
    causes = dict.fromkeys(cause for table in tables.values() for cause in table)
    rows = [
        f"| {cause} | {' | '.join(_tell_moves(table.get(cause, {})) for table in tables.values())} |"
        for cause in causes
    ]
    return "\n".join([f"| cause | {' | '.join(tables)} |", f"| --- |{' --- |' * len(tables)}", *rows, ""])


def _tell_moves(moves: Mapping[str | None, str]) -> str:
    """The moves of one cause in words: what stays, then what changes, by what it becomes."""
    stays = [before for before, after in moves.items() if before == after]
    changes: dict[str, list[str]] = {}
    for before, after in moves.items():
        if before != after:
            changes.setdefault(after, []).append(before or "none")
    told = [f"{', '.join(befores)} → {after}" for after, befores in changes.items()]
    return "; ".join([*told, *([f"{', '.join(map(str, stays))} stays"] if stays else [])])


def put_states(page: str) -> str:
    """The page with the states written anew between their marks."""
    return re.sub(r"(?s)(<!-- states: .*? -->\n).*?(<!-- end -->)", lambda it: f"{it[1]}{write_states()}{it[2]}", page)


def _load_examples() -> ModuleType:
    path = PROJECT / "tests" / "docs" / "test_examples.py"
    spec = importlib.util.spec_from_file_location("examples", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rewrite_outputs(page: Path, examples: ModuleType) -> None:
    """Run the programs of a page that show their output, and put what they print now in its place."""
    text = page.read_text("utf-8")
    for example in examples.find_examples(text, page.name):
        if example.output is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            run = examples.run_example(example, Path(folder))
        if run.returncode:
            sys.exit(f"{page}: {example.place} fails\n{run.stderr}")
        shown = f"{example.code}```\n\n```text output\n"
        text = text.replace(f"{shown}{example.output}```", f"{shown}{run.stdout}```")
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    SETTINGS_PAGE.write_text(write_settings_page(), "utf-8")
    ROUTES_PAGE.write_text(anyio.run(write_routes_page), "utf-8")
    STRIPS_PICTURE.write_text(anyio.run(draw_picture), "utf-8")
    STATES_PICTURE.write_text(draw_states(list_moves(COMPACTION)), "utf-8")
    STATES_PAGE.write_text(put_states(STATES_PAGE.read_text("utf-8")), "utf-8")
    listing = subprocess.run([sys.executable, COMMANDS_SCRIPT], capture_output=True, text=True, check=True)
    COMMANDS_PAGE.write_text(listing.stdout, "utf-8")
    shown_examples = _load_examples()
    for shown_page in shown_examples.PAGES:
        rewrite_outputs(shown_page, shown_examples)
