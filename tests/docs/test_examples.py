"""What the documents show works, and what they show as its output is what it prints.

The fence of a block says what it is. `python run` and `sh run` are whole programs, each run in an empty folder of its
own; `text output` directly after one is everything that it prints. `python run model` is one that has a provider of
models at hand, on this machine, under the variables that the SDKs read. `python` is a fragment, which must at least be
Python and may await where it likes. `make pages` writes the outputs anew.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from tests.forks import Forks
from tests.support.sizes import one_of_each

import everfold
from everfold.testing.kit.model_server import Answer, ModelServer, anthropic_answer

PROJECT = Path(__file__).resolve().parents[2]
FORK_CLIENT = PROJECT / "tests" / "fork_client.py"
PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").rglob("*.md"))]
SHOWN = re.compile(
    r"^```(?:((?:python|sh) run(?: model)?)|(python[^\n]*))\n(.*?)^```$(?:\n\n```text output\n(.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


class Example(NamedTuple):
    """One block, and what the page says it prints; None where the page does not say."""

    place: str
    program: str
    fence: str
    code: str
    output: str | None


def find_examples(text: str, page: str) -> list[Example]:
    """Each block of a page that is run or is Python, with the line on which it starts."""
    return [
        Example(
            f"{page}:{text.count(chr(10), 0, it.start()) + 1}",
            (it[1] or "").split(" ")[0],
            it[1] or it[2],
            it[3],
            it[4],
        )
        for it in SHOWN.finditer(text)
    ]


def run_example(example: Example, folder: Path, forks: Forks | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, with the command `everfold` at hand and Python's warnings as errors.

    With `forks`, what it starts has the engine or the command line loaded already.
    """
    commands = folder / ".commands"
    commands.mkdir()
    everfold = commands / "everfold"
    started = f'-ISE "{FORK_CLIENT}" "{forks.place}"' if forks else "-W error -m everfold.cli.main"
    everfold.write_text(f'#!/bin/sh\nexec "{sys.executable}" {started} "$@"\n')
    everfold.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EVERFOLD_")}
    path = {"PATH": f"{commands}{os.pathsep}{os.environ.get('PATH', '')}"}
    with providing_model() if example.fence.endswith(" model") else nullcontext({}) as model:
        environment = {**kept, **path, **model}
        if forks and example.program == "python":
            return forks.run(example.code, folder=folder, environment=environment)
        command = [sys.executable, "-W", "error", "-c"] if example.program == "python" else ["bash", "-euc"]
        return subprocess.run(
            [*command, example.code], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )


@contextmanager
def providing_model() -> Iterator[dict[str, str]]:
    """A provider on this machine, and the variables under which the SDKs find it."""
    with ModelServer() as server, ModelServer(Answer(body=anthropic_answer("Fine."))) as other:
        yield {
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": other.url,
            "ANTHROPIC_API_KEY": "none",
        }


EXAMPLES = [it for page in PAGES for it in find_examples(page.read_text("utf-8"), str(page.relative_to(PROJECT)))]
PYTHON = [it for it in EXAMPLES if it.fence.startswith("python")]
PROGRAMS = [it for it in EXAMPLES if it.program]
LONG: Final = {"demo": r"read_demo", "command": r'everfold (replay|serve)|"serve"', "SDK": r"import (anthropic|openai)"}
"""What takes a program seconds: to fold the demo, to replay or serve it, to load an SDK. By day the first of each kind runs."""


def name_kind(example: Example) -> str:
    """Which kind of long program it is; one that is not long is of a kind of its own."""
    return next((kind for kind, mark in LONG.items() if re.search(mark, example.code)), example.place)


RUN = [example for _, example in one_of_each([(name_kind(it), it) for it in PROGRAMS])]


@pytest.mark.parametrize("example", PYTHON, ids=[it.place for it in PYTHON])
def test_every_example_is_python(example: Example) -> None:
    """A block that says it is Python compiles, and its fence says whether it is run."""
    assert example.fence in {"python", "python run", "python run model"}
    top_level_await = 0 if example.program else ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    compile(example.code, example.place, "exec", flags=top_level_await)


@pytest.mark.parametrize("example", RUN, ids=[it.place for it in RUN])
def test_every_program_runs(example: Example, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A program in the documents ends well in an empty folder, and prints what the page says, to the letter."""
    forks: Forks = request.getfixturevalue("forks" if example.program == "python" else "command_forks")
    run = run_example(example, tmp_path, forks)
    assert run.returncode == 0, run.stderr
    if example.output is not None:
        assert run.stdout == example.output, "the page shows another output; `make pages` writes it anew"


@pytest.mark.parametrize("example", PYTHON, ids=[it.place for it in PYTHON])
def test_every_part_is_imported(example: Example) -> None:
    """What a block takes from the package is a public name, or a module that it imports; no fork may have it already."""
    tree = ast.parse(example.code)
    imported = {
        name.name.split(".")[1]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
        if name.name.startswith("everfold.")
    }
    taken = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "everfold"
    }
    assert taken <= imported | set(everfold.__all__)


def test_every_output_belongs_to_a_program() -> None:
    """No block says that it is an output without standing directly after what printed it."""
    for page in PAGES:
        text = page.read_text("utf-8")
        outputs = [it for it in find_examples(text, page.name) if it.output is not None]
        assert text.count("```text output\n") == len(outputs), page


def test_finds_programs_fragments_and_outputs() -> None:
    """Each kind of block is found, with the line of its fence and what follows it."""
    text = (
        "Text\n\n```python run\nx = 1\n```\n\n```text\nno\n```\n\n```python\ny\n```\n\n"
        "```python run model\nz\n```\n\n```sh run\nls\n```\n\n```text output\na\n```\n\n```sh\nno\n```\n"
    )
    assert find_examples(text, "page.md") == [
        ("page.md:3", "python", "python run", "x = 1\n", None),
        ("page.md:11", "", "python", "y\n", None),
        ("page.md:15", "python", "python run model", "z\n", None),
        ("page.md:19", "sh", "sh run", "ls\n", "a\n"),
    ]


def test_there_is_a_program_to_run() -> None:
    """The documents hold programs, so that this suite cannot pass by finding none."""
    assert {it.program for it in PROGRAMS} == {"python", "sh"}
