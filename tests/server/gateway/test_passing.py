"""What is passed on is what came: path, query and headers; and what is not passed on is told why, in the SDK's error form."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from anyio import to_thread
from tests.server.gateway.conftest import PATHS, Gateway, run_gateway, say
from tests.server.gateway.played import PlayedProvider

HEAD = "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"


@pytest.mark.parametrize(
    "path", ["org%2Fname", "a%3Fb%23c", "%00", "a%0Ab", "%ff", "m%25odels", "a?b=%2F&c=d%20e", "..a", ".%252e"]
)
async def test_a_path_passes_as_it_came(gateway: Gateway, provider: PlayedProvider, path: str) -> None:
    """What a client encodes in a path or a query, the provider gets encoded."""
    assert (await gateway.client.get(f"/v1/models/{path}")).status_code == 200
    assert provider.sent[-1].path == f"/v1/models/{path}"


@pytest.mark.parametrize("path", ["%2e%2e/secret", "models/%2e/a", "models%2f..%2f..%2fsecret", "..%5csecret", "..;/a"])
async def test_a_path_stays_below_its_prefix(gateway: Gateway, provider: PlayedProvider, path: str) -> None:
    """A dot segment is refused, however it is written: a key that the gateway adds goes to no other route."""
    answer = await gateway.client.get(f"/v1/{path}")
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    assert provider.sent == []


async def test_a_path_that_no_url_can_have_is_refused(gateway: Gateway, provider: PlayedProvider) -> None:
    """A path that the client to the provider refuses is the fault of the request: 400."""
    path = f"/v1/models/{'a' * (65_530 - len('/v1/models/'))}"
    assert (await gateway.client.get(path)).status_code == 400
    assert provider.sent == []


@pytest.mark.parametrize("value", ["Caf\u00e9".encode(), "M\u00fcller/1".encode("latin-1")])
async def test_a_header_passes_byte_for_byte(gateway: Gateway, provider: PlayedProvider, value: bytes) -> None:
    """A value need not be ASCII, and reaches the provider unchanged."""
    content = json.dumps({"model": "m", "messages": [say("One?")]})
    answer = await gateway.client.post(PATHS["openai"], content=content, headers=[(b"x-title", value)])
    assert answer.status_code == 200
    assert provider.sent[-1].headers["x-title"].encode("latin-1") == value


async def test_every_line_of_a_header_passes(gateway: Gateway, provider: PlayedProvider) -> None:
    """A header that a client sends twice reaches the provider twice, in order."""
    content = json.dumps({"model": "m", "max_tokens": 9, "messages": [say("One?")]})
    headers = [("anthropic-beta", "one"), ("anthropic-beta", "two")]
    assert (await gateway.client.post(PATHS["anthropic"], content=content, headers=headers)).status_code == 200
    assert provider.sent[-1].headers["anthropic-beta"] == "one, two"


def send(gateway: Gateway, path: str, length: int, body: bytes) -> bytes:
    """What the gateway says to a body that names a length."""
    with socket.create_connection(("127.0.0.1", int(gateway.client.base_url.port or 0)), timeout=10) as connection:
        connection.sendall(HEAD.format(path=path, length=length).encode() + body)
        said = b""
        with suppress(ConnectionResetError):
            while piece := connection.recv(65_536):
                said += piece
        return said


@pytest.mark.parametrize("form", ["openai", "anthropic"])
async def test_a_body_that_stops_is_answered(tmp_path: Path, provider: PlayedProvider, form: str) -> None:
    """A body that does not come within `server.body_secs` is answered 408, and its connection is closed."""
    async with run_gateway(tmp_path / "g.db", provider.url, {"server": {"body_secs": 0.2}}) as gateway:
        said = await to_thread.run_sync(send, gateway, PATHS[form], 100, b"{")
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["error"]["type"] == "timeout_error"
    assert provider.sent == []


async def test_a_body_that_is_too_large_is_refused(tmp_path: Path, provider: PlayedProvider) -> None:
    """A body over `server.body_limit_bytes` is answered 413, whether it tells its length or not."""
    async with run_gateway(tmp_path / "g.db", provider.url, {"server": {"body_limit_bytes": 1_000}}) as gateway:

        async def come() -> AsyncIterator[bytes]:
            yield b"x" * 1_001

        for content in (b"x" * 1_001, come()):
            answer = await gateway.client.post(PATHS["openai"], content=content)
            assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    assert provider.sent == []
