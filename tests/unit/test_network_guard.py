"""No test reaches beyond this machine."""

import asyncio
import socket

import pytest

BEYOND = "192.0.2.1"  # RFC 5737: for documentation, never routed


def test_refuses_to_connect_beyond_loopback() -> None:
    """A test that connects to another machine fails at once, and says why."""
    with socket.socket() as client, pytest.raises(RuntimeError, match="loopback only"):
        client.connect((BEYOND, 443))


def test_refuses_datagrams_beyond_loopback() -> None:
    """A test that sends a datagram to another machine fails at once."""
    with socket.socket(type=socket.SOCK_DGRAM) as client, pytest.raises(RuntimeError, match="loopback only"):
        client.sendto(b"x", (BEYOND, 53))


def test_refuses_to_look_up_other_names() -> None:
    """A test cannot ask a name server."""
    with pytest.raises(RuntimeError, match="loopback only"):
        socket.getaddrinfo("models.example", 443)


async def test_refuses_async_connections_beyond_loopback() -> None:
    """An event loop's connections are held to the same rule."""
    with pytest.raises(RuntimeError, match="loopback only"):
        await asyncio.open_connection(BEYOND, 443)


def test_lets_loopback_through() -> None:
    """A server that a test starts on this machine can be reached."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
        assert client.getpeername() == server.getsockname()
