"""The core is pure: it imports, calls and awaits nothing that could reach the world.

An allow-list, because a deny-list misses what was not thought of.
"""

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

import pytest

ALLOWED_MODULES = frozenset(
    "__future__ base64 bisect collections dataclasses datetime enum functools hashlib heapq itertools json math operator re"
    " string types typing unicodedata".split()
)
ALLOWED_BUILTINS = frozenset(
    "ArithmeticError AssertionError AttributeError BaseException Ellipsis Exception ExceptionGroup IndexError KeyError"
    " LookupError NotImplemented NotImplementedError OverflowError RecursionError RuntimeError StopIteration TypeError"
    " UnicodeDecodeError UnicodeEncodeError UnicodeError ValueError ZeroDivisionError __name__ abs all any ascii bin"
    " bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter float format frozenset"
    " getattr hasattr hex int isinstance issubclass iter len list map max memoryview min next object oct ord pow"
    " property range repr reversed round set slice sorted staticmethod str sum super tuple type zip".split()
)
CLOCKS = frozenset({"now", "utcnow", "today", "fromtimestamp"})


def find_impurities(source: str) -> Iterator[str]:
    """Each import, name or construct in the source that the core may not have."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (f"import {name.name}" for name in names if not _is_allowed(name.name))
            case ast.ImportFrom(module=module, level=level):
                if level or not _is_allowed(module or ""):
                    yield f"from {'.' * level}{module or ''}"
            case ast.Name(id=name, ctx=ast.Load()) if name in vars(builtins) and name not in ALLOWED_BUILTINS:
                yield name
            case ast.Attribute(value=ast.Name(id="datetime" | "date"), attr=attr) if attr in CLOCKS:
                yield f"clock .{attr}"
            case ast.Global() | ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                yield type(node).__name__
            case ast.comprehension(is_async=1):
                yield "async comprehension"


def _is_allowed(module: str) -> bool:
    ours = module in {"everfold.errors", "everfold.core"} or module.startswith("everfold.core.")
    return ours or module.partition(".")[0] in ALLOWED_MODULES


def test_core_is_pure(project: Path) -> None:
    """No module of the core imports, names or awaits anything that could reach the world."""
    core = project / "src" / "everfold" / "core"
    modules = sorted(core.rglob("*.py"))
    assert modules, f"nothing to look at in {core}"
    found = [f"{path.relative_to(core)}: {it}" for path in modules for it in find_impurities(path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    [
        "import os",
        "import os.path",
        "import json, socket",
        "from pathlib import Path",
        "from time import monotonic",
        "import random",
        "import logging",
        "import apsw",
        "from everfold.ports import stores",
        "from everfold import Everfold",
        "from everfold.adapters.sqlite import store",
        "from . import words",
        "def read(path):\n    return open(path)",
        "def say(text):\n    print(text)",
        "def ask():\n    return input()",
        "def run(text):\n    return eval(text)",
        "def run(text):\n    exec(text)",
        "def load(name):\n    return __import__(name)",
        "def order(value):\n    return hash(value)",
        "def key(value):\n    return id(value)",
        "async def wait():\n    pass",
        "def each(rows):\n    return [row async for row in rows]",
        "count = 0\ndef add():\n    global count\n    count += 1",
        "from datetime import datetime\ndef stamp(zone):\n    return datetime.now(zone)",
    ],
)
def test_refuses_a_planted_impurity(planted: str) -> None:
    """Each way out of the core that we know of is refused."""
    assert list(find_impurities(planted))


@pytest.mark.parametrize(
    "fine",
    [
        "import json\nimport hashlib",
        "from collections.abc import Sequence",
        "from datetime import UTC, datetime, timedelta",
        "from everfold.core.text.words import split",
        "from everfold.errors import InvalidInputError",
        "def total(rows):\n    return sum(len(row) for row in rows)",
    ],
)
def test_lets_pure_code_through(fine: str) -> None:
    """What the core is made of passes."""
    assert list(find_impurities(fine)) == []
