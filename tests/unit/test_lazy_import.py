"""Importing the package is cheap: nothing but the standard library is loaded until it is used."""

import importlib
import importlib.util
import subprocess
import sys

import pytest

import everfold

FRESH = """
import sys
before = set(sys.modules)
import everfold
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(loaded - sys.stdlib_module_names - {"everfold"}))
"""

OPENED = """
import asyncio, sys
import everfold
async def main():
    async with everfold.open("memory://") as engine:
        session = await engine.session()
        await session.append({"role": "user", "content": "The kiln is hot."})
        await session.window()
asyncio.run(main())
print(*sorted({"everfold.admin", "everfold.inspection", "everfold.integration", "everfold.services.inspection.replay"} & set(sys.modules)))
"""


def test_a_turn_loads_nothing_that_operators_use() -> None:
    """Opening a store and taking a turn loads neither the handle of administration nor that of inspection."""
    fresh = subprocess.run([sys.executable, "-c", OPENED], capture_output=True, text=True, check=True)
    assert fresh.stdout.split() == []


def test_a_server_begins_without_what_only_answers_need() -> None:
    """What serves the API loads Pydantic AI once requests are answered: it would double the time to the first answer."""
    look = "import sys, everfold.server.opening, everfold.server.serving; print('pydantic_ai' in sys.modules)"
    fresh = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert fresh.stdout.split() == ["False"]


def test_import_loads_no_other_distribution() -> None:
    """`import everfold` loads no third-party module."""
    fresh = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True)
    assert fresh.stdout.split() == []


@pytest.mark.parametrize("module", ["everfold", "everfold.testing"])
def test_every_public_name_resolves(module: str) -> None:
    """Each name that a module promises in `__all__` can be taken from it, once, and is listed by `dir`."""
    if module != "everfold" and importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not built yet")
    loaded = importlib.import_module(module)
    names = list(getattr(loaded, "__all__", ()))
    assert sorted(set(names)) == sorted(names)
    assert [name for name in names if not hasattr(loaded, name)] == []
    assert set(names) <= set(dir(loaded))


def test_a_name_that_is_not_there_is_refused_as_usual() -> None:
    """Laziness does not hide a misspelt name: it raises AttributeError like any module."""
    with pytest.raises(AttributeError):
        getattr(everfold, "NoSuchName")  # noqa: B009  # a plain attribute would be refused by the type checker first
