"""Windows as requests of OpenAI's Responses API: what came in its form goes as it came, and every request is valid."""

from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.responses import Response

import everfold
from everfold.core.log.responses import is_responses
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.rendering import Provider, render
from everfold.errors import InvalidInputError
from everfold.testing.judges.requests import check_anthropic_request, check_openai_request, check_responses_request

HELLO: JsonObject = {"role": "user", "content": [{"type": "input_text", "text": "Hello."}]}
REASONING: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"}
SAID: JsonObject = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
}
CALLS: list[JsonObject] = [
    {
        "type": "function_call",
        "id": f"fc_{n}",
        "call_id": f"call_{n}",
        "name": "look",
        "arguments": "{}",
        "status": "completed",
    }
    for n in (1, 2)
]
OUTPUTS: list[JsonObject] = [
    {"type": "function_call_output", "call_id": f"call_{n}", "output": [{"type": "input_text", "text": f"Quay {n}."}]}
    for n in (1, 2)
]
SEARCH: JsonObject = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
TALK: list[JsonObject] = [HELLO, REASONING, SEARCH, SAID, *CALLS, *OUTPUTS, {**SAID, "id": "msg_2"}]
OTHERS: dict[str, list[JsonObject]] = {
    "what nobody knows": [HELLO, REASONING, {"type": "hologram_call", "id": "hc_1", "frames": [1]}, SAID],
    "a compaction of theirs": [{"type": "compaction", "id": "cmp_1", "encrypted_content": "c2ln"}, HELLO],
    "an approval": [
        HELLO,
        {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []},
        {"type": "mcp_approval_request", "id": "mcpr_1", "arguments": "{}", "name": "go", "server_label": "s"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        SAID,
    ],
    "a computer": [
        HELLO,
        REASONING,
        {"type": "computer_call", "id": "cu_1", "call_id": "call_c", "action": {"type": "wait"}, "status": "completed"},
        {
            "type": "computer_call_output",
            "call_id": "call_c",
            "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"},
        },
        SAID,
    ],
    "a local shell": [
        HELLO,
        {
            "type": "local_shell_call",
            "id": "lsh_1",
            "call_id": "call_l",
            "action": {"type": "exec"},
            "status": "completed",
        },
        {"type": "local_shell_call_output", "id": "call_l", "output": "a.txt"},
        SAID,
    ],
    "a custom tool": [
        HELLO,
        {"type": "custom_tool_call", "id": "ct_1", "call_id": "call_t", "name": "patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "call_t", "output": "Done."},
    ],
    "a picture and a file": [
        {
            "role": "user",
            "content": [
                {"type": "input_image", "file_id": "file_1", "detail": "high"},
                {"type": "input_file", "file_id": "file_2"},
            ],
        }
    ],
}
SHELL: list[JsonObject] = [
    {"type": "shell_call", "id": "sh_1", "call_id": "call_s", "status": "completed", "action": {"commands": ["ls"]}},
    {
        "type": "shell_call_output",
        "id": "sho_1",
        "call_id": "call_s",
        "status": "completed",
        "output": [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
    },
]
FOUND: list[JsonObject] = [
    {"type": "tool_search_call", "id": "tsc_1", "execution": "server", "status": "completed", "arguments": {"q": "x"}},
    {"type": "tool_search_output", "id": "tso_1", "execution": "server", "status": "completed", "tools": []},
]
RAN: dict[str, list[JsonObject]] = {
    "a hosted shell": SHELL,
    "a tool search": FOUND,
    "a tool search with an id": [{**item, "call_id": "call_t"} for item in FOUND],
    "a program": [
        {"type": "program", "id": "cm_1", "call_id": "call_p", "code": "1", "fingerprint": "f"},
        {"type": "program_output", "id": "cmo_1", "call_id": "call_p", "result": "1", "status": "completed"},
    ],
    "beside a call of the client's": [*SHELL, CALLS[0]],
}
"""What the provider ran within one reply: calls with their outputs."""
OPENER = "[The conversation begins with the assistant.]"
PROVIDERS: tuple[Provider, ...] = ("openai", "anthropic", "responses")


async def show(messages: object, provider: Provider = "responses", **options: Any) -> JsonObject:
    """The request of a session's window."""
    async with everfold.open("memory://", settings={"recall": {"enabled": False}}) as engine:
        session = await engine.session(**{"limit": 64_000, **options})
        await session.append(cast("Any", messages))
        return render(await session.window(), provider)


async def test_items_come_back_as_they_came() -> None:
    """Reasoning beside its calls, parallel calls, their outputs and the provider's own tools: the same items, in order."""
    assert (await show(TALK))["input"] == TALK


@pytest.mark.parametrize("name", OTHERS)
async def test_items_that_nobody_reads_come_back(name: str) -> None:
    """Items of other tools, of the provider's own compaction, and of a type of tomorrow are passed on at their place."""
    items = cast("list[JsonObject]", (await show(OTHERS[name]))["input"])
    assert [item for item in items if OPENER not in str(item)] == OTHERS[name]


async def test_a_response_of_the_sdk_is_taken() -> None:
    """The SDK's object is appended as it is, and its output comes back."""
    body = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [REASONING, *CALLS]}
    body |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    response = Response.model_validate(body)
    shown = (await show([HELLO, response, *OUTPUTS]))["input"]
    assert shown == [HELLO, REASONING, *CALLS, *OUTPUTS]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", RAN)
async def test_what_the_provider_ran_is_of_its_reply(name: str, whole: bool) -> None:  # noqa: FBT001 - a case
    """A call and its output within one reply are one message of the assistant, given as a response or as its items."""
    items = [REASONING, *RAN[name], SAID]
    given: list[JsonObject] = [{"object": "response", "output": cast("Any", items)}] if whole else items
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000)
        await session.append(cast("Any", [HELLO, *given]))
        assert [message.view.role for message in await session.messages()] == ["user", "assistant"]
        await session.append(cast("Any", [*(OUTPUTS[:1] if CALLS[0] in items else []), HELLO]))
        window = await session.window()
    request = render(window, "responses")
    shown = cast("list[JsonObject]", request["input"])
    assert shown[1 : len(items) + 1] == items
    assert check_openai_request(render(window, "openai")) == []
    assert check_anthropic_request(render(window, "anthropic")) == []


async def test_what_the_provider_ran_is_paired_within_its_reply() -> None:
    """Ids that come again are changed with their outputs, and an output whose call another message has is named."""
    reply: JsonObject = {"object": "response", "output": cast("Any", [*SHELL, SAID])}
    shown = cast("list[JsonObject]", (await show([HELLO, reply, HELLO, reply]))["input"])
    ids = [item.get("call_id") for item in shown if "call_id" in item]
    assert ids[:2] == ["call_s", "call_s"]
    assert ids[2] == ids[3] != "call_s"
    shown = cast("list[JsonObject]", (await show([HELLO, {"object": "response", "output": [SHELL[1]]}]))["input"])
    assert shown[1:] == [{"role": "assistant", "content": "[content of type shell_call_output]"}]


PROGRAM, ENDED = RAN["a program"]
MADE: JsonObject = {**CALLS[0], "caller": {"type": "program", "caller_id": "call_p"}}


async def test_a_program_waits_for_results_of_the_clients() -> None:
    """A program makes a call of the client's and ends in a later reply: both replies are shown as they came, at each step."""
    ended: JsonObject = {"object": "response", "output": cast("Any", [ENDED, SAID])}
    log: list[JsonObject] = [HELLO, {"object": "response", "output": cast("Any", [PROGRAM, MADE])}, OUTPUTS[0]]
    assert (await show(log))["input"] == [HELLO, PROGRAM, MADE, OUTPUTS[0]]
    assert (await show([*log, ended]))["input"] == [HELLO, PROGRAM, MADE, OUTPUTS[0], ENDED, SAID]
    assert (await show([HELLO, PROGRAM, MADE, OUTPUTS[0], ENDED, SAID])) == (await show([*log, ended]))


async def test_half_a_program_is_named() -> None:
    """A program that the user's words end, and an output whose program is gone, are texts."""
    shown = await show(
        [HELLO, {"object": "response", "output": [PROGRAM, SAID]}, HELLO, {"object": "response", "output": [ENDED]}]
    )
    assert [item.get("content") for item in cast("list[JsonObject]", shown["input"]) if "type" not in item] == [
        HELLO["content"],
        "[content of type program]",
        HELLO["content"],
        "[content of type program_output]",
    ]
    assert check_responses_request(shown) == []


async def test_a_clients_own_output_is_a_result() -> None:
    """The output of a shell that the client runs is a result of its own, which answers the call."""
    output = {key: value for key, value in SHELL[1].items() if key != "id"}
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000)
        await session.append(cast("Any", [HELLO, SHELL[0], output, SAID]))
        assert [message.kind for message in await session.messages()] == ["user", "assistant", "result", "assistant"]
        assert cast("list[JsonObject]", render(await session.window(), "responses")["input"])[1:3] == [SHELL[0], output]


async def test_a_reply_is_one_message() -> None:
    """The items of a reply have one number, and so a fold or a retraction never parts reasoning from what it led to."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=8_000)
        assert await session.append(TALK) == [1, 2, 3, 4, 5]
        assert [message.kind for message in await session.messages()] == [
            *("user", "assistant", "result", "result", "assistant")
        ]


async def test_what_is_never_answered_stays_valid() -> None:
    """A call without an output gets one, a call that no text can answer is named, reasoning alone is left out."""
    computer = OTHERS["a computer"][2]
    shown = await show([HELLO, REASONING, *CALLS, OUTPUTS[0], {"role": "user", "content": "Stop."}])
    assert check_responses_request(shown) == []
    assert "interrupted" in str(shown["input"])
    shown = await show([HELLO, REASONING, computer, {"role": "user", "content": "Stop."}])
    assert check_responses_request(shown) == []
    assert "computer_call: never answered" in str(shown["input"])
    shown = await show([HELLO, REASONING, {"role": "user", "content": "Go on."}])
    assert check_responses_request(shown) == []
    assert "reasoning" not in str(shown["input"])


async def test_prompt_and_tools_have_their_places() -> None:
    """The system prompt is the instructions, and tools are flat, in whichever form they were given."""
    function = {"name": "look", "description": "Look.", "parameters": {"type": "object"}}
    request = await show(HELLO, system="Be kind.", tools=[{"type": "function", "function": function}])
    assert request["instructions"] == "Be kind."
    assert request["tools"] == [{"type": "function", **function}]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("name", ["talk", *OTHERS])
async def test_another_form_is_valid(name: str, provider: Provider) -> None:
    """A log in this form renders in the two others: texts, calls and results stay, reasoning is left out."""
    request = await show(TALK if name == "talk" else OTHERS[name], provider)
    check = check_openai_request if provider == "openai" else check_anthropic_request
    assert check(request) == []
    assert "c2ln" not in str(request)


@pytest.mark.parametrize(
    "message",
    [
        {"type": "ai", "content": "Hi."},
        {"type": "human", "data": {}},
        {"type": "input_text", "role": "bird", "content": ""},
    ],
)
async def test_messages_of_others_are_refused(message: JsonObject) -> None:
    """What only looks like an item is no message, as before."""
    with pytest.raises(InvalidInputError, match="role"):
        await show(message)


_CALL_KINDS = ("function_call", "custom_tool_call", "web_search_call")


@st.composite
def logs(draw: st.DrawFn) -> list[JsonObject]:
    """Turns with reasoning, parallel calls of several kinds, outputs in any order or none, long texts among them."""
    items: list[JsonObject] = []
    for turn in range(draw(st.integers(1, 6))):
        items.append(
            {
                "role": "user",
                "content": [{"type": "input_text", "text": f"Question {turn} " + "why " * draw(st.integers(0, 900))}],
            }
        )
        if draw(st.booleans()):
            items.append({**REASONING, "id": f"rs_{turn}"})
        answers: list[JsonObject] = []
        for number in range(draw(st.integers(0, 3))):
            kind, call_id = draw(st.sampled_from(_CALL_KINDS)), f"call_{draw(st.integers(0, 2))}_{number}"
            if kind == "web_search_call":
                items.append({**SEARCH, "id": call_id})
                continue
            made = {"name": "look", "arguments" if kind == "function_call" else "input": "{}"}
            items.append({"type": kind, "call_id": call_id, **cast("JsonObject", made)})
            answers.append(
                {"type": f"{kind}_output", "call_id": call_id, "output": "Quay. " * draw(st.integers(1, 2_000))}
            )
        if draw(st.booleans()):
            items.append({**SAID, "id": f"msg_{turn}"})
        items += draw(st.permutations(answers)) if draw(st.integers(0, 4)) else []
    return items


@given(logs())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
async def test_every_window_is_valid(items: list[JsonObject]) -> None:
    """Whatever was logged and however much of it is folded or cut, every form of the window is one that its API takes."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=4_000, system="Be kind.")
        for first in range(0, len(items), 7):
            batch = items[first : first + 7]
            try:
                await session.append(cast("Any", batch))
            except InvalidInputError:
                continue  # an output whose call was in a batch that was refused
            window = await session.window(suffix="Noon.")
            assert window.report.tokens <= window.report.budget_tokens
            assert check_responses_request(render(window, "responses")) == []
            assert check_openai_request(render(window, "openai")) == []
            assert check_anthropic_request(render(window, "anthropic")) == []
        assert (await session.verify()).is_sound


async def test_a_window_of_chat_is_valid_here() -> None:
    """Messages of the two other forms become items: calls, results, pictures and documents."""
    picture = "data:image/png;base64,AAAA"
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    chat: list[JsonObject] = [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "A quay."},
        {
            "role": "user",
            "content": [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Tide."}}],
        },
    ]
    request = await show(chat)
    assert check_responses_request(request) == []
    assert request["input"] == [
        {"role": "user", "content": [{"type": "input_image", "image_url": picture, "detail": "auto"}]},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "A quay."},
        {"role": "user", "content": [{"type": "input_text", "text": "[document]\nTide."}]},
    ]


@pytest.mark.parametrize("kind", [[], {}, None, 7])
def test_a_part_of_no_type_says_nothing_of_the_form(kind: object) -> None:
    """A part whose type is no text, as damaged files have it, is of no form, and no error."""
    assert not is_responses({"role": "user", "content": [{"type": kind}]})
