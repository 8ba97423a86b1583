import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.adapters.transcripts import FORMATS, Conversation, Transcript, parse_transcript, read_transcript
from everfold.core.primitives.json_values import JsonValue
from everfold.errors import InvalidInputError, NotFoundError

ROOT = Path(__file__).parents[4]
FIXTURES = ROOT / "tests" / "data" / "transcripts"
REAL_DATA = Path(os.environ.get("EVERFOLD_DATA", ROOT.parent / "shared" / "data"))


def _read(name: str) -> Transcript:
    return read_transcript(FIXTURES / name)


def _only(transcript: Transcript) -> Conversation:
    (conversation,) = transcript.conversations
    return conversation


def _parse(*values: JsonValue, format: str | None = None) -> Transcript:  # noqa: A002 - as the function under test
    return parse_transcript("".join(json.dumps(value) + "\n" for value in values).encode(), name="talk", format=format)


@pytest.mark.parametrize(
    ("name", "format_name", "counts"),
    [
        ("openai.json", "openai", [13]),
        ("openai_request.json", "openai", [3]),
        ("openai_finetuning.jsonl", "openai", [2, 2, 2]),
        ("openai_messages.jsonl", "openai", [2]),
        ("assistant_first.jsonl", "openai", [3]),
        ("cut_off_in_call.json", "openai", [3]),
        ("reused_call_ids.json", "openai", [6]),
        ("anthropic.json", "anthropic", [5]),
        ("anthropic_messages.jsonl", "anthropic", [2]),
        ("sharegpt.json", "sharegpt", [5, 3]),
        ("coding_agent.jsonl", "coding-agent", [7, 2]),
        ("rollout.jsonl", "coding-agent", [9]),
        ("chatgpt.json", "chatgpt", [6, 2, 2]),
        ("claude.json", "claude", [7, 2, 2]),
        ("langchain_dicts.json", "langchain", [5]),
        ("langchain_dumps.json", "langchain", [4]),
        ("langchain_flat.jsonl", "langchain", [2]),
        ("responses_items.json", "responses", [4]),
        ("responses.jsonl", "responses", [2]),
        ("gemini.json", "gemini", [4]),
        ("gemini_activity.json", "gemini", [4]),
        ("gemini_cli.json", "gemini-cli", [4]),
        ("gemini_cli.jsonl", "gemini-cli", [4]),
        ("open_webui.json", "open-webui", [3, 2, 2]),
        ("letta.af.json", "letta", [6]),
    ],
)
def test_format_is_found_by_content(name: str, format_name: str, counts: list[int], tmp_path: Path) -> None:
    """Each format is told by what the file holds, whatever its name, and naming it gives the same transcript."""
    transcript = _read(name)
    nameless = tmp_path / Path(name).with_suffix(".bin").name
    nameless.write_bytes((FIXTURES / name).read_bytes())
    assert transcript.format == format_name
    assert [len(conversation.messages) for conversation in transcript.conversations] == counts
    assert read_transcript(nameless) == transcript
    assert read_transcript(nameless, format=format_name) == transcript


@pytest.mark.parametrize("name", ["openai.json", "reused_call_ids.json", "openai_request.json", "anthropic.json"])
def test_wire_form_is_the_files_own(name: str) -> None:
    """Messages that are in a wire form already come out as the file has them, in key order and number form."""
    document = json.loads((FIXTURES / name).read_bytes())
    given = document if isinstance(document, list) else document["messages"]
    wires = [message.wire for message in _only(_read(name)).messages]
    assert [repr(wire) for wire in wires] == [repr(message) for message in given]


@pytest.mark.parametrize("name", ["openai.json", "anthropic.json", "openai_request.json", "cut_off_in_call.json"])
def test_line_is_where_the_message_begins_in_a_document_over_many_lines(name: str) -> None:
    """In a file that is one document over many lines, a message's line holds its opening brace."""
    text = (FIXTURES / name).read_text(encoding="utf-8")
    for message in _only(_read(name)).messages:
        rest = "\n".join(text.split("\n")[message.line - 1 :]).lstrip()
        assert json.JSONDecoder().raw_decode(rest)[0] == message.wire


def test_line_is_that_of_the_row_in_a_file_of_lines() -> None:
    """In JSONL the line of a message is its row's, with blank lines and characters that end lines elsewhere counted right."""
    data = '\n{"role": "user", "content": "a\u2028b"}\n\r\n{"role": "assistant", "content": "c"}'.encode()
    assert [message.line for message in _only(parse_transcript(data, name="talk")).messages] == [2, 4]


def test_lone_surrogates_of_a_file_stay_lone() -> None:
    """Escaped lone surrogates in a file come out as the same code points."""
    content = _only(_read("openai.json")).messages[8].wire["content"]
    assert isinstance(content, str)
    assert content.endswith("\ud83d|\ude00")


def test_byte_order_mark_is_accepted() -> None:
    """A file that begins with a byte order mark reads as the same file without it."""
    data = (FIXTURES / "openai_messages.jsonl").read_bytes()
    assert parse_transcript(b"\xef\xbb\xbf" + data, name="x") == parse_transcript(data, name="x")


def test_what_stands_beside_the_messages_is_kept() -> None:
    """Tool schemas and a system prompt apart from the messages are given with the conversation."""
    anthropic = _only(_read("anthropic.json"))
    assert anthropic.system == [{"type": "text", "text": "You plan gardens.", "cache_control": {"type": "ephemeral"}}]
    assert [tool["name"] for tool in anthropic.tools or () if isinstance(tool, dict)] == ["sun_hours"]
    openai = _only(_read("openai_request.json"))
    assert openai.system is None
    assert len(openai.tools or ()) == 1
    assert _only(_read("openai.json")).tools is None


def test_chat_messages_keep_the_times_of_the_file() -> None:
    """A message's own time is read in each form that loggers write, a body's is its first message's, and the wire stays."""
    noon = datetime(2031, 5, 1, 12, tzinfo=UTC)
    times: list[tuple[str, JsonValue, datetime | None]] = [
        ("timestamp", "2031-05-01T12:00:00Z", noon),
        ("created_at", "2031-05-01T14:00:00+02:00", noon),
        ("said_at", "2031-05-01", noon.replace(hour=0)),
        ("created", int(noon.timestamp()), noon),
        ("timestamp", noon.timestamp() * 1000, noon),
        ("timestamp", "half past nine", None),
        ("timestamp", 12.5, None),
        ("timestamp", True, None),
        ("created", 1e300, None),
        ("created_at", None, None),
    ]
    wires: list[dict[str, JsonValue]] = [{"role": "user", "content": "Hello.", name: value} for name, value, _ in times]
    talk = _only(_parse(*wires))
    assert [message.said_at for message in talk.messages] == [time for _, _, time in times]
    assert [message.wire for message in talk.messages] == wires
    body = _only(_parse({"messages": [{"role": "user", "content": "a"}] * 2, "created_at": "2031-05-01T12:00:00Z"}))
    assert [message.said_at for message in body.messages] == [noon, None]


@pytest.mark.parametrize(
    ("messages", "format_name"),
    [
        ([{"role": "user", "content": "a"}], "openai"),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}]}], "openai"),
        ([{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}]}], "anthropic"),
        (
            [
                {"role": "system", "content": [{"type": "text", "text": "a", "cache_control": {}}]},
                {"role": "user", "content": "b"},
            ],
            "openai",
        ),
        ([{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}], "openai"),
        (
            [{"role": "assistant", "content": [{"type": "mcp_tool_use", "id": "m", "name": "n", "input": {}}]}],
            "anthropic",
        ),
        ([{"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "s"}]}], "anthropic"),
    ],
)
def test_provider_is_told_by_the_first_sign_that_only_one_has(messages: list[JsonValue], format_name: str) -> None:
    """Message lists that both providers could have written are told apart by the documented order of signs."""
    assert _parse(messages).format == format_name
    assert _parse(*messages).format == format_name
    assert _parse({"messages": messages}).format == format_name


def test_forced_format_overrides_detection() -> None:
    """A list that reads as OpenAI by default is read as Anthropic when that is asked for."""
    transcript = _parse({"role": "user", "content": "a"}, format="anthropic")
    assert (transcript.format, _only(transcript).messages[0].wire_format) == ("anthropic", "anthropic")


def test_sharegpt_calls_get_ids_that_pair_them_with_their_observations() -> None:
    """Parallel calls become one assistant message, and the observations after it answer them in order."""
    first, second = _read("sharegpt.json").conversations
    calls = first.messages[1].wire["tool_calls"]
    assert isinstance(calls, list)
    ids = [call["id"] for call in calls if isinstance(call, dict)]
    assert len(set(map(str, ids))) == 2
    assert [message.wire["tool_call_id"] for message in first.messages[2:4]] == ids
    assert [message.wire["content"] for message in first.messages[2:4]] == ["north: open", "south: stuck at 40 %"]
    assert first.messages[4].wire["weight"] == 1
    assert (first.name, first.system, len(first.tools or ())) == ("greenhouse-1", "You look after a greenhouse.", 1)
    assert [message.wire["role"] for message in second.messages] == ["system", "user", "assistant"]


@pytest.mark.parametrize("speaker", ["gpt", "chatgpt", "bing", "bard", "assistant"])
def test_every_model_of_the_sharegpt_collection_is_the_assistant(speaker: str) -> None:
    """One turn of another model among thousands does not make the collection unreadable."""
    turns: list[JsonValue] = [{"from": "human", "value": "a"}, {"from": speaker, "value": "b"}]
    conversation = _only(_parse([{"id": "x", "conversations": turns}]))
    assert [message.wire["role"] for message in conversation.messages] == ["user", "assistant"]


def test_streamed_parts_of_an_assistant_message_are_joined_in_order() -> None:
    """Events with one message id become one message: all blocks in order, the last part's usage, the first part's place."""
    main, _ = _read("coding_agent.jsonl").conversations
    joined = main.messages[2]
    blocks = joined.wire["content"]
    assert isinstance(blocks, list)
    assert [block["type"] for block in blocks if isinstance(block, dict)] == [
        "thinking",
        "text",
        "tool_use",
        "tool_use",
    ]
    assert joined.wire["usage"] == {"input_tokens": 812, "output_tokens": 66}
    assert joined.wire["stop_reason"] == "tool_use"
    assert (joined.line, [label[-1] for label in joined.labels]) == (5, ["2", "3", "4", "5"])
    assert joined.said_at == datetime(2026, 3, 1, 8, 0, 2, 250000, tzinfo=UTC)


def test_side_chains_and_machine_written_words_are_set_apart() -> None:
    """A side chain is a conversation of its own, and user messages that no person wrote do not have user origin."""
    main, side = _read("coding_agent.jsonl").conversations
    assert [message.line for message in side.messages] == [10, 11]
    assert side.name.startswith(f"{main.name}/")
    assert [message.origin for message in side.messages] == ["assistant", None]
    assert [message.origin for message in main.messages] == ["system", None, None, None, None, None, "assistant"]


def test_parts_that_another_message_parts_are_not_joined() -> None:
    """Events of one message id with a result between them stay messages of their own, so that no result precedes its call."""

    def event(kind: str, content: JsonValue, message_id: str) -> JsonValue:
        return {"type": kind, "message": {"role": kind, "id": message_id, "type": "message", "content": content}}

    use: JsonValue = {"type": "tool_use", "id": "t", "name": "n", "input": {}}
    result: JsonValue = {"type": "tool_result", "tool_use_id": "t", "content": "r"}
    conversation = _only(
        _parse(event("assistant", [use], "m"), event("user", [result], "u"), event("assistant", "done", "m"))
    )
    assert [message.wire["role"] for message in conversation.messages] == ["assistant", "user", "assistant"]


def test_side_chains_without_agent_ids_are_told_apart_by_their_parents() -> None:
    """Two side chains that run at once are two conversations when only the parents tell them apart."""

    def event(uuid: str, parent: str | None) -> JsonValue:
        message: JsonValue = {"role": "user", "content": uuid}
        return {"type": "user", "isSidechain": True, "uuid": uuid, "parentUuid": parent, "message": message}

    transcript = _parse(event("a1", None), event("b1", None), event("a2", "a1"), event("b2", "b1"))
    contents = [[message.wire["content"] for message in talk.messages] for talk in transcript.conversations]
    assert contents == [["a1", "a2"], ["b1", "b2"]]


def _said(uuid: str, text: str, **fields: JsonValue) -> JsonValue:
    return {"type": "user", "uuid": uuid, "message": {"role": "user", "content": text}, **fields}


def _queued(prompt: JsonValue, **fields: JsonValue) -> JsonValue:
    return {"type": "attachment", "attachment": {"type": "queued_command", "prompt": prompt, **fields}}


def test_what_was_sent_while_the_agent_worked_is_a_message_at_its_place() -> None:
    """Words that stand only in a queued command are the user's; reports of tasks and agents there are not."""
    picture: JsonValue = {"type": "image", "source": {"type": "url", "url": "https://example.org/bed.png"}}
    conversation = _only(
        _parse(
            _said("a", "Water the beds."),
            {"type": "attachment", "attachment": {"type": "todo_reminder", "content": []}},
            _queued("Never bed 3!", commandMode="prompt", origin={"kind": "human"}),
            _queued([{"type": "text", "text": "This one."}, picture]),
            _queued("Task 7 ended.", commandMode="task-notification"),
            _queued("I took bed 2.", commandMode="prompt", origin={"kind": "peer"}),
            _said("b", "Well?"),
            _queued("Well?", source_uuid="b"),
        )
    )
    assert [(message.line, message.origin) for message in conversation.messages] == [
        (1, None),
        (3, None),
        (4, None),
        (5, "assistant"),
        (6, "assistant"),
        (7, None),
    ]
    assert conversation.messages[1].wire == {"role": "user", "content": "Never bed 3!"}
    assert all(message.wire_format == "anthropic" for message in conversation.messages)


@pytest.mark.parametrize("source", [[], {}, None])
def test_a_source_that_is_no_id_names_no_event(source: JsonValue) -> None:
    """A command that was sent meanwhile is a message where its source is no id, also beside an event without one."""
    said: JsonValue = {"type": "user", "message": {"role": "user", "content": "Well?"}}
    conversation = _only(_parse(said, _queued("Never bed 3!", source_uuid=source)))
    assert [message.line for message in conversation.messages] == [1, 2]


def test_what_a_task_reports_in_the_users_place_is_not_the_users() -> None:
    """A user event that says of its origin that no person wrote it has not the origin user."""
    reported = _said("b", "Task 7 ended: bed 3 is dry.", origin={"kind": "task-notification"})
    conversation = _only(_parse(_said("a", "Go on.", origin={"kind": "human"}), reported))
    assert [message.origin for message in conversation.messages] == [None, "assistant"]


def test_lines_of_unknown_types_are_skipped_and_counted() -> None:
    """Events, lines and items of types that no release knew are passed over, and each type is counted."""
    hologram = {"type": "hologram", "sessionId": "s", "message": {"role": "user", "content": "Not said."}}
    told = _parse(hologram, _said("a", "Hello."), hologram, {"type": "api-request"})
    assert [message.wire["content"] for message in _only(told).messages] == ["Hello."]
    assert told.skipped == {"hologram": 2}
    said = _item("response_item", {"type": "message", "role": "user", "content": "Hello."})
    rolled = _parse(
        _item("hologram", {}), said, _item("response_item", {"type": "dream"}), _item("token_usage_record", {})
    )
    assert [message.wire["content"] for message in _only(rolled).messages] == ["Hello."]
    assert rolled.skipped == {"hologram": 1, "dream": 1}


@pytest.mark.parametrize("kind", ["file-history-delta", "relocated", "bridge-session", "frame-link", "result"])
def test_events_that_carry_no_message_are_passed_over(kind: str) -> None:
    """Bookkeeping of newer agents does not keep their logs from being read."""
    assert len(_only(_parse({"type": kind}, _said("a", "Hello."), {"type": kind})).messages) == 1


def _item(kind: str, payload: JsonValue) -> JsonValue:
    return {"timestamp": "2026-03-02T07:30:00Z", "type": kind, "payload": payload}


def test_items_of_newer_rollouts_are_kept_or_passed_over() -> None:
    """What the provider ran stays with the next answer, what stands for older items is not doubled, a fork keeps its name."""
    search: JsonValue = {"type": "tool_search_call", "call_id": "s", "arguments": {"query": "beds"}}
    picture: JsonValue = {"type": "image_generation_call", "id": "i", "status": "completed", "result": "iVBO"}
    conversation = _only(
        _parse(
            _item("session_meta", {"id": "own"}),
            _item("session_meta", {"id": "parent"}),
            _item("world_state", {"cwd": "/"}),
            _item("response_item", {"type": "compaction", "encrypted_content": "x"}),
            _item("response_item", {"type": "message", "role": "user", "content": "Draw bed 3."}),
            _item("response_item", search),
            _item("response_item", picture),
            _item("response_item", {"type": "message", "role": "assistant", "content": "Here."}),
        )
    )
    assert conversation.name == "own"
    assert [message.wire for message in conversation.messages] == [
        {"role": "user", "content": "Draw bed 3."},
        {"role": "assistant", "content": "Here.", "response_items": [search, picture]},
    ]


def test_what_another_agent_sent_is_read_and_not_the_users() -> None:
    """A message of another agent can be read in the user's place, has not the user's origin, and keeps its item."""
    sealed: JsonValue = {"type": "encrypted_content", "encrypted_content": "x"}
    words: JsonValue = {"type": "input_text", "text": "Bed 3 is dry."}
    item: JsonValue = {"type": "agent_message", "author": "/root/b", "recipient": "/root", "content": [words, sealed]}
    (message,) = _only(_parse(_item("response_item", item))).messages
    assert (message.wire["role"], message.origin) == ("user", "assistant")
    assert message.wire["content"] == [{"type": "text", "text": "Bed 3 is dry."}]
    assert message.wire["response_items"] == [item]


def test_rollout_items_become_chat_messages() -> None:
    """Text and the calls after it are one message, results follow it, and what chat has no place for is kept."""
    conversation = _only(_read("rollout.jsonl"))
    wires = [message.wire for message in conversation.messages]
    calls = wires[2]["tool_calls"]
    assert isinstance(calls, list)
    assert [wire["role"] for wire in wires] == [
        "developer",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
        "assistant",
        "assistant",
    ]
    assert [call["id"] for call in calls if isinstance(call, dict)] == ["call_a", "call_b"]
    assert [wire.get("tool_call_id") for wire in wires[3:5]] == ["call_a", "call_b"]
    assert [("response_items" in wire) for wire in wires] == [False, False, True, *[False] * 5, True]
    assert (conversation.name, conversation.system) == ("rollout-7", "Work in small steps.")


BROKEN = [
    ("bad_utf8.jsonl", 3, "0xe9 at offset 106"),
    ("nan.json", 3, "NaN"),
    ("truncated.json", 3, "does not end"),
    ("truncated.jsonl", 4, "does not end"),
    ("equal_keys.jsonl", 2, "twice"),
    ("unknown_role.json", 6, "'robot'"),
    ("wrong_type.jsonl", 2, "`content` of this user message is a number"),
    ("not_a_message.jsonl", 2, "a string, expected an object"),
    ("legacy_function.jsonl", 2, "legacy"),
    ("orphan_observation.json", 8, "answers no function_call"),
    ("call_not_json.jsonl", 1, "not JSON"),
    ("tool_use_of_user.json", 1, "tool_use block in a message of the user"),
    ("empty.json", 1, "empty"),
    ("no_messages.json", 1, "no message"),
    ("unknown_format.json", 1, ", ".join(sorted(FORMATS))),
    ("zipped.json", 1, "gzip"),
]


@pytest.mark.parametrize(("name", "line", "reason"), BROKEN)
def test_broken_file_is_refused_with_line_and_reason(name: str, line: int, reason: str) -> None:
    """A broken file is refused whole, with its path, the line of the fault and the reason."""
    path = FIXTURES / "broken" / name
    with pytest.raises(InvalidInputError) as refused:
        read_transcript(path)
    assert (refused.value.ids["path"], refused.value.ids["line"]) == (str(path), line)
    assert reason in str(refused.value)
    assert f"line {line}" in str(refused.value)


def test_a_file_of_no_format_is_described() -> None:
    """A caller that gives a file that nothing reads is told what it begins with, and what would be read."""
    export: JsonValue = [{"title": "Beds", "rows": {}, "newest": "n"}]
    with pytest.raises(InvalidInputError, match=r"an object with `title`, `rows`, `newest` is not a transcript"):
        _parse(export)
    with pytest.raises(InvalidInputError, match=r"a list is not a transcript .* `role` and `content`"):
        _parse([[]])


@pytest.mark.parametrize("name", ["locomo.json", "tau_bench.json"])
def test_a_file_of_a_benchmark_is_no_format_that_is_read(name: str) -> None:
    """The formats of benchmarks are refused with what the file begins with and the formats that are read."""
    with pytest.raises(
        InvalidInputError, match=r"is not a transcript in a known format: anthropic, chatgpt, claude, coding-agent"
    ):
        read_transcript(FIXTURES.parent / "benchmarks" / name)


def test_every_broken_fixture_has_its_refusal() -> None:
    """No broken fixture lies unused."""
    assert {path.name for path in (FIXTURES / "broken").iterdir()} == {name for name, _, _ in BROKEN}


@pytest.mark.parametrize(
    ("name", "path", "wrong"),
    [
        ("anthropic.json", ("tools",), 5),
        ("anthropic.json", ("messages",), 5),
        ("anthropic.json", ("system",), [{"type": "image"}]),
        ("sharegpt.json", (0, "tools"), "["),
    ],
)
def test_line_of_a_wrong_value_beside_the_messages_is_its_own(
    name: str, path: tuple[str | int, ...], wrong: JsonValue
) -> None:
    """A fault outside the messages is reported on the line where the wrong value begins."""
    document = json.loads((FIXTURES / name).read_bytes())
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = wrong
    text = json.dumps(document, indent=2)
    with pytest.raises(InvalidInputError) as refused:
        parse_transcript(text.encode(), name="talk", format=_read(name).format)
    reported = refused.value.ids["line"]
    assert isinstance(reported, int)
    assert text.split("\n")[reported - 1].lstrip().startswith(f'"{path[-1]}":')


CALL: JsonValue = {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("format_name", "message", "reason"),
    [
        ("openai", {"role": "user"}, "`content` of this user message is null or nothing"),
        ("openai", {"role": "user", "content": ["a"]}, r"`content\[0\]` is a string"),
        ("openai", {"role": "user", "content": [{"text": "a"}]}, r"`content\[0\].type`"),
        ("openai", {"role": "user", "content": [{"type": "image_url", "image_url": "u"}]}, "image_url"),
        ("openai", {"role": "user", "content": "a", "name": 5}, "`name`"),
        ("openai", {"role": "user", "content": "a", "tool_calls": [CALL]}, "only an assistant message"),
        ("openai", {"role": "assistant", "tool_calls": {}}, "`tool_calls` is an object"),
        ("openai", {"role": "assistant", "tool_calls": [{"id": 1}]}, r"`tool_calls\[0\].id`"),
        ("openai", {"role": "assistant", "tool_calls": [{"id": "c", "function": {}}]}, "name"),
        (
            "openai",
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "n", "arguments": {}}}]},
            r"tool_calls\[0\]\.function\.arguments` is",
        ),
        ("openai", {"role": "assistant", "function_call": {"name": "n"}}, "legacy"),
        ("openai", {"role": "tool", "content": "a"}, "tool_call_id"),
        ("openai", {"role": ["user"], "content": "a"}, "the role of this"),
        ("anthropic", {"role": "system", "content": "a"}, "beside `messages`"),
        ("anthropic", {"role": "tool", "content": "a"}, "'tool'"),
        ("anthropic", {"role": "user", "content": None}, "`content`"),
        ("anthropic", {"role": "user", "content": [{"type": "text"}]}, r"`content\[0\].text`"),
        (
            "anthropic",
            {"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "t"}]},
            "expected the user",
        ),
        ("anthropic", {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n"}]}, "input"),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result"}]}, "tool_use_id"),
    ],
)
def test_message_that_its_format_cannot_have_is_refused(format_name: str, message: JsonValue, reason: str) -> None:
    """A message of a wrong form is refused on its line, naming the field and what was expected."""
    with pytest.raises(InvalidInputError, match=reason) as refused:
        _parse({"role": "user", "content": "before"}, message, format=format_name)
    assert refused.value.ids["line"] == 2


@pytest.mark.parametrize("row", [5, None, "a", [], [1], {}, {"messages": 3}, {"conversations": [1]}, {"payload": {}}])
@pytest.mark.parametrize("format_name", [None, *FORMATS])
def test_any_other_json_is_refused_under_every_format(row: JsonValue, format_name: str | None) -> None:
    """JSON that is no transcript gives an error of ours with a path, also when a format is forced on it."""
    with pytest.raises(InvalidInputError) as refused:
        _parse(row, format=format_name)
    assert refused.value.ids["path"] == "talk"
    assert refused.value.ids["line"] == 1


@pytest.mark.parametrize("name", [path.name for path in sorted(FIXTURES.glob("*.json*"))])
@pytest.mark.parametrize("format_name", FORMATS)
def test_wrong_format_is_read_or_refused_with_a_line(name: str, format_name: str) -> None:
    """Forcing any format on any file either reads it or refuses it with a line; nothing else escapes."""
    try:
        transcript = read_transcript(FIXTURES / name, format=format_name)
    except InvalidInputError as refused:
        assert "line" in refused.ids  # noqa: PT017 - both outcomes are allowed, this is the property of one
    else:
        assert transcript.format == format_name


def test_unknown_format_name_is_refused_with_the_known_ones() -> None:
    """A format that does not exist is refused with the names of those that do."""
    with pytest.raises(InvalidInputError, match=r"'yaml'.*openai"):
        _parse({"role": "user", "content": "a"}, format="yaml")


def test_directory_and_missing_file_are_refused(tmp_path: Path) -> None:
    """An empty folder, a missing file and a file used as a directory give errors of ours that name the path."""
    with pytest.raises(InvalidInputError, match="holds no file that ends in"):
        read_transcript(tmp_path)
    with pytest.raises(NotFoundError, match="does not exist"):
        read_transcript(tmp_path / "nowhere.json")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_transcript(tmp_path / "file" / "inside.json")


def _call_count(data: bytes) -> int:
    """Count the calls, of functions in Python and in C, that reading the data takes."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        parse_transcript(data, name="talk")
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("layout", ["lines", "document", "events"])
def test_work_grows_in_proportion_to_the_size(layout: str) -> None:
    """Eight times the messages take about eight times the calls, also when one streamed message has all the parts."""

    def talk(count: int) -> bytes:
        messages: list[JsonValue] = [{"role": "user", "content": "water the beds"}] * count
        if layout == "document":
            return json.dumps({"messages": messages}, indent=1).encode()
        blocks: list[JsonValue] = [{"type": "text", "text": "a"}]
        part: JsonValue = {"type": "assistant", "message": {"role": "assistant", "id": "m", "content": blocks}}
        rows = messages if layout == "lines" else [part] * count
        return "".join(json.dumps(row) + "\n" for row in rows).encode()

    assert _call_count(talk(1600)) < 9 * _call_count(talk(200))


def _places(value: JsonValue) -> Iterator[tuple[dict[str, JsonValue] | list[JsonValue], str | int]]:
    """Give every place inside a value, as its container and the step into it."""
    steps: list[str | int] = list(value) if isinstance(value, dict) else []
    steps = list(range(len(value))) if isinstance(value, list) else steps
    for step in steps:
        assert isinstance(value, dict | list)
        yield value, step
        yield from _places(value[step])  # type: ignore[index]  # the step fits its container


@given(data=st.data(), name=st.sampled_from(sorted(path.name for path in FIXTURES.glob("*.json*"))))
def test_one_wrong_value_anywhere_is_read_or_refused(data: st.DataObject, name: str) -> None:
    """A file with any one value replaced by another is read, or refused with a line; nothing else escapes."""
    text = (FIXTURES / name).read_text(encoding="utf-8")
    document: JsonValue = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
    container, step = data.draw(st.sampled_from(list(_places(document))))
    wrong: list[JsonValue] = [None, True, 7, 1.5, "", "a", [], [None], ["a"], {}, {"type": "a"}, [{}]]
    container[step] = data.draw(st.sampled_from(wrong))  # type: ignore[index]  # as above
    try:
        parse_transcript(
            json.dumps(document).encode(), name="talk", format=data.draw(st.none() | st.sampled_from(FORMATS))
        )
    except InvalidInputError as refused:
        assert "line" in refused.ids  # noqa: PT017 - reading is allowed too


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.glob("*.json*")))
def test_a_list_in_the_place_of_a_word_is_read_or_refused(name: str) -> None:
    """A list, which is no value of a set and no key, in any place of a file is read, or refused with a line."""
    text = (FIXTURES / name).read_text(encoding="utf-8")
    document: JsonValue = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
    for container, step in list(_places(document)):
        before, container[step] = container[step], []  # type: ignore[index]  # the step fits its container
        try:
            parse_transcript(json.dumps(document).encode(), name="talk")
        except InvalidInputError as refused:
            assert "line" in refused.ids  # noqa: PT017 - reading is allowed too
        container[step] = before  # type: ignore[index]  # as above


@pytest.mark.parametrize("first", [b'{"role": [], "parts": []}', b'[{"role": {}, "parts": [{"text": "Hi"}]}]'])
def test_a_role_that_is_no_word_is_no_format(first: bytes) -> None:
    """A file whose first row has a list or an object as its role is refused with a line."""
    with pytest.raises(InvalidInputError) as refused:
        parse_transcript(first, name="talk")
    assert "line" in refused.value.ids


@given(data=st.data(), name=st.sampled_from(sorted(path.name for path in FIXTURES.glob("*.json*"))))
def test_damaged_bytes_are_read_or_refused(data: st.DataObject, name: str) -> None:
    """A file cut off anywhere, or with any one byte replaced, is read, or refused with a line; nothing else escapes."""
    intact = (FIXTURES / name).read_bytes()
    place = data.draw(st.integers(0, len(intact) - 1))
    byte = data.draw(st.none() | st.binary(min_size=1, max_size=1))
    damaged = intact[:place] if byte is None else intact[:place] + byte + intact[place + 1 :]
    try:
        parse_transcript(damaged, name="talk")
    except InvalidInputError as refused:
        assert "line" in refused.ids  # noqa: PT017 - reading is allowed too


@pytest.mark.skipif(not REAL_DATA.is_dir(), reason="real transcripts are not here: set EVERFOLD_DATA to their folder")
@pytest.mark.parametrize(
    ("name", "format_name", "conversation_count", "message_count"),
    [
        ("tau-airline-dev.jsonl", "openai", 80, 2280),
        ("coding-dev.json", "openai", 1, 24),
    ],
)
def test_real_transcripts_are_read_whole(
    name: str, format_name: str, conversation_count: int, message_count: int
) -> None:
    """Real files are read with every message, and each message's line holds its beginning."""
    transcript = read_transcript(REAL_DATA / name)
    lines = (REAL_DATA / name).read_text(encoding="utf-8").split("\n")
    messages = [message for conversation in transcript.conversations for message in conversation.messages]
    assert transcript.format == format_name
    assert (len(transcript.conversations), len(messages)) == (conversation_count, message_count)
    assert all(lines[message.line - 1].lstrip().startswith("{") for message in messages)
