"""No files import each other in a circle: each can be read after those that it imports.

Imports inside functions and for types alone count as well: they delay a circle or hide it from Python, and a reader
meets it all the same.
"""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

JS_IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'`]([./][^"'`]*)["'`]""")
JS_HOLE = re.compile(r"\$\{[^}]*\}")
"""What the code puts into a name when it runs: any name may stand there."""


def find_circle(imports: dict[str, set[str]]) -> list[str]:
    """The files of one circle, the first again at its end; none where there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def list_python_imports(source: Path) -> dict[str, set[str]]:
    """The modules below a folder, each with those of them that it names in any import."""
    modules = {_name_module(path, source): path for path in source.rglob("*.py")}
    return {
        name: {it for it in _read_python_imports(path, name, modules) if it != name} for name, path in modules.items()
    }


def _name_module(path: Path, source: Path) -> str:
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def _read_python_imports(path: Path, name: str, modules: dict[str, Path]) -> Iterator[str]:
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            home = ".".join([*parents, *([node.module] if node.module else [])])
            named = {alias.name: f"{home}.{alias.name}" for alias in node.names}
            yield from (inner if inner in modules else home for inner in named.values() if {inner, home} & set(modules))


def list_js_imports(folder: Path) -> dict[str, set[str]]:
    """The scripts below a folder, each with those of them that it imports at its start or while it runs."""
    return {
        str(path.relative_to(folder)): {
            str(found.relative_to(folder))
            for name in JS_IMPORT.findall(path.read_text("utf-8"))
            for found in _find_scripts(path, name)
        }
        for path in folder.rglob("*.js")
    }


def _find_scripts(path: Path, name: str) -> Iterator[Path]:
    pattern = (path.parent / JS_HOLE.sub("*", name)).resolve()
    return pattern.parent.glob(pattern.name)


def test_no_modules_import_each_other_in_a_circle(project: Path) -> None:
    """Of the package's modules none imports itself by way of others."""
    imports = list_python_imports(project / "src")
    assert imports["everfold.agents.servers"] >= {"everfold.errors", "everfold.sections"}
    assert find_circle(imports) == []


def test_no_scripts_import_each_other_in_a_circle(project: Path) -> None:
    """Of the dashboard's scripts none imports itself by way of others."""
    imports = list_js_imports(project / "src" / "everfold" / "server" / "dashboard")
    assert imports["app.js"] >= {"lib/ui.js", "pages/users.js"}
    assert find_circle(imports) == []


@pytest.mark.parametrize(
    "text",
    [
        "from everfold.first import NAME\n",
        "from everfold import first\n",
        "import everfold.first\n",
        "from . import first\n",
        "from .first import NAME\n",
        "def later():\n    from everfold.first import NAME\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from everfold.first import NAME\n",
    ],
)
def test_finds_a_planted_circle_of_modules(text: str, tmp_path: Path) -> None:
    """A circle through two imports is found, in whatever form the second one is written."""
    folder = tmp_path / "everfold"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "first.py").write_text("from everfold.second import NAME\n", "utf-8")
    (folder / "second.py").write_text("import os\n", "utf-8")
    assert find_circle(list_python_imports(tmp_path)) == []
    (folder / "second.py").write_text(text, "utf-8")
    assert {*find_circle(list_python_imports(tmp_path))} == {"everfold.first", "everfold.second"}


@pytest.mark.parametrize(
    "text",
    [
        'import { NAME } from "../first.js";\n',
        'import {\n  NAME,\n} from "../first.js";\n',
        'import "../first.js";\n',
        'export { NAME } from "../first.js";\n',
        'const load = () => import("../first.js");\n',
        "const load = name => import(`../${name}.js`);\n",
    ],
)
def test_finds_a_planted_circle_of_scripts(text: str, tmp_path: Path) -> None:
    """A circle through two scripts is found, in whatever form the second import is written."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "first.js").write_text('import { OTHER } from "./parts/second.js";\n', "utf-8")
    (tmp_path / "parts" / "second.js").write_text("export const OTHER = 1;\n", "utf-8")
    assert find_circle(list_js_imports(tmp_path)) == []
    (tmp_path / "parts" / "second.js").write_text(text, "utf-8")
    assert {*find_circle(list_js_imports(tmp_path))} == {"first.js", "parts/second.js"}
