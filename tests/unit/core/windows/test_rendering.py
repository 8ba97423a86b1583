"""What a provider would refuse never reaches it, whatever the client stored."""

import base64
import json
from collections.abc import Sequence
from typing import Any, Literal, cast

import pytest
from tests.support.proofs import count_tokens

import everfold
from everfold.core.log.wire import read_wire
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.windows.rendering import render
from everfold.testing import check_anthropic_request, check_openai_request

CALL: JsonObject = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
RESULT: JsonObject = {"role": "tool", "tool_call_id": "c1", "content": "done"}
STEP: tuple[JsonObject, ...] = ({"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT)
HELLO: JsonObject = {"role": "user", "content": "Hello!"}
LONE = "\ud83d"


def ask(*blocks: JsonObject) -> JsonObject:
    """A user's message in Anthropic form."""
    return {"role": "user", "content": list(blocks)}


def use(**changes: JsonValue) -> JsonObject:
    """An assistant's message with one call in Anthropic form."""
    block: JsonObject = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    return {"role": "assistant", "content": [block | changes]}


def answer(**changes: JsonValue) -> JsonObject:
    """Its result."""
    block: JsonObject = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    return {"role": "user", "content": [block | changes]}


MARK: JsonObject = {"type": "ephemeral"}
HOUR: JsonObject = {"type": "ephemeral", "ttl": "1h"}
LOGS: dict[str, Sequence[JsonObject]] = {
    "reused call ids": (HELLO, *STEP, *STEP, *STEP),
    "arguments that are no JSON": (
        HELLO,
        {
            "role": "assistant",
            "tool_calls": [{**CALL, "function": {"name": "look", "arguments": '{"path": "src/ap'}}],
        },
        RESULT,
    ),
    "escaped lone surrogate in arguments": (
        HELLO,
        {
            "role": "assistant",
            "tool_calls": [{**CALL, "function": {"name": "look", "arguments": '{"a": "\\ud83d"}'}}],
        },
        RESULT,
    ),
    "a step closed by an open one": (HELLO, STEP[0], {"role": "assistant", "tool_calls": [{**CALL, "id": "c2"}]}),
    "blank text": (HELLO, {"role": "assistant", "content": " \n"}, {"role": "user", "content": ""}),
    "blank system": ({"role": "system", "content": "  "}, HELLO),
    "unknown keys in blocks": (
        ask({"type": "text", "text": "Hi", "id": "b1", "x": 1, "cache_control": None}),
        use(usage={"input": 3}, caller_x=1),
        answer(id="r1", is_error=0, extra=[1]),
    ),
    "lone surrogates in blocks": (
        ask({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": f"a{LONE}"}}),
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": f"so {LONE}", "signature": "c2ln"},
                {"type": "tool_use", "id": f"t{LONE}", "name": f"look{LONE}", "input": {LONE: LONE}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": f"t{LONE}",
                    "content": [{"type": "text", "text": LONE}, {"type": "hologram", "note": LONE}],
                }
            ],
        },
    ),
    "blocks that no provider knows": (
        ask({"type": "hologram", "frames": [1]}, {"type": "image", "source": {"type": "moon"}}),
        {"role": "assistant", "content": [{"type": "hologram", "frames": [1]}]},
    ),
    "parts that no provider knows": (
        {
            "role": "user",
            "content": [
                {"type": "file", "file": {}, "id": 3},
                {"type": "input_audio", "input_audio": {"data": "", "format": "flac"}},
                {"type": "image_url", "image_url": {"url": "moon:1", "detail": "huge"}},
                {"type": "image_url", "image_url": {"url": "data:image/tiff;base64,AAAA"}},
            ],
        },
    ),
    "a document without text": (
        ask({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": ""}}),
    ),
    "images in a result": (
        ask({"type": "text", "text": "Look"}),
        use(),
        answer(
            content=[
                {"type": "text", "text": "", "cache_control": MARK},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}, "id": 4},
            ]
        ),
    ),
    "pictures and papers whose data is none": (
        ask(
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "data:image/png;base64,AAAA"},
            },
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAAA"}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "%PDF-1.7"}},
        ),
        use(),
        answer(
            content=[
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 99 + "A"}}
            ]
        ),
    ),
    "only thinking": (
        ask({"type": "text", "text": "Think"}),
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln", "n": 1}]},
    ),
    "six cache marks, one of an hour at the end": (
        *(ask({"type": "text", "text": f"Part {index}", "cache_control": MARK}) for index in range(5)),
        ask({"type": "text", "text": "The end", "cache_control": HOUR}),
    ),
}


@pytest.mark.parametrize("name", LOGS)
async def test_every_log_renders_validly(name: str) -> None:
    """Whatever a client stored, the request is one that each provider takes, and is valid UTF-8."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000, system="Be kind.")
        await session.append(LOGS[name])
        window = await session.window(suffix="Noon.")
    extras = {"id", "x", "usage", "caller_x", "extra"} if name == "unknown keys in blocks" else ()
    assert check_openai_request(render(window, "openai")) == []
    assert check_anthropic_request(render(window, "anthropic"), extras=extras) == []


async def test_a_mark_on_a_tool_lives_as_long_as_a_later_one() -> None:
    """A tool's mark of five minutes gets an hour where a message's mark of an hour follows."""
    tool: JsonObject = {"name": "look", "input_schema": {"type": "object"}, "cache_control": MARK}
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000, tools=[tool])
        await session.append(ask({"type": "text", "text": "Hi", "cache_control": HOUR}))
        request = render(await session.window(), "anthropic")
    assert check_anthropic_request(request) == []
    assert request["tools"] == [{**tool, "cache_control": HOUR}]


async def test_the_first_use_of_an_id_keeps_it() -> None:
    """A call id that comes again is renamed with its results, the first use is not, and each is unique."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000)
        await session.append(LOGS["reused call ids"])
        request = render(await session.window(), "anthropic")
    blocks = [block for message in request["messages"] for block in message["content"]]  # type: ignore[union-attr,call-overload,index]
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]  # type: ignore[index,call-overload]
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]  # type: ignore[index,call-overload]
    assert calls == results
    assert len(set(calls)) == 3
    assert calls[0] == "c1"


async def test_a_late_result_is_shown_within_its_bound() -> None:
    """A result that comes too late is fenced in its visible form, not whole, and its marks are counted."""
    late = {**RESULT, "content": "a row of data that goes on and on\n" * 4_000}
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000)
        await session.append([HELLO, STEP[0], HELLO, late])
        window = await session.window()
    tokens = count_tokens(render(window, "openai"))
    assert tokens <= window.report.tokens
    assert window.report.tokens < window.report.budget_tokens


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_text_file_is_shown_as_its_text(role: str, provider: Literal["openai", "anthropic"]) -> None:
    """A plain text file is a document: every provider is shown its words under its title, in a message of any role."""
    data = base64.b64encode("A quince in a pöt.".encode()).decode()
    file: JsonObject = {"filename": "image", "file_data": f"data:text/plain;base64,{data}"}
    shown: JsonObject = {
        "role": role,
        "content": [{"type": "text", "text": "Look."}, {"type": "file", "file": file}],
    }
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=4000)
        await session.append([HELLO, shown])
        request = render(await session.window(), provider)
        check = check_openai_request if provider == "openai" else check_anthropic_request
        assert check(request) == []
        assert "A quince in a pöt." in json.dumps(request, ensure_ascii=False)


def test_a_file_that_is_no_text_is_kept_unread() -> None:
    """Data of another type, and data that is none, stay what they are."""
    for data in ("data:application/pdf;base64,QQ==", "data:text/plain;base64,%%%", "data:text/plain;base64,/w==", 7):
        view = read_wire({"role": "user", "content": [{"type": "file", "file": {"file_data": data}}]})
        assert [part.kind for part in view.parts] == ["opaque"]


@pytest.mark.parametrize(
    "kind",
    [
        "mcp_tool_result",
        "tool_search_tool_result",
        "web_search_tool_result",
        "advisor_tool_result",
        "tomorrows_tool_result",
    ],
)
async def test_blocks_of_the_providers_own_tools_come_back_as_they_came(kind: str) -> None:
    """A call that the provider ran and its result are told by their blocks alone, and sent again unchanged."""
    call = {"type": kind.replace("result", "use") if kind[0] == "m" else "server_tool_use", "id": "s", "name": "find"}
    blocks = [
        {**call, "input": {}},
        {"type": kind, "tool_use_id": "s", "content": []},
        {"type": "text", "text": "Done."},
    ]
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000)
        await session.append([{"role": "user", "content": "Find it."}, {"role": "assistant", "content": blocks}])
        await session.append({"role": "user", "content": "And?"})
        request = render(await session.window(), "anthropic")
    assert [one for one in check_anthropic_request(request) if "tomorrows" not in one] == []
    messages = cast("list[dict[str, object]]", request["messages"])
    assert messages[1]["content"] == blocks


SEARCHES: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
THINKS: JsonObject = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
DONE: JsonObject = {"type": "text", "text": "Done."}
ASKED = ask({"type": "text", "text": "Find it."})


def reply(*blocks: JsonObject) -> JsonObject:
    """An assistant's message in Anthropic form."""
    return {"role": "assistant", "content": list(blocks)}


def name(kind: str) -> JsonObject:
    """What stands for a block that is not sent."""
    return {"type": "text", "text": f"[content of type {kind}]"}


CALLED: JsonObject = {
    "type": "tool_use",
    "id": "t1",
    "name": "look",
    "input": {},
    "caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"},
}
PAIRS: dict[str, tuple[Sequence[JsonObject], Sequence[JsonObject]]] = {
    "a paused turn that goes on": ((ASKED, reply(SEARCHES), reply(FOUND, DONE), HELLO), (SEARCHES, FOUND, DONE)),
    "a paused turn that goes on with thinking": (
        (ASKED, reply(THINKS, SEARCHES), reply(FOUND, THINKS, DONE), HELLO),
        (THINKS, SEARCHES, FOUND, THINKS, DONE),
    ),
    "a paused turn": ((ASKED, reply(DONE, SEARCHES)), (DONE, SEARCHES)),
    "a program that calls a tool of the client's": (
        (ASKED, reply(SEARCHES, *use()["content"]), answer(), reply(FOUND, DONE)),  # type: ignore[misc]
        (SEARCHES, *use()["content"], FOUND, DONE),  # type: ignore[misc]
    ),
    "a program that the user's words end": (
        (ASKED, reply(SEARCHES, CALLED), HELLO),
        (name("server_tool_use"), {key: value for key, value in CALLED.items() if key != "caller"}),
    ),
    "a program that waits": ((ASKED, reply(SEARCHES, CALLED), answer()), (SEARCHES, CALLED)),
    "a call that was never answered": ((ASKED, reply(DONE, SEARCHES), HELLO), (DONE, name("server_tool_use"))),
    "a result whose call is gone": ((ASKED, reply(FOUND, DONE)), (name("web_search_tool_result"), DONE)),
    "a result after the user spoke": (
        (ASKED, reply(SEARCHES), HELLO, reply(FOUND)),
        (name("server_tool_use"), name("web_search_tool_result")),
    ),
    "a call that comes twice": (
        (ASKED, reply(SEARCHES, SEARCHES, FOUND, DONE), HELLO),
        (name("server_tool_use"), SEARCHES, FOUND, DONE),
    ),
}


@pytest.mark.parametrize("case", PAIRS)
async def test_a_call_that_the_provider_ran_goes_with_its_result(case: str) -> None:
    """Within one turn of the assistant a call of the provider's and its result are sent together, or both are named."""
    log, expected = PAIRS[case]
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000)
        await session.append(log)
        request = render(await session.window(), "anthropic")
    assert check_anthropic_request(request, interleaved_thinking=True) == []
    messages = cast("list[dict[str, Any]]", request["messages"])
    shown = [block for message in messages if message["role"] == "assistant" for block in message["content"]]
    assert [{key: value for key, value in block.items() if key != "cache_control"} for block in shown] == [*expected]
