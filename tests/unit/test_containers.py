"""The container image and the compose files name what is there: files, settings, commands and options.

What can be read of the files is proved here; `make containers` runs them.
"""

import os
import re
import shlex
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from everfold.cli.main import app
from everfold.config import load_settings

PROJECT = Path(__file__).resolve().parents[2]
COMPOSE = ("compose.yaml", "compose.postgres.yaml")


def read_image() -> list[tuple[str, str]]:
    """The instructions of the image with their arguments, continued lines joined."""
    text = re.sub(r"\\\n", " ", (PROJECT / "Containerfile").read_text("utf-8"))
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(name, " ".join(rest.split())) for name, _, rest in (line.partition(" ") for line in lines)]


def read_environment() -> dict[str, str]:
    """The variables that the image sets."""
    return dict(one.split("=", 1) for name, rest in read_image() if name == "ENV" for one in shlex.split(rest))


def read_services(name: str) -> Mapping[str, Any]:
    """The services of a compose file."""
    found: Mapping[str, Any] = yaml.safe_load((PROJECT / name).read_text("utf-8"))["services"]
    return found


def take_settings(monkeypatch: pytest.MonkeyPatch, folder: Path, environment: Mapping[str, str]) -> Any:
    """The settings of these variables alone, in an empty folder."""
    for key in [key for key in os.environ if key.startswith("EVERFOLD_")]:
        monkeypatch.delenv(key)
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(folder)
    return load_settings(None)


def test_the_image_copies_what_is_there() -> None:
    """Each path that the build copies exists, and is not kept out of the build by `.dockerignore`."""
    kept = [line[1:] for line in (PROJECT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    copied = [rest.split()[:-1] for name, rest in read_image() if name == "COPY" and not rest.startswith("--from")]
    for path in [path for paths in copied for path in paths]:
        assert (PROJECT / path).exists(), path
        assert any(fnmatch(path, pattern) for pattern in kept), path


def test_the_image_serves_a_database_in_its_volume(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its variables are settings; the database lies in the volume, and the port that is served is exposed and checked."""
    image = dict(read_image())
    settings = take_settings(
        monkeypatch, tmp_path, {key: value for key, value in read_environment().items() if key.startswith("EVERFOLD_")}
    )
    assert settings.store.url.removeprefix("sqlite:///").startswith(f"{image['VOLUME']}/")
    assert settings.server.host == "0.0.0.0"
    assert image["EXPOSE"] == str(settings.server.port)
    assert f"127.0.0.1:{settings.server.port}/health/ready" in image["HEALTHCHECK"]
    assert image["USER"] not in ("root", "0")


@pytest.mark.parametrize("name", COMPOSE)
def test_compose_files_set_known_settings(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every variable of a service is a setting with a value that fits, and every command exists with its options."""
    for service in read_services(name).values():
        if "build" not in service:
            continue
        given = {key: re.sub(r"\$\{[^}]*\}", "secret", value) for key, value in service.get("environment", {}).items()}
        settings = take_settings(monkeypatch, tmp_path, given)
        assert settings.workers.enabled == settings.store.url.startswith("postgresql://")
        command = service.get("command", ["serve"])
        shown = CliRunner().invoke(app, [command[0], "--help"], prog_name="everfold", env={"COLUMNS": "200"})
        assert shown.exit_code == 0
        assert all(option in shown.stdout for option in command[1:] if option.startswith("--"))


@pytest.mark.parametrize("name", COMPOSE)
def test_compose_files_publish_to_this_machine_alone(name: str) -> None:
    """No port is open to the network without a proxy: API keys are sent in headers."""
    ports = [port for service in read_services(name).values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
