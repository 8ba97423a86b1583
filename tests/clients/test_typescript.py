"""The TypeScript client, generated from the OpenAPI document, built, and run against a real server.

Skipped where node and npm are missing, or where npm can install nothing.
"""

import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from tests.server.streaming import listening

from everfold.server.app import make_app
from everfold.server.opening import open_runtime

pytestmark = pytest.mark.anyio

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "typescript"
SECS = 300


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the client in a folder."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECS, check=False)


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """A copy of the client with what it needs."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not on this machine: install Node.js 20 or newer to test the TypeScript client")
    folder = tmp_path / "client"
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "dist", "schema.ts", "openapi.json"))
    installed = run(folder, "npm", "ci", "--prefer-offline", "--ignore-scripts")
    if installed.returncode != 0:
        pytest.skip(f"npm cannot install what the TypeScript client needs: {installed.stderr.strip()[-300:]}")
    return folder


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[tuple[str, str]]:
    """A server on a port of this machine, and an API key."""
    async with open_runtime(f"sqlite:///{tmp_path / 'served.db'}", config=_write_settings(tmp_path)) as runtime:
        key = await runtime.engine.admin.api_keys.ensure_first()
        assert key is not None
        async with listening(make_app(runtime)) as url:
            yield url, key.secret


def _write_settings(folder: Path) -> Path:
    path = folder / "everfold.toml"
    path.write_text("[agents.helper]\n", "utf-8")
    return path


@pytest.mark.slow
async def test_the_client_is_generated_and_talks_with_a_server(client: Path, address: tuple[str, str]) -> None:
    """Types generated from the server's own document fit the client; it appends, reads a window, and hears events and errors."""
    url, key = address

    def build() -> None:
        fetched = run(client, "node", "--input-type=module", "-e", FETCH, f"{url}/api/openapi.json")
        assert fetched.returncode == 0, fetched.stderr
        for script in ("generate", "build"):
            done = run(client, "npm", "run", "--silent", script)
            assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"

    await anyio.to_thread.run_sync(build)
    done = await anyio.to_thread.run_sync(lambda: run(client, "node", "dist/test/smoke.js", url, key))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["session"].startswith("ses_")
    assert told["sessions"] == 1
    assert told["tokens"] > 0
    assert told["code"] == "not_found"
    assert told["events"] == ["progress", "done"]


FETCH = """
const answer = await fetch(process.argv[1]);
(await import("node:fs")).writeFileSync("openapi.json", await answer.text());
"""
