"""Tools of agents: what a model is offered, what becomes of a call, and what is refused before any."""

import http.server
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ToolReturnPart
from pydantic_ai.models.test import TestModel

from everfold.agents.models import open_agent_model
from everfold.agents.toolsets import open_toolsets
from everfold.config import load_settings
from everfold.errors import InvalidInputError, ToolServerError
from everfold.sections import McpSettings

SERVER = Path(__file__).with_name("tool_server.py")
WriteScript = Callable[..., str]


def served(**keys: object) -> McpSettings:
    """A server of tools with these settings."""
    return McpSettings.model_validate(keys)


async def call(
    script: WriteScript,
    calls: Sequence[tuple[str, Mapping[str, object]]],
    *,
    tools: Sequence[str] = (),
    mcp: Mapping[str, McpSettings] | None = None,
    reads_only: bool = False,
) -> list[tuple[str, object, str]]:
    """The name, the answer and the outcome of each call that a model makes at once."""
    wanted = [{"tool": tool, "args": args} for tool, args in calls]
    name = script(*([{"calls": wanted}] if wanted else []), {"text": "Done."})
    model = open_agent_model(load_settings(), name, what="a test", purpose="chat")
    agent = Agent(model.model, toolsets=open_toolsets(tools, mcp or {}, reads_only=reads_only), retries=2)
    async with agent:
        run = await agent.run("Go.")
    parts = [part for message in run.all_messages() if isinstance(message, ModelRequest) for part in message.parts]
    return [(part.tool_name, part.content, part.outcome) for part in parts if isinstance(part, ToolReturnPart)]


async def test_functions_are_called_plain_and_async(script: WriteScript) -> None:
    """A plain and an async function of an import path are called with what the model gave and with their defaults."""
    asked: list[tuple[str, Mapping[str, object]]] = [("add", {"first": 2}), ("wait_and_say", {"words": "hello"})]
    assert await call(script, asked, tools=["desk_tools:add", "desk_tools:wait_and_say"]) == [
        ("add", 12, "success"),
        ("wait_and_say", "heard: hello", "success"),
    ]


async def test_a_function_is_offered_as_it_is_written() -> None:
    """A model is shown the name, the words and the parameters of a function, with what each is for."""
    model = TestModel(call_tools=[])
    async with Agent(model, toolsets=open_toolsets(["desk_tools:add"], {})) as agent:
        await agent.run("Go.")
    assert model.last_model_request_parameters is not None
    (offered,) = model.last_model_request_parameters.function_tools
    assert (offered.name, offered.description) == ("add", "Add two numbers.")
    schema = offered.parameters_json_schema
    assert schema["required"] == ["first"]
    assert schema["properties"]["first"] == {"type": "integer", "description": "One."}


async def test_a_function_that_fails_tells_the_model(script: WriteScript) -> None:
    """What a function raises comes to the model in one line without the secret in it, and ends nothing."""
    ((_, answer, outcome),) = await call(script, [("fail", {"words": "out of paper"})], tools=["desk_tools:fail"])
    assert outcome == "failed"
    assert "fail failed with ValueError: out of paper with" in str(answer)
    assert "4fG7hJ2kLm9pQr5tVw8x" not in str(answer)


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (["desk_tools:nobody"], "desk_tools:nobody cannot be imported"),
        (["no_such_module:add"], "no_such_module:add cannot be imported"),
        (["desk_tools:HANDS"], "desk_tools:HANDS is a list; name a function"),
        (["desk_tools:odd"], "check its types"),
        (["desk_tools:add", "desk_tools:add"], "two tools are called 'add'"),
    ],
)
def test_functions_that_cannot_be_offered(tools: Sequence[str], said: str) -> None:
    """A function that cannot be had, or that no model could call, is refused before anything runs, by its path."""
    with pytest.raises(InvalidInputError, match=said):
        open_toolsets(tools, {})


async def test_a_program_is_a_server(
    script: WriteScript, command: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server over stdio answers under its name, has the variables that were named for it and no other, and is listed."""
    monkeypatch.setenv("MY_DESK", "k-1234")
    monkeypatch.setenv("OTHER_KEY", "not for it")
    mcp = {"desk": served(command=tuple(command), env={"DESK_KEY": "MY_DESK"}, allow=("read_note", "read_key"))}
    answers = await call(
        script, [("desk_read_note", {"name": "a"}), ("desk_read_key", {}), ("desk_write_note", {"name": "a"})], mcp=mcp
    )
    assert answers[0] == ("desk_read_note", "The note a says: the ferry leaves at 16:40.", "success")
    assert answers[1] == ("desk_read_key", "key=k-1234 other=none", "success")
    assert answers[2][2] == "retried"
    assert "Unknown tool name: 'desk_write_note'" in str(answers[2][1])


async def test_a_server_that_fails_tells_the_model(
    script: WriteScript, command: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool of a server that raises is a failed call, no broken run, and the value that was lent to it is not repeated."""
    monkeypatch.setenv("MY_DESK", "k-1234")
    mcp = {"desk": served(command=tuple(command), env={"DESK_KEY": "MY_DESK"})}
    ((_, answer, outcome),) = await call(script, [("desk_fail", {})], mcp=mcp)
    assert outcome == "failed"
    assert "no desk here" in str(answer)
    assert "k-1234" not in str(answer)


@contextmanager
def serve_http() -> Iterator[str]:
    """The address of a server of tools over streamable HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(SERVER), "http", str(port)], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < until, "the server did not begin"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


async def test_an_address_is_a_server(script: WriteScript) -> None:
    """A server over streamable HTTP answers under its name, with the tools that are allowed."""
    with serve_http() as url:
        mcp = {"far": served(url=url, allow=("read_note",))}
        answers = await call(script, [("far_read_note", {"name": "b"}), ("far_fail", {})], mcp=mcp)
    assert answers[0] == ("far_read_note", "The note b says: the ferry leaves at 16:40.", "success")
    assert "Unknown tool name" in str(answers[1][1])


async def test_a_name_that_leads_inside_is_no_server(script: WriteScript, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose name leads into a private network is refused and never reached, unless its settings allow that."""
    look_up = socket.getaddrinfo

    def find(host: object, port: object, *rest: object, **named: object) -> object:
        return look_up("127.0.0.1" if host == "tools.example" else host, port, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", find)
    with record() as (url, seen):
        mcp = {"far": served(url=url.replace("127.0.0.1", "tools.example"))}
        with pytest.raises(ToolServerError, match=r"tools\.example, which is in a private network"):
            await call(script, [], mcp=mcp)
        assert seen == []
        mcp = {"far": served(url=url.replace("127.0.0.1", "tools.example"), allow_private=True)}
        with pytest.raises(ToolServerError, match="'far' cannot be used"):
            await call(script, [], mcp=mcp)
        assert {request["host"].partition(":")[0] for request in seen} == {"tools.example"}


class _Recorder(http.server.BaseHTTPRequestHandler):
    """Notes the headers of each request, and sends it elsewhere or nowhere."""

    seen: list[dict[str, str]]
    elsewhere: str | None

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append({name.lower(): value for name, value in self.headers.items()})
        self.send_response(307 if self.elsewhere else 404)
        if self.elsewhere:
            self.send_header("Location", self.elsewhere)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - the library's names

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def record(elsewhere: str | None = None) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """An address, and the headers of what came there."""
    seen: list[dict[str, str]] = []
    handler = type("Handler", (_Recorder,), {"seen": seen, "elsewhere": elsewhere})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/mcp", seen
        served.shutdown()
        thread.join()


async def test_headers_stay_with_their_server(monkeypatch: pytest.MonkeyPatch, script: WriteScript) -> None:
    """A header whose value is a secret goes to the server, which cannot send us elsewhere with it, and is in no error."""
    monkeypatch.setenv("FAR_KEY", "k-5678")
    with record() as (elsewhere, strange), record(elsewhere) as (url, own):
        mcp = {"far": served(url=url, headers={"X-Api-Key": "FAR_KEY"})}
        with pytest.raises(ToolServerError, match="the tool server 'far' cannot be used") as caught:
            await call(script, [], mcp=mcp)
    assert own
    assert strange == []
    assert {request.get("x-api-key") for request in own} == {"k-5678"}
    assert "k-5678" not in str(caught.value)


REFUSER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"error": {"code": 1, "message": "x" * 150 + os.environ["DESK_KEY"]}}
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        server = {"name": "desk", "version": "1"}
        answer = {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


@pytest.mark.parametrize("other", ["horse", "correct"])
async def test_a_value_is_hidden_before_an_error_is_cut(
    monkeypatch: pytest.MonkeyPatch, script: WriteScript, other: str
) -> None:
    """Of a value that reaches over the end of what is shown no part is, nor of one that begins with another."""
    monkeypatch.setenv("DESK_KEY", "correct horse " * 20)
    monkeypatch.setenv("DESK_USER", other)
    command = (sys.executable, "-c", REFUSER)
    mcp = {"desk": served(command=command, env={"DESK_USER": "DESK_USER", "DESK_KEY": "DESK_KEY"})}
    with pytest.raises(ToolServerError, match=r"xxx\[a value that is not shown\]; start") as caught:
        await call(script, [], mcp=mcp)
    assert "horse" not in str(caught.value)


@pytest.mark.parametrize("field", ["env", "headers"])
def test_a_variable_that_is_missing(field: str) -> None:
    """A value by reference to a variable that is not set is refused before the server is touched, by the variable's name."""
    place = {"command": ("true",)} if field == "env" else {"url": "http://127.0.0.1:9/mcp"}
    settings = served(**place, **{field: {"TOKEN": "NOT_SET_HERE"}})
    with pytest.raises(InvalidInputError, match="'far' needs the variable NOT_SET_HERE for TOKEN") as caught:
        open_toolsets([], {"far": settings})
    assert caught.value.ids == {"variable": "NOT_SET_HERE"}


def test_a_server_whose_name_no_tool_can_carry() -> None:
    """A server's name that cannot stand in the name of a tool is refused."""
    with pytest.raises(InvalidInputError, match="needs a name of letters"):
        open_toolsets([], {"my desk": served(command=("true",))})


@pytest.mark.slow
async def test_an_allowed_tool_that_there_is_not(script: WriteScript, command: Sequence[str]) -> None:
    """An allow-list that names a tool which the server lacks is refused, with what it has."""
    mcp = {"desk": served(command=tuple(command), allow=("read_notes",))}
    with pytest.raises(InvalidInputError, match="'desk' has no read_notes; it has fail, hang, read_key, read_note"):
        await call(script, [], mcp=mcp)


async def test_a_tool_that_writes_is_no_tool_of_a_reader(script: WriteScript, command: Sequence[str]) -> None:
    """A tool that writes by its server's own word is refused to a reader, and is an agent's all the same."""
    mcp = {"desk": served(command=tuple(command), allow=("read_note", "write_note"))}
    assert await call(script, [("desk_read_note", {"name": "a"})], mcp=mcp)
    with pytest.raises(InvalidInputError, match="the tool 'write_note' of the server 'desk' is declared as writing"):
        await call(script, [], mcp=mcp, reads_only=True)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (served(command=("/no/such/program",)), "No such file"),
        (served(command=(sys.executable, "-c", "import sys; sys.exit('no desk in sight')")), "no desk in sight"),
        (served(url="http://127.0.0.1:9/mcp"), "connection attempts failed"),
    ],
    ids=["no program", "a program that ends", "nobody there"],
)
async def test_a_server_that_cannot_be_used(script: WriteScript, settings: McpSettings, said: str) -> None:
    """A server that does not start or is not there is an error with its name, with what it said last."""
    with pytest.raises(ToolServerError, match=f"'desk' cannot be used: .*{said}"):
        await call(script, [], mcp={"desk": settings})
