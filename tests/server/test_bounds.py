"""A client that is slow, silent, greedy or guessing is bounded, and others are answered meanwhile: a real server each."""

import json
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.forks import Forks
from tests.server.processes import SECS, Process, serving

SLOW = {"header_secs": 300, "body_secs": 300, "send_secs": 300}
FEW_CONNECTIONS = 20


SERVE = """
from everfold.cli.main import run
from everfold.server import serving
serve = serving.serve

async def tell_address(runtime, *, host, port, on_ready):
    def tell(address):
        on_ready(address)
        print(address, flush=True)
    await serve(runtime, host=host, port=port, on_ready=tell)

serving.serve = tell_address
run()
"""
"""Prints the address that it listens on, which a public URL would hide."""


@contextmanager
def bounded(folder: Path, forks: Forks, **settings: object) -> Iterator[Process]:
    """A server in a process of its own, with these settings."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    config = folder / "everfold.toml"
    config.write_text("[server]\n" + "\n".join(lines))
    with serving(config, folder / "log.db", forks) as process:
        yield process


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory, command_forks: Forks) -> Iterator[Process]:
    """A server that gives a client a second for whatever it does."""
    folder = tmp_path_factory.mktemp("impatient")
    with bounded(folder, command_forks, header_secs=1, body_secs=1, send_secs=1) as process:
        yield process


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory, command_forks: Forks) -> Iterator[Process]:
    """A server that waits for long and has place for few connections."""
    folder = tmp_path_factory.mktemp("crowded")
    with bounded(folder, command_forks, max_connections=FEW_CONNECTIONS, **SLOW) as process:
        yield process


def connect(process: Process) -> socket.socket:
    """A connection that has sent nothing."""
    place = urlsplit(process.address)
    return socket.create_connection((str(place.hostname), int(place.port or 0)), timeout=SECS)


def ask(process: Process, path: str = "health/live", **options: Any) -> httpx2.Response:
    """An answer on a connection of its own."""
    return httpx2.get(process.address + path, timeout=SECS, **options)


def read_all(connection: socket.socket) -> bytes:
    """Everything until the server closes."""
    said = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            said += piece
    return said


def read_problem(said: bytes) -> tuple[int, dict[str, Any]]:
    """The status and the problem document of an answer."""
    head, _, body = said.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    problem: dict[str, Any] = json.loads(body)
    assert f"HTTP/1.1 {problem['status']} ".encode() in head
    return problem["status"], problem


def trickle(connection: socket.socket, begin: bytes, piece: bytes) -> bytes:
    """What the server says to one who goes on sending a piece now and then; a test that never ends fails by itself."""
    connection.sendall(begin)
    while not select.select([connection], [], [], 0.02)[0]:
        connection.sendall(piece)
    return read_all(connection)


def head_of(process: Process, *lines: str) -> bytes:
    """A request of an admin with these headers."""
    place = urlsplit(process.address).netloc
    named = (*lines, f"Host: {place}", f"Authorization: Bearer {process.secret}")
    return "\r\n".join([named[0], *named[1:], "", ""]).encode()


def test_silent_connections_are_closed(impatient: Process) -> None:
    """Two hundred connections that say nothing keep no client out, and every one of them is closed by the server."""
    with ExitStack() as opened:
        silent = [opened.enter_context(connect(impatient)) for _ in range(200)]
        assert ask(impatient).status_code == 200
        assert [read_all(one) for one in silent] == [b""] * 200
        assert ask(impatient).status_code == 200


def test_a_connection_that_falls_silent_between_requests_is_closed(impatient: Process) -> None:
    """A client that begins a second request on its connection and stops is told so, like one that does with its first."""
    with connect(impatient) as connection:
        connection.sendall(head_of(impatient, "GET /health/live HTTP/1.1"))
        assert b"200 OK" in connection.recv(65_536)
        connection.sendall(b"GET /health/live HT")
        assert read_problem(read_all(connection))[0] == 408


def test_the_oldest_silent_connection_makes_place(crowded: Process) -> None:
    """Of many silent connections no more stay open than may, the youngest, and requests are answered all the while."""
    with ExitStack() as opened:
        silent = [opened.enter_context(connect(crowded)) for _ in range(200)]
        for _ in range(3):
            assert ask(crowded).status_code == 200
        for one in silent[:-FEW_CONNECTIONS]:
            assert read_all(one) == b""
        assert len(select.select(silent[-FEW_CONNECTIONS:], [], [], 0)[0]) <= 3


def test_a_server_whose_connections_all_work_refuses(tmp_path: Path, command_forks: Forks) -> None:
    """Where every connection is at work a further one gets a problem document, and a place when one ends."""
    with bounded(tmp_path, command_forks, max_connections=5, **SLOW) as process, ExitStack() as opened:
        working = [opened.enter_context(connect(process)) for _ in range(5)]
        for one in working:
            one.sendall(head_of(process, "GET /api/stream HTTP/1.1"))
            assert b"200 OK" in one.recv(65_536)
        with connect(process) as refused:
            assert read_problem(read_all(refused))[0] == 503
        working[0].close()
        until = time.monotonic() + SECS
        while time.monotonic() < until:
            try:
                if ask(process).status_code == 200:
                    return
            except httpx2.TransportError:
                continue
        pytest.fail("no place became free")


@pytest.mark.parametrize("piece", [b"a", b"X-A: b\r\n"])
def test_a_slow_head_is_refused(impatient: Process, piece: bytes) -> None:
    """A head that comes byte by byte, or header by header, is refused with 408 however often something comes."""
    with connect(impatient) as connection:
        status, problem = read_problem(trickle(connection, b"GET /health/live HTTP/1.1\r\n", piece))
        assert (status, problem["code"]) == (408, "timeout")
        assert ask(impatient).status_code == 200


def test_an_endless_head_is_refused(crowded: Process) -> None:
    """A head of more than 64 KiB is refused before it ends, and is not kept."""
    with connect(crowded) as connection:
        connection.sendall(b"GET /health/live HTTP/1.1\r\n" + b"X-A: " + b"a" * 200_000)
        assert read_problem(read_all(connection))[0] == 431


@pytest.mark.parametrize("framing", ["Content-Length: 100000", "Transfer-Encoding: chunked"])
def test_a_slow_body_is_refused(impatient: Process, framing: str) -> None:
    """A body that comes byte by byte is refused with 408, whether its length was said or not, and nothing is stored."""
    with connect(impatient) as connection:
        head = head_of(impatient, "POST /api/users HTTP/1.1", "Content-Type: application/json", framing)
        piece = b"1\r\n \r\n" if "chunked" in framing else b" "
        status, problem = read_problem(trickle(connection, head, piece).partition(b"0\r\n\r\n")[0])
        assert (status, problem["code"]) == (408, "timeout")
        users = ask(impatient, "api/users", headers={"Authorization": f"Bearer {impatient.secret}"}).json()["users"]
        assert len(users) == 1


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts the files of a process in /proc")
def test_a_client_that_reads_nothing_is_cut_off(tmp_path: Path, command_forks: Forks) -> None:
    """A client that asks for much and reads nothing of it loses its connection, and what waited for it is let go."""
    with bounded(tmp_path, command_forks, send_secs=1) as process:
        files = Path(f"/proc/{process.popen.pid}/fd")
        assert ask(process).status_code == 200
        time.sleep(0.2)
        before = len(list(files.iterdir()))
        with connect(process) as connection:
            connection.setblocking(False)
            request = head_of(process, "GET /api/openapi.json HTTP/1.1")
            sent, until = 0, time.monotonic() + SECS
            while time.monotonic() < until:
                try:
                    sent += connection.send(request)
                except BlockingIOError:
                    if sent and len(list(files.iterdir())) <= before:
                        break
                    time.sleep(0.05)
                except (ConnectionResetError, BrokenPipeError):
                    break
            assert time.monotonic() < until
        assert ask(process).status_code == 200


def test_event_streams_are_bounded_by_key(tmp_path: Path, command_forks: Forks) -> None:
    """Of five hundred event streams of one API key so many open as may; another key gets its own, and an end frees one."""
    with bounded(tmp_path, command_forks, streams_per_api_key=50) as process, ExitStack() as opened:
        other = httpx2.post(
            f"{process.address}api/api-keys",
            headers={"Authorization": f"Bearer {process.secret}"},
            json={"name": "another", "scope": "admin"},
        ).json()["secret"]
        streams = [opened.enter_context(connect(process)) for _ in range(500)]
        for one in streams:
            one.sendall(head_of(process, "GET /api/stream HTTP/1.1"))
        firsts = [one.recv(65_536) for one in streams]
        assert sum(b" 200 OK" in first for first in firsts) == 50
        assert sum(b" 429 " in first for first in firsts) == 450
        assert ask(process, "api/me", headers={"Authorization": f"Bearer {process.secret}"}).status_code == 200
        with httpx2.stream(
            "GET", f"{process.address}api/stream", headers={"Authorization": f"Bearer {other}"}, timeout=SECS
        ) as answer:
            assert answer.status_code == 200
        next(one for one, first in zip(streams, firsts, strict=True) if b" 200 OK" in first).close()
        until = time.monotonic() + SECS
        while time.monotonic() < until:
            with connect(process) as again:
                again.sendall(head_of(process, "GET /api/stream HTTP/1.1"))
                if b" 200 OK" in again.recv(65_536):
                    return
        pytest.fail("no stream became free")


@pytest.mark.parametrize("way", ["header", "cookie", "login"])
def test_guessing_is_bounded(tmp_path: Path, command_forks: Forks, way: str) -> None:
    """After so many invalid API keys no new one is looked up, not even a right one; a key that works goes on working."""
    with (
        bounded(tmp_path, command_forks, failed_api_keys_per_minute=10) as process,
        httpx2.Client(timeout=SECS) as client,
    ):
        mine = {"Authorization": f"Bearer {process.secret}"}
        fresh = client.post(
            f"{process.address}api/api-keys", headers=mine, json={"name": "fresh", "scope": "admin"}
        ).json()["secret"]

        def guess(secret: str) -> httpx2.Response:
            client.cookies.clear()
            if way == "login":
                return client.post(f"{process.address}api/login", json={"api_key": secret})
            sent = {"Authorization": f"Bearer {secret}"} if way == "header" else {"Cookie": f"everfold_key={secret}"}
            return client.get(f"{process.address}api/me", headers=sent)

        answers = [guess(f"ef_{number:043}") for number in range(60)]
        statuses = [answer.status_code for answer in answers]
        assert statuses[:10] == [401] * 10
        assert set(statuses) == {401, 429}
        assert statuses.count(429) > 30
        assert int(answers[-1].headers["Retry-After"]) >= 1
        assert "guess" not in answers[-1].text
        assert 429 in [guess(fresh).status_code for _ in range(2)]
        assert client.get(f"{process.address}api/me", headers=mine).status_code == 200
        assert client.get(f"{process.address}health/live").status_code == 200


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["Host: localhost"], 200),
        (["Host: LOCALHOST.:80"], 200),
        (["Host: 127.0.0.1:1"], 200),
        (["Host: [::1]:8420"], 200),
        (["Host: memory.example"], 200),
        (["Host: proxy.example:443"], 200),
        (["Host: evil.example"], 421),
        (["Host: evil.example:8420"], 421),
        (["Host: 127.0.0.1.evil.example"], 421),
        (["Host: 192.168.1.7"], 421),
        (["Host: evil.example", "X-Forwarded-Host: localhost"], 421),
        (["Host: localhost", "Host: evil.example"], 400),
        (["Host: local host"], 400),
        (["Host: localhost@evil.example"], 400),
        (["Host:"], 400),
        ([], 400),
    ],
)
def test_a_request_for_another_host_is_refused(hosts: Process, lines: list[str], status: int) -> None:
    """A name that leads here by another's doing is refused on every route, health too; our own names are not."""
    for path in ("/health/live", "/", "/api/me", "/assets/app.js"):
        with connect(hosts) as connection:
            key = f"Authorization: Bearer {hosts.secret}"
            text = "\r\n".join([f"GET {path} HTTP/1.1", *lines, key, "Connection: close", "", ""])
            connection.sendall(text.encode())
            said = read_all(connection)
        assert int(said.split()[1]) == status, (path, said[:300])
        if status != 200:
            assert read_problem(said)[0] == status


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory, command_forks: Forks) -> Iterator[Process]:
    """A server with a public name and a further one."""
    folder = tmp_path_factory.mktemp("hosts")
    config = folder / "everfold.toml"
    config.write_text('[server]\npublic_url = "https://memory.example"\nallowed_hosts = ["Proxy.example"]\n')
    with serving(config, folder / "log.db", command_forks, command=SERVE) as process:
        yield process


@pytest.mark.parametrize(
    ("host", "public_url", "is_warned"),
    [
        ("127.0.0.1", None, False),
        ("127.0.0.2", None, False),
        ("0.0.0.0", None, True),
        ("0.0.0.0", "http://memory.example", True),
        ("0.0.0.0", "https://memory.example", False),
    ],
)
def test_listening_beyond_this_machine_without_tls_is_warned_of(
    tmp_path: Path, command_forks: Forks, *, host: str, public_url: str | None, is_warned: bool
) -> None:
    """A server that others reach warns once that they do so without TLS, unless a proxy with TLS is named."""
    config = tmp_path / "everfold.toml"
    named = f'public_url = "{public_url}"\n' if public_url else ""
    config.write_text(f'[server]\nhost = "{host}"\n{named}')
    starter = SERVE.replace("print(address, flush=True)", "print(address.replace(host, '127.0.0.1'), flush=True)")
    starter = starter.replace("run()\n", "import sys\nsys.stderr = sys.stdout\nrun()\n")
    with serving(config, tmp_path / "log.db", command_forks, command=starter) as process:
        process.stop()
        assert process.popen.returncode == 0
        assert sum("without TLS" in line for line in [*process.said, *process.lines]) == is_warned
