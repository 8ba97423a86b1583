"""A provider for the gateway's benchmark: as little of a server as there is, so that what is timed is the gateway.

It reads each request to its end and answers at once with the same reply, plain or as a stream of events.
"""

import asyncio
import json
import sys
from typing import Final

_MESSAGE: Final = {"role": "assistant", "content": "The quay is free on Monday, from six in the morning on."}
_PLAIN: Final = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 5, "total_tokens": 5},
    }
).encode()
_PIECES: Final = _MESSAGE["content"].split(" ")


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"


_EVENTS: Final = [*[_event({"content": f"{piece} "}) for piece in _PIECES], _event({}, "stop"), b"data: [DONE]\n\n"]


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            body = await reader.readexactly(length)
            if b'"stream": true' in body:
                await _stream(writer)
            else:
                head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(_PLAIN)
                writer.write(head + _PLAIN)
                await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _stream(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    for event in _EVENTS:
        writer.write(b"%x\r\n%b\r\n" % (len(event), event))
        await writer.drain()
        await asyncio.sleep(0.002)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=1024, limit=2**20)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
