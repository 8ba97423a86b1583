"""The public face changes only on purpose."""

import subprocess
import sys
from pathlib import Path


def test_public_face_is_the_frozen_one(project: Path) -> None:
    """What the package offers is what `tests/api.txt` lists; `make api` rewrites it when a change is meant."""
    listing = subprocess.run(
        [sys.executable, project / "tests" / "api_listing.py"], capture_output=True, text=True, check=True
    )
    frozen = (project / "tests" / "api.txt").read_text("utf-8")
    assert listing.stdout.splitlines() == frozen.splitlines()


def test_the_sync_face_is_that_of_the_async_classes(project: Path) -> None:
    """The classes whose methods block have the methods of the async ones; `make api` writes them."""
    written = subprocess.run(
        [sys.executable, project / "tests" / "sync_classes.py"], capture_output=True, text=True, check=True
    )
    stored = (project / "src" / "everfold" / "sync_classes.py").read_text("utf-8")
    assert written.stdout.splitlines() == stored.splitlines()
