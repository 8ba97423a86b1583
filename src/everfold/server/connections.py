"""Connections that are bounded: in their number, and in how long a client may be slow.

A connection waits for a request or works on one. While it waits, a client has `header_secs` for the first request's head
and for each further one from its first byte on, and between requests the time that a connection is kept. While it works,
the body is bounded where it is read (`everfold.server.middleware`), and a client that reads nothing of its answer is cut
off after `send_secs`. If there are too many connections, the one that has waited longest is closed, so silent
clients do not keep others out; if all are at work, the new one is refused.

Source: the Slowloris attack (R. Hansen, 2009); RFC 9110, 15.5.9 (408); RFC 6585, 5 (431).
"""

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from everfold.ports.system import Ids
from everfold.sections import ServerSettings
from everfold.server.problems import MEDIA_TYPE, make_problem

MOST_HEAD_BYTES: Final = 65_536
"""Source: h11's `max_incomplete_event_size`, which uvicorn keeps to where it reads with h11."""


@dataclass(slots=True, kw_only=True)
class Bounds:
    """What the connections of a server share.

    Attributes:
        waiting: Those that wait for a request, the one that has waited longest first.
        open_count: How many there are.
    """

    settings: ServerSettings
    ids: Ids
    waiting: "dict[BoundedConnection, None]" = field(default_factory=dict)
    open_count: int = 0


class BoundedConnection(HttpToolsProtocol):
    """One connection of a client."""

    def __init__(self, *arguments: Any, bounds: Bounds, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._bounds = bounds
        self._head_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None
        self._is_in_head = False
        self._head_bytes = 0

    @property
    def _is_at_work(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    # --- what the transport tells

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as it is there
        """See `asyncio.Protocol`; where there are too many connections, one is closed or this one refused."""
        super().connection_made(transport)
        bounds = self._bounds
        bounds.open_count += 1
        bounds.waiting[self] = None
        self._await_head()
        if bounds.open_count <= bounds.settings.max_connections:
            return
        longest = next(iter(bounds.waiting))
        if longest is self:
            self._refuse(503, "the server has as many connections as it may; try again later, or raise max_connections")
        else:
            longest._close()  # noqa: SLF001 - it is one of ours

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._bounds.open_count -= 1
        self._bounds.waiting.pop(self, None)
        self._stop_awaiting_head()
        self._stop_awaiting_reader()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        super().data_received(data)
        if self._is_at_work:
            self._bounds.waiting.pop(self, None)
            self._stop_awaiting_head()
        elif self._head_timer is None:
            self._await_head()
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES and self._is_at_work:  # the next request, while this one is answered
                self.transport.abort()
            elif self._head_bytes > MOST_HEAD_BYTES:
                self._refuse(431, f"the head of the request is larger than {MOST_HEAD_BYTES:,} bytes; send less")

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`: the client does not read as fast as we write."""
        super().pause_writing()
        self._send_timer = self.loop.call_later(self._bounds.settings.send_secs, self.transport.abort)

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._stop_awaiting_reader()
        super().resume_writing()

    # --- what the parser tells

    def on_message_begin(self) -> None:
        """The first byte of a head is here."""
        self._is_in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is here."""
        self._is_in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is here."""
        super().on_message_complete()
        if not self._is_at_work:  # the rest of a body came in behind its answer: the connection may be used again
            self._stop_awaiting_head()
            self._unset_keepalive_if_required()
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def on_response_complete(self) -> None:
        """The answer was written."""
        super().on_response_complete()
        if not self._is_at_work and not self.transport.is_closing():
            self._bounds.waiting[self] = None

    # --- bounds

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self._bounds.settings.header_secs, self._give_up)

    def _give_up(self) -> None:
        if self._is_in_head:
            self._refuse(408, "the head of the request did not come in time; send it faster, or raise header_secs")
        else:
            self._close()

    def _stop_awaiting_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_awaiting_reader(self) -> None:
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None

    def _refuse(self, status: int, detail: str) -> None:
        """Answer with a problem document, and close."""
        if self.transport.is_closing():
            return
        answer = make_problem(self._bounds.ids.new_id("req_"), status, detail, retryable=status != 431)  # noqa: PLR2004
        line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nconnection: close\r\n"
        head = f"{line}content-type: {MEDIA_TYPE}\r\ncontent-length: {len(answer.body)}\r\n\r\n"
        self.transport.write(head.encode("ascii") + bytes(answer.body))
        self._close()

    def _close(self) -> None:
        self._bounds.waiting.pop(self, None)
        if not self.transport.is_closing():
            self.transport.close()
