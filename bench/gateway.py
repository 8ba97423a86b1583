"""What the gateway adds to a request, and whether it loses one of many streams.

The same request goes to a provider on this machine directly and through the gateway, by turns, in one run.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import everfold
from bench.report import Row

TITLE: Final = "Gateway"
STREAMS_COUNT: Final = 500
HISTORIES: Final = {20: 5.0, 1_000: 10.0}
"""How many messages of history, with the most that the gateway may add at the median, in milliseconds."""
_PATH: Final = "/v1/chat/completions"
_SECS: Final = 120.0

Messages = list[dict[str, str]]


def run(*, is_quick: bool) -> tuple[list[Row], list[str]]:
    """The rows of this benchmark."""
    pairs_count = 30 if is_quick else 200
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, _upstream() as provider:
        with _gateway(Path(folder) / "gateway.db", provider) as address:
            for count, most in HISTORIES.items():
                rows += _measure_added(provider, address, count, most, pairs_count)
            rows.append(_measure_first_byte(provider, address, pairs_count))
            rows += _measure_streams(address)
        rows.append(_count_stored(Path(folder) / "gateway.db"))
    return rows, []


def _measure_added(provider: str, address: str, count: int, most: float, pairs_count: int) -> list[Row]:
    """Milliseconds that the gateway adds to a plain request, the whole answer read."""
    added = []
    with _connected(provider) as direct, _connected(address) as through:
        for messages in _list_histories(through, count, pairs_count):
            alone, _ = _ask(direct, messages)
            both, answer = _ask(through, messages)
            added.append((both - alone) * 1000)
            _grow(messages, json.loads(answer)["choices"][0]["message"]["content"])
    shown = f"{count:,} messages of history"
    tenth = statistics.quantiles(added, n=20)[-1]
    return [
        Row(figure=f"added to a request, {shown}, median", value=statistics.median(added), unit="ms", most=most),
        Row(figure=f"added to a request, {shown}, 95th percentile", value=tenth, unit="ms"),
    ]


def _measure_first_byte(provider: str, address: str, pairs_count: int) -> Row:
    """Milliseconds by which the first byte of a stream comes later, in a conversation that goes on."""
    later = []
    with _connected(provider) as direct, _connected(address) as through:
        for messages in _list_histories(through, 20, pairs_count):
            alone, _ = _time_first(direct, messages)
            both, said = _time_first(through, messages)
            later.append((both - alone) * 1000)
            _grow(messages, said)
    return Row(figure="first byte of a stream later by, median", value=statistics.median(later), unit="ms", most=5.0)


def _list_histories(through: HTTPConnection, count: int, pairs_count: int) -> Iterator[Messages]:
    """What is asked, pair by pair: conversations of so many messages, each left for the next one before it is 1.5 times as long."""
    most = max(5, count // 4)
    for first in range(0, pairs_count, most):
        messages = _make_history(count, about=f"Berth {first}-{time.time_ns()}:")
        _grow(messages, json.loads(_ask(through, messages)[1])["choices"][0]["message"]["content"])
        for _ in range(min(most, pairs_count - first)):
            yield messages


def _measure_streams(address: str) -> list[Row]:
    """How many of many streams at once come to their end."""
    started = time.perf_counter()
    whole_count = asyncio.run(_stream_all(address))
    secs = time.perf_counter() - started
    return [
        Row(figure=f"of {STREAMS_COUNT} streams at once, whole", value=whole_count, least=STREAMS_COUNT, digits=0),
        Row(figure=f"{STREAMS_COUNT} streams at once take", value=secs, unit="s"),
    ]


def _count_stored(store: Path) -> Row:
    """How many of the streams are stored as a conversation of a question and its reply."""

    async def count() -> int:
        async with everfold.open(f"sqlite:///{store}") as engine:
            found, after = 0, None
            while page := await engine.list_sessions(after=after):
                for record in page:
                    messages = await (await engine.session(id=record.id)).messages()
                    found += len(messages) == 2 and messages[0].view.text.startswith("Stream ")
                after = page[-1].id
            return found

    return Row(
        figure=f"of {STREAMS_COUNT} streams at once, stored", value=asyncio.run(count()), least=STREAMS_COUNT, digits=0
    )


def _make_history(count: int, *, about: str) -> Messages:
    """So many messages of a conversation, the last one of the user."""
    text = "is asked for by the captain of a ship that comes in on Monday and leaves on Thursday, with forty crates."
    messages = []
    for number in range(count + (count + 1) % 2):
        role = "assistant" if number % 2 else "user"
        messages.append({"role": role, "content": f"{about} {number} of {count} {text}"})
    return messages


def _grow(messages: Messages, said: str) -> None:
    """What a client does with an answer: append it, and ask on."""
    messages.append({"role": "assistant", "content": said})
    messages.append({"role": "user", "content": f"Question {len(messages)}?"})


def _write(messages: Messages, *, is_streamed: bool) -> tuple[bytes, dict[str, str]]:
    body = json.dumps({"model": "m", "messages": messages, "stream": is_streamed}).encode()
    return body, {"content-type": "application/json", "authorization": "Bearer sk-bench"}


def _ask(connection: HTTPConnection, messages: Messages) -> tuple[float, bytes]:
    """Seconds until a plain answer is read, and the answer."""
    body, headers = _write(messages, is_streamed=False)
    started = time.perf_counter()
    connection.request("POST", _PATH, body, headers)
    answer = connection.getresponse().read()
    return time.perf_counter() - started, answer


def _time_first(connection: HTTPConnection, messages: Messages) -> tuple[float, str]:
    """Seconds until the first byte of a stream is there, and what the whole stream says."""
    body, headers = _write(messages, is_streamed=True)
    started = time.perf_counter()
    connection.request("POST", _PATH, body, headers)
    response = connection.getresponse()
    first = response.read(1)
    secs = time.perf_counter() - started
    lines = (first + response.read()).decode().split("\n\n")
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    return secs, "".join(event["choices"][0]["delta"].get("content", "") for event in events)


async def _stream_all(address: str) -> int:
    """Begin all streams at once; gives how many came to their end."""
    return sum(await asyncio.gather(*(_stream(address, number) for number in range(STREAMS_COUNT))))


async def _stream(address: str, number: int) -> bool:
    where = urlsplit(address)
    body, headers = _write([{"role": "user", "content": f"Stream {number}, please."}], is_streamed=True)
    lines = [f"{name}: {value}" for name, value in {**headers, "host": where.netloc, "connection": "close"}.items()]
    head = "\r\n".join([f"POST {_PATH} HTTP/1.1", *lines, f"content-length: {len(body)}", "", ""])
    try:
        async with asyncio.timeout(_SECS):
            reader, writer = await asyncio.open_connection(where.hostname, where.port)
            writer.write(head.encode() + body)
            answer = await reader.read(-1)
            writer.close()
    except (OSError, TimeoutError):
        return False
    return answer.startswith(b"HTTP/1.1 200") and b"[DONE]" in answer


@contextmanager
def _connected(address: str) -> Iterator[HTTPConnection]:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=_SECS)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _upstream() -> Iterator[str]:
    """The address of the provider, in a process of its own."""
    with _process(["-m", "bench.gateway_upstream"]) as process:
        yield f"http://127.0.0.1:{_read_line(process).strip()}"


@contextmanager
def _gateway(store: Path, provider: str) -> Iterator[str]:
    """The address of a gateway in a process of its own."""
    command = "from everfold.cli.entry import run; run()"
    arguments = ["gateway", "--upstream", provider, "--db", str(store), "--port", "0", "--json"]
    with _process(["-c", command, *arguments]) as process:
        told = ""
        while not told.rstrip().endswith("}"):
            told += _read_line(process)
        address: dict[str, Any] = json.loads(told)
        yield address["address"]


@contextmanager
def _process(arguments: list[str]) -> Iterator["subprocess.Popen[str]"]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(_SECS)


def _read_line(process: "subprocess.Popen[str]") -> str:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise RuntimeError("a process of the benchmark ended before it was ready")
    return line
