"""Every key of `[server]` changes what the server does."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from tests.cli.commands.test_serve import serving
from tests.forks import Forks
from tests.server.conftest import serve

from everfold.config import list_settings

pytestmark = pytest.mark.anyio

HERE = ("host", "port", "public_url", "body_limit_bytes", "import_limit_bytes", "requests_per_minute", "drain_secs")


BOUNDS = (
    "allowed_hosts",
    "header_secs",
    "body_secs",
    "send_secs",
    "max_connections",
    "streams_per_api_key",
    "failed_api_keys_per_minute",
    "messages_per_request",
)
"""What `test_bounds` tries on a server in a process of its own."""


def test_every_key_of_the_server_has_a_case() -> None:
    """A key that these files do not know may change nothing."""
    known = {f"server.{name}" for name in (*HERE, *BOUNDS)}
    assert {key for key in list_settings() if key.startswith("server.")} == known


@pytest.mark.parametrize(("limit", "status"), [(100, 413), (1_000, 201)])
async def test_a_larger_body_is_refused(tmp_path: Path, limit: int, status: int) -> None:
    """A body beyond the limit is 413, whether or not its length is told beforehand; nothing is stored of it."""

    async def stream() -> AsyncIterator[bytes]:
        for chunk in (b'{"name": "', b"b" * 200, b'"}'):
            yield chunk

    settings = {"server": {"body_limit_bytes": limit}}
    async with serve(tmp_path / "a.db", settings) as served, served.client(await served.key("admin")) as client:
        told = await client.post("/api/users", json={"name": "a" * 200})
        untold = await client.post("/api/users", content=stream(), headers={"Content-Type": "application/json"})
        assert [told.status_code, untold.status_code] == [status, status]
        assert len((await client.get("/api/users")).json()["users"]) == (3 if status == 201 else 1)


@pytest.mark.parametrize(("limit", "status"), [(100, 413), (1_000, 200)])
async def test_a_larger_import_is_refused(tmp_path: Path, limit: int, status: int) -> None:
    """A file beyond the limit of imports is 413, whatever other bodies may have."""
    settings = {"server": {"import_limit_bytes": limit, "body_limit_bytes": 100}}
    async with serve(tmp_path / "a.db", settings) as served, served.client(await served.key("admin")) as client:
        file = b'[{"role": "user", "content": "' + b"a" * 200 + b'"}]'
        answer = await client.post("/api/imports", content=file, headers={"Content-Type": "application/octet-stream"})
        assert answer.status_code == status


@pytest.mark.parametrize(("per_minute", "refused"), [(60, True), (0, False)])
async def test_a_key_has_a_rate(tmp_path: Path, per_minute: int, *, refused: bool) -> None:
    """Beyond its rate a key is refused with 429 and told when to come again; another key is not."""
    async with serve(tmp_path / "a.db", {"server": {"requests_per_minute": per_minute}}) as served:
        async with served.client(await served.key("admin")) as client:
            answers = [await client.get("/api/me") for _ in range(30)]
        assert {answer.status_code for answer in answers} == ({200, 429} if refused else {200})
        if refused:
            assert int(answers[-1].headers["Retry-After"]) >= 1
        async with served.client(await served.key("admin", name="other")) as client:
            assert (await client.get("/api/me")).status_code == 200


@pytest.mark.parametrize(("url", "is_secure"), [("https://memory.example.org", True), (None, False)])
async def test_the_cookie_is_for_https_where_people_come_by_https(
    tmp_path: Path, url: str | None, *, is_secure: bool
) -> None:
    """The cookie of the dashboard is out of reach of scripts and other sites, and of plain http where there is https."""
    async with serve(tmp_path / "a.db", {"server": {"public_url": url}}) as served, served.client(None) as client:
        answer = await client.post("/api/login", json={"api_key": await served.key("admin")})
        cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert ("secure" in cookie) == is_secure


def test_host_and_port_say_where_it_listens(tmp_path: Path, command_forks: Forks) -> None:
    """The server is reached at the address and port of the settings, and says so."""
    with socket.socket() as free:
        free.bind(("127.0.0.2", 0))
        port = free.getsockname()[1]
    (tmp_path / "everfold.toml").write_text(f'[server]\nhost = "127.0.0.2"\nport = {port}\n', "utf-8")
    with serving(tmp_path, command_forks, port=None) as (_, ready):
        assert ready["address"] == f"http://127.0.0.2:{port}/"
        assert httpx2.get(f"{ready['address']}health/live").status_code == 200


@pytest.mark.parametrize(("drain_secs", "is_answered"), [(20, True), (0.2, False)])
def test_stopping_waits_for_what_is_on_its_way(
    tmp_path: Path, command_forks: Forks, drain_secs: float, *, is_answered: bool
) -> None:
    """A request that takes two seconds is answered where stopping waits for longer, and else told to come again."""
    (tmp_path / "slow.py").write_text(
        "import asyncio, pathlib\n"
        "async def ask(*_, **__):\n    pathlib.Path('asked').touch()\n    await asyncio.sleep(2)\n    return 'x'\n"
    )
    (tmp_path / "everfold.toml").write_text(
        f'[server]\ndrain_secs = {drain_secs}\n[sources.slow]\nkind = "callable"\nfunction = "slow:ask"\n', "utf-8"
    )
    with serving(tmp_path, command_forks) as (process, ready):

        async def ask() -> httpx2.Response:
            headers = {"Authorization": f"Bearer {ready['api_key']}"}
            async with httpx2.AsyncClient(headers=headers, timeout=30) as client:
                asked = asyncio.ensure_future(client.post(ready["address"] + "api/sources/slow/test"))
                while not (asked.done() or (tmp_path / "asked").exists()):  # noqa: ASYNC110 - another process makes it
                    await asyncio.sleep(0.05)
                process.send_signal(signal.SIGTERM)
                return await asked

        answer = asyncio.run(ask())
        assert answer.status_code == (200 if is_answered else 503)
        assert is_answered or answer.json()["retryable"]
        assert process.wait(30) is not None
