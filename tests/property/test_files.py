"""Files reach the model in whatever form a log is rendered, or are named where the form cannot carry them."""

import base64
import json
from collections.abc import Callable
from typing import Final, cast, get_args

import anyio
from hypothesis import given
from hypothesis import strategies as st

import everfold
from everfold.core.log.messages import WireFormat
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.windows.rendering import Provider
from everfold.testing import check_anthropic_request, check_openai_request
from everfold.testing.judges.requests import check_responses_request

JUDGES: Final[dict[Provider, Callable[[JsonObject], list[str]]]] = {
    "openai": check_openai_request,
    "anthropic": check_anthropic_request,
    "responses": check_responses_request,
}
TITLE: Final = "tides of 1903"


def write_file(form: WireFormat, kind: str, held: bytes) -> JsonObject:
    """A content part of a form that holds a file."""
    data = base64.b64encode(held).decode()
    if form == "anthropic":
        source: JsonObject = {
            "pdf": {"type": "base64", "media_type": "application/pdf", "data": data},
            "url": {"type": "url", "url": f"https://tides.example/{held.hex()}.pdf"},
            "id": {"type": "file", "file_id": f"file_{held.hex()}"},
            "broken": {"type": "base64", "media_type": "application/pdf", "data": f"{data}="},
        }[kind]  # type: ignore[assignment]  # of objects
        return {"type": "document", "title": TITLE, "source": source}
    address = "file_url" if form == "responses" else "file_data"
    field: JsonObject = {
        "pdf": {"file_data": f"data:application/pdf;base64,{data}"},
        "url": {address: f"https://tides.example/{held.hex()}.pdf"},
        "id": {"file_id": f"file_{held.hex()}"},
        "broken": {"file_data": f"data:application/pdf;base64,{data}="},
    }[kind]  # type: ignore[assignment]  # of objects
    file: JsonObject = {"filename": TITLE, **field}
    return {"type": "input_file", **file} if form == "responses" else {"type": "file", "file": file}


def write_log(form: WireFormat, parts: list[JsonValue], *, is_result: bool) -> list[JsonObject]:
    """A log with these parts in a message of the user, or in the result of a call."""
    if not is_result:
        return [{"role": "user", "content": parts}]
    asked: JsonObject = {"role": "user", "content": "Which tide?"}
    call: JsonObject = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    called: JsonObject = {"role": "assistant", "content": None, "tool_calls": [call]}
    block: JsonObject = {"type": "tool_result", "tool_use_id": "c1", "content": parts}
    results: dict[WireFormat, JsonObject] = {
        "openai": {"role": "tool", "tool_call_id": "c1", "content": parts},
        "anthropic": {"role": "user", "content": [block]},
        "responses": {"type": "function_call_output", "call_id": "c1", "output": parts},
    }
    return [asked, called, results[form]]


async def show(log: list[JsonObject], target: Provider) -> JsonObject:
    """What a model is asked with after a log."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(limit=16_000)
        await session.append(cast("list[dict[str, object]]", log))
        window = await session.window()
        return window.render(target)


def carries(form: WireFormat, kind: str, target: Provider) -> bool:
    """Whether a form can carry a file, or its address in the line that names it: an id is of the provider that gave it."""
    return kind in ("pdf", "url") or (kind == "id" and (form == "anthropic") == (target == "anthropic"))


@given(
    form=st.sampled_from(get_args(WireFormat)),
    target=st.sampled_from(get_args(Provider)),
    kind=st.sampled_from(["pdf", "url", "id", "broken"]),
    held=st.binary(min_size=12, max_size=60),
    is_result=st.booleans(),
)
def test_a_file_is_shown_or_named_in_every_form(
    form: WireFormat, target: Provider, kind: str, held: bytes, *, is_result: bool
) -> None:
    """Of every pair of forms: the file is in the request as the other provider takes it, else a line has its title."""
    text: JsonObject = {"type": "input_text" if form == "responses" else "text", "text": "Look."}
    log = write_log(form, [text, write_file(form, kind, held)], is_result=is_result)
    request = anyio.run(show, log, target)
    said = json.dumps(request)
    known = {"pdf": base64.b64encode(held).decode(), "url": held.hex(), "id": f"file_{held.hex()}"}.get(kind, TITLE)
    assert "Look." in said
    assert (known if carries(form, kind, target) else TITLE) in said or (form == target and "[content of type" in said)
    assert JUDGES[target](request) == []
