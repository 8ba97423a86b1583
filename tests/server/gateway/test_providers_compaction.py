"""Providers' own compaction through the gateway: it passes, is stored, stands at its place, and goes together with ours."""

from pathlib import Path
from typing import Any

import pytest
from tests.server.gateway.conftest import Gateway, run_gateway, say
from tests.server.gateway.played import Body, Planned, PlayedProvider

LONG = " ".join(f"The quay number {number} is free on Monday." for number in range(60))
ITEM: Body = {"id": "cmp_1", "type": "compaction", "encrypted_content": "gAAAAAB-opaque"}
ASKED: dict[str, Any] = {"context_management": [{"type": "compaction", "compact_threshold": 200_000}]}
BLOCK: Body = {"type": "compaction", "content": "Summary: the quay is free."}
EDITS: dict[str, Any] = {
    "context_management": {"edits": [{"type": "compact_20260112"}, {"type": "clear_tool_uses_20250919"}]}
}


def message(text: str) -> Body:
    """What a model says in the form of the Responses API."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": f"msg_{text}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def response(*items: Body) -> Planned:
    """A response with these items."""
    return Planned(body={"id": "resp_1", "object": "response", "status": "completed", "output": list(items)})


async def test_openais_compaction_is_stored_and_goes_back(gateway: Gateway, provider: PlayedProvider) -> None:
    """A client that drops what was before the item goes on in the same session, and the item goes back as it came."""
    provider.plan += [response(message("One.")), response(ITEM, message("Two.")), response(message("Three."))]
    first = await gateway.ask([say("One?")], form="responses", **ASKED)
    items = [say("One?"), *first.json()["output"], say("Two?")]
    second = await gateway.ask(items, form="responses", **ASKED)
    assert provider.sent[-1].body["context_management"] == ASKED["context_management"]
    dropped = [*second.json()["output"], say("Three?")]
    third = await gateway.ask(dropped, form="responses", **ASKED)
    assert (third.headers["x-everfold-context"], provider.sent[-1].body["input"]) == ("unchanged", dropped)
    await gateway.ask([*dropped, message("Three."), say("Four?")], form="responses", **ASKED)
    [session] = await gateway.sessions()
    log = await gateway.log(session.id)
    assert log[3].wire["output"][0] == ITEM
    assert [one.view.text for one in log] == ["One?", "One.", "Two?", "Two.", "Three?", "Three.", "Four?", "Reply 4."]


async def test_a_list_that_openai_compacts_goes_on(gateway: Gateway, provider: PlayedProvider) -> None:
    """`/responses/compact` passes as it came; what it gives is what the client holds then, in the same session."""
    provider.plan += [response(message("One."))]
    items = [say("One?"), *(await gateway.ask([say("One?")], form="responses")).json()["output"]]
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "One?"}]}
    made = {"id": "resp_2", "object": "response.compaction", "output": [kept, ITEM]}
    provider.plan += [Planned(body=made), response(message("Two."))]
    compacted = await gateway.client.post("/v1/responses/compact", json={"model": "m", "input": items})
    assert compacted.json() == made
    assert provider.sent[-1].body == {"model": "m", "input": items}
    on = await gateway.ask([kept, ITEM, say("Two?")], form="responses")
    assert on.is_success
    [session] = await gateway.sessions()
    log = await gateway.log(session.id)
    assert [one.view.text for one in log] == ["One?", "One.", "", "Two?", "Two."]
    assert log[2].wire["output"] == [ITEM]


async def test_ours_folds_below_its_threshold_with_theirs_in_the_log(tmp_path: Path, provider: PlayedProvider) -> None:
    """With both, ours folds at its own trigger; a compaction of theirs that is still in the tail goes on at its place."""
    async with run_gateway(tmp_path / "g.db", provider.url, {"gateway": {"context_limit": 4000}}) as gateway:
        items: list[Body] = []
        for number in range(10):
            items.append(say(f"Question {number}? {LONG}"))
            provider.plan += [response(ITEM, message("A.")) if number == 8 else response(message(f"Answer {number}."))]
            items += (await gateway.ask(items, form="responses", **ASKED)).json()["output"]
        sent = provider.sent[-1].body
        assert sent["context_management"] == ASKED["context_management"]
        assert "digest" in str(sent["input"])
        assert ITEM in sent["input"]
        [session] = await gateway.sessions()
        assert (await (await gateway.engine.session(id=session.id)).verify()).problems == ()


async def test_anthropics_compaction_and_editing_pass(gateway: Gateway, provider: PlayedProvider) -> None:
    """The request passes with its edits, the block is stored, and goes back as the client sends it."""
    content = [BLOCK, {"type": "text", "text": "Two."}]
    applied = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3}]}
    provider.plan += [Planned(), Planned(body={"role": "assistant", "content": content, "context_management": applied})]
    first = await gateway.ask([say("One?")], form="anthropic", **EDITS)
    messages = [say("One?"), {"role": "assistant", "content": first.json()["content"]}, say("Two?")]
    second = await gateway.ask(messages, form="anthropic", **EDITS)
    assert second.json()["context_management"] == applied
    assert provider.sent[-1].body["context_management"] == EDITS["context_management"]
    for mine in ([*messages, {"role": "assistant", "content": content}], [{"role": "assistant", "content": content}]):
        on = await gateway.ask([*mine, say("Three?")], form="anthropic", **EDITS)
        assert on.headers["x-everfold-context"] == "unchanged"
        assert BLOCK in provider.sent[-1].body["messages"][-2]["content"]
    log = await gateway.log((await gateway.sessions())[0].id)
    assert log[3].wire["content"][0] == BLOCK


async def test_anthropics_block_stands_in_a_window_of_ours(tmp_path: Path, provider: PlayedProvider) -> None:
    """A folded request has the block at its place, as it came."""
    async with run_gateway(tmp_path / "g.db", provider.url, {"gateway": {"context_limit": 4000}}) as gateway:
        messages: list[Body] = []
        for number in range(10):
            messages.append(say(f"Question {number}? {LONG}"))
            block = [BLOCK, {"type": "text", "text": "A."}]
            provider.plan += [Planned(body={"role": "assistant", "content": block}) if number == 8 else Planned()]
            answer = await gateway.ask(messages, form="anthropic", **EDITS)
            messages.append({"role": "assistant", "content": answer.json()["content"]})
        assert answer.headers["x-everfold-context"] == "folded"
        sent = provider.sent[-1].body["messages"]
        assert any(BLOCK in one["content"] for one in sent if isinstance(one["content"], list))


async def compact(gateway: Gateway, provider: PlayedProvider, items: list[Body], output: list[Body]) -> None:
    """Have the provider make an output of a list."""
    provider.plan += [Planned(body={"id": "resp_2", "object": "response.compaction", "output": output})]
    await gateway.client.post("/v1/responses/compact", json={"model": "m", "input": items})
    await gateway.settle()


async def test_what_is_first_sent_to_be_compacted_is_stored(gateway: Gateway, provider: PlayedProvider) -> None:
    """A result that comes with the request to compact stands in the log behind its call, and is found."""
    call = {"type": "function_call", "id": "fc1", "call_id": "c1", "name": "look", "arguments": "{}"}
    provider.plan += [response(call)]
    items = [say("Look."), *(await gateway.ask([say("Look.")], form="responses")).json()["output"]]
    items.append({"type": "function_call_output", "call_id": "c1", "output": "The quay is 4711."})
    await compact(gateway, provider, items, [say("Look."), ITEM])
    on = await gateway.ask([say("Look."), ITEM, say("On?")], form="responses")
    [session] = await gateway.sessions()
    assert on.headers["x-everfold-session"] == session.id
    assert [one.kind for one in await gateway.log(session.id)] == [
        "user",
        "assistant",
        "result",
        "assistant",
        "user",
        "assistant",
    ]
    assert [hit.seq for hit in await (await gateway.engine.session(id=session.id)).search("4711 quay")] == [3]


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_an_erased_message_does_not_come_back_with_a_compaction(
    tmp_path: Path, provider: PlayedProvider, *, is_restarted: bool
) -> None:
    """What the provider keeps of an erased message that its client still holds is neither stored nor sent again."""
    path, secret = tmp_path / "g.db", say("The code is zanzibar.")
    items: list[Body] = [secret]
    async with run_gateway(path, provider.url) as gateway:
        for question in ("And?", "Now?", "More?", "Yes?"):
            provider.plan += [response(message(f"Before {question}"))]
            items += [*(await gateway.ask(items, form="responses")).json()["output"], say(question)]
        [session] = await gateway.sessions()
        await (await gateway.engine.session(id=session.id)).erase(1)
        if not is_restarted:
            await compact(gateway, provider, items, [secret, ITEM])
    async with run_gateway(path, provider.url) as gateway:
        if is_restarted:
            await compact(gateway, provider, items, [secret, ITEM])
        provider.plan += [response(message("Five."))]
        await gateway.ask([secret, ITEM, say("Next?")], form="responses")
        assert await gateway.engine.admin.verify_erased(user=session.user_id, words=["zanzibar"]) == []
        assert len(await gateway.sessions()) == 1
    assert "zanzibar" not in provider.sent[-1].text
