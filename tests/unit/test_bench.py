"""The benchmarks keep up with the code that they measure."""

import importlib
from pathlib import Path

import pytest


def test_every_benchmark_can_be_loaded(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each benchmark that runs in the engine's process finds all that it takes from the engine, and can be run."""
    monkeypatch.syspath_prepend(str(project))
    main = importlib.import_module("bench.__main__")
    for name in main.NAMES:
        if name not in main.SCRIPTS:
            module = importlib.import_module(f"bench.{main.MODULES.get(name, name)}")
            assert callable(module.run)
            assert module.TITLE
