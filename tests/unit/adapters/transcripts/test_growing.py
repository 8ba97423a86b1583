"""A transcript is read as it grows: whole lines, whole messages, and nothing that Everfold said itself."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from everfold.adapters.transcripts import coding_agent
from everfold.adapters.transcripts.growing import BROKEN, read_growth
from everfold.core.log.messages import WireFormat
from everfold.core.log.transcripts import Growth, TranscriptMessage
from everfold.core.primitives.json_values import JsonValue
from everfold.core.text.frames import HANDED_BEGIN, HANDED_END

HANDED = f"{HANDED_BEGIN}\nThe port is 4711.\n{HANDED_END}"


def said(uuid: str, text: str, **fields: JsonValue) -> JsonValue:
    """A line of Claude Code with the user's words."""
    return {"type": "user", "uuid": uuid, "message": {"role": "user", "content": text}, **fields}


def answered(uuid: str, *blocks: JsonValue, reply: str = "msg_1", stop: str | None = "end_turn") -> JsonValue:
    """A line of Claude Code with blocks of a reply."""
    message: JsonValue = {"role": "assistant", "id": reply, "content": list(blocks), "stop_reason": stop}
    return {"type": "assistant", "uuid": uuid, "message": message}


def resulted(uuid: str, call: str) -> JsonValue:
    """A line of Claude Code with the result of a call."""
    block: JsonValue = {"type": "tool_result", "tool_use_id": call, "content": "done"}
    return {"type": "user", "uuid": uuid, "message": {"role": "user", "content": [block]}}


def item(ordinal: int, **payload: JsonValue) -> JsonValue:
    """A line of Codex with an item."""
    return {"timestamp": "2026-03-02T07:30:00Z", "ordinal": ordinal, "type": "response_item", "payload": payload}


TEXT: JsonValue = {"type": "text", "text": "Let me look."}


def call(id_: str) -> JsonValue:
    """A call block."""
    return {"type": "tool_use", "id": id_, "name": "look", "input": {}}


def lines(*values: JsonValue) -> bytes:
    """A transcript."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def messages(growth: Growth) -> list[TranscriptMessage]:
    """All messages, in their order."""
    return [message for conversation in growth.conversations for message in conversation.messages]


TALK = (
    said("u1", "Open port 4711."),
    answered("a1", TEXT, stop="tool_use"),
    answered("a2", call("c1"), stop="tool_use"),
    answered("a3", call("c2"), stop="tool_use"),
    resulted("r1", "c1"),
    resulted("r2", "c2"),
    {"type": "api-request-blob", "message": {"role": "user", "content": "A copy."}},
    answered("a4", TEXT, reply="msg_2"),
    said("u2", "Thanks."),
)
CODEX = (
    item(1, type="message", role="user", content=[{"type": "input_text", "text": "Open port 4711."}]),
    item(2, type="reasoning", summary=[]),
    item(3, type="message", role="assistant", content=[{"type": "output_text", "text": "Let me look."}]),
    item(4, type="function_call", call_id="c1", name="look", arguments="{}"),
    item(5, type="function_call", call_id="c2", name="look", arguments="{}"),
    item(6, type="function_call_output", call_id="c1", output="done"),
    item(7, type="function_call_output", call_id="c2", output="done"),
    item(8, type="message", role="assistant", content=[{"type": "output_text", "text": "It is open."}]),
    {"type": "token_usage_record", "payload": {}},
)


@pytest.mark.parametrize(("client", "talk"), [("claude-code", TALK), ("codex", CODEX)])
@pytest.mark.parametrize("seed", range(20))
def test_a_file_read_in_pieces_gives_what_it_gives_at_once(client: str, talk: tuple[JsonValue, ...], seed: int) -> None:
    """Wherever a growing file ends when it is read, the messages are those of the whole file, each once."""
    data, chance = lines(*talk), random.Random(seed)
    at, found = 0, list[TranscriptMessage]()
    for size in sorted(chance.randint(0, len(data)) for _ in range(6)):
        growth = read_growth(data[at:size] if size > at else b"", client, name="talk")
        found += messages(growth)
        at += growth.read_bytes
    found += messages(read_growth(data[at:], client, name="talk", is_over=True))
    whole = messages(read_growth(data, client, name="talk", is_over=True))
    assert [(one.wire, one.labels) for one in found] == [(one.wire, one.labels) for one in whole]
    assert len(whole) == (6 if client == "claude-code" else 5)


def test_a_torn_last_line_waits() -> None:
    """What is behind the last line break is not read, and the position stays before it."""
    data = lines(said("u1", "Hello."))
    growth = read_growth(data + b'{"type": "user", "uu', "claude-code", name="talk")
    assert (len(messages(growth)), growth.read_bytes, growth.skipped) == (1, len(data), {})
    assert read_growth(b'{"type": "us', "claude-code", name="talk").read_bytes == 0


@pytest.mark.parametrize(("client", "talk"), [("claude-code", TALK[:3]), ("codex", CODEX[:3])])
def test_a_message_that_may_go_on_waits(client: str, talk: tuple[JsonValue, ...]) -> None:
    """Calls without a result at the end of the file are left for the next reading, unless nothing will follow."""
    data = lines(*talk)
    growth = read_growth(data, client, name="talk")
    assert [one.wire["role"] for one in messages(growth)] == ["user"]
    assert growth.read_bytes == len(lines(talk[0]))
    over = read_growth(data, client, name="talk", is_over=True)
    assert [one.wire["role"] for one in messages(over)] == ["user", "assistant"]
    assert over.read_bytes == len(data)


def test_lines_that_cannot_be_read_are_counted_and_hold_nothing_up() -> None:
    """Broken JSON, broken text, a message without a role and unknown types are passed over, each under its name."""
    data = b'{"type": "user", "mess\n\xff\xfe\n' + lines(
        {"type": "user", "uuid": "x", "message": {"content": "no role"}}, {"type": "hologram"}, said("u1", "Hello.")
    )
    growth = read_growth(data, "claude-code", name="talk")
    assert [one.wire["content"] for one in messages(growth)] == ["Hello."]
    assert (growth.read_bytes, growth.skipped) == (len(data), {BROKEN: 3, "hologram": 1})


@pytest.mark.parametrize(("client", "talk"), [("claude-code", TALK), ("codex", CODEX)])
def test_a_message_without_its_first_lines_is_what_the_others_are(client: str, talk: tuple[JsonValue, ...]) -> None:
    """Wherever a talk is cut, what its messages have after the cut is what a file of the lines after it holds."""
    whole = messages(read_growth(lines(*talk), client, name="talk", is_over=True))
    labels = [label for message in whole for label in message.labels]
    said_lines = [one for one in talk if isinstance(one, dict) and ("uuid" in one or "ordinal" in one)]
    for count in range(len(labels) + 1):
        rest = [found for message in whole if (found := message.after(labels[:count]))]
        alone = messages(read_growth(lines(*said_lines[count:]), client, name="talk", is_over=True))
        assert [(one.labels, one.wire) for one in rest] == [(one.labels, one.wire) for one in alone]


@pytest.mark.parametrize(
    "text", [HANDED, f"<system-reminder>\nSessionStart hook additional context: {HANDED}\n</system-reminder>"]
)
def test_what_everfold_handed_over_never_comes_back(text: str) -> None:
    """A message that is our own text, in whatever a client puts around it, is none; from words beside it, it is cut."""
    claude = lines(said("u1", text), said("u2", f"Which port?\n\n{HANDED}"))
    assert [one.wire["content"] for one in messages(read_growth(claude, "claude-code", name="talk"))] == ["Which port?"]
    codex = lines(
        item(1, type="message", role="developer", content=[{"type": "input_text", "text": text}]),
        item(2, type="message", role="user", content=[{"type": "input_text", "text": "Which port?"}]),
    )
    assert [one.wire["role"] for one in messages(read_growth(codex, "codex", name="talk"))] == ["user"]


def test_a_compaction_of_claude_code_is_kept_as_one() -> None:
    """The summary is an injection that a model wrote, and names the messages that the client kept; it waits for its text."""
    boundary: JsonValue = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b1",
        "compactMetadata": {"preservedMessages": {"uuids": ["u2"]}},
    }
    data = lines(*TALK, boundary)
    assert read_growth(data, "claude-code", name="talk").read_bytes == len(lines(*TALK))
    growth = read_growth(data + lines(said("s1", "We talked.", isCompactSummary=True)), "claude-code", name="talk")
    summary = messages(growth)[-1]
    assert (summary.origin, summary.source, summary.is_compaction) == ("assistant", "injection", True)
    assert summary.kept_labels == ("u2",)


def test_a_compaction_of_codex_is_kept_as_one() -> None:
    """The summary is an injection that a model wrote, also where the client keeps its text hidden."""
    compacted = [{"type": "compacted", "payload": {"message": text}} for text in ("We talked.", "")]
    found = messages(read_growth(lines(*CODEX, *compacted), "codex", name="talk"))[-2:]
    assert [one.wire["content"] for one in found] == ["We talked.", "The client has compacted its context."]
    assert {(one.origin, one.source, one.is_compaction) for one in found} == {("assistant", "injection", True)}


def test_words_of_the_program_are_not_the_users() -> None:
    """Commands that a client ran itself, and what its harness wrote, do not have user origin."""
    claude = lines(said("u1", "<command-name>/compact</command-name>"), said("u2", "Go on."))
    assert [one.origin for one in messages(read_growth(claude, "claude-code", name="talk"))] == ["system", None]
    harness: JsonValue = {"content_item_metadata": [{"provenance": {"type": "harness"}}]}
    text: JsonValue = [{"type": "input_text", "text": "<environment_context>here</environment_context>"}]
    codex = lines(
        item(1, type="message", role="user", content=text),
        item(2, type="message", role="user", content="Be brief.", internal_chat_message_metadata_passthrough=harness),
        item(3, type="message", role="user", content="Go on."),
    )
    assert [one.origin for one in messages(read_growth(codex, "codex", name="talk"))] == ["system", "system", None]


CLAUDE_MARKS = {
    "<command-name>/compact</command-name>": "system",
    "<local-command-stdout>Bye.</local-command-stdout>": "system",
    "[Request interrupted by user for tool use]": "system",
    "<bash-stdout>Pay Foo.</bash-stdout><bash-stderr></bash-stderr>": "external",
    "<task-notification>\n<result>Pay Foo.</result></task-notification>": "assistant",
    '<teammate-message teammate_id="t">Pay Foo.</teammate-message>': "assistant",
    "<bash-input>cat notes.txt</bash-input>": None,
    "Go on.": None,
}
CODEX_MARKS = {
    "<environment_context>here</environment_context>": "system",
    "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nPay Foo.\n</INSTRUCTIONS>": "system",
    "<skill>\n<name>pay</name>\nPay Foo.\n</skill>": "system",
    "<goal_context>\nPay Foo.\n</goal_context>": "system",
    '<codex_internal_context source="goal">Pay Foo.</codex_internal_context>': "system",
    "<recommended_plugins>\n- Pay\n</recommended_plugins>": "system",
    '<hook_prompt hook_run_id="1">Pay Foo.</hook_prompt>': "system",
    "\n<USER_SHELL_COMMAND>\n<result>Pay Foo.</result>\n</user_shell_command>": "external",
    '<external_context source="tab">Pay Foo.</external_context>': "external",
    '<subagent_notification>{"status":"Pay Foo."}</subagent_notification>': "assistant",
    "Which # AGENTS.md instructions?": None,
}


@pytest.mark.parametrize("is_block", [False, True])
@pytest.mark.parametrize(("text", "origin"), CLAUDE_MARKS.items())
def test_what_claude_code_puts_in_the_users_place_is_not_the_users(
    text: str, origin: str | None, *, is_block: bool
) -> None:
    """Output of commands, reports and marks of the client do not have user origin, as a string or in a block."""
    content: JsonValue = [{"type": "text", "text": text}] if is_block else text
    line: JsonValue = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": content}}
    assert [one.origin for one in messages(read_growth(lines(line), "claude-code", name="talk"))] == [origin]


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize(("text", "origin"), CODEX_MARKS.items())
def test_what_codex_puts_in_the_users_place_is_not_the_users(text: str, origin: str | None, *, is_first: bool) -> None:
    """Instructions of files, output of commands and reports do not have user origin, in whatever part of a message."""
    environment: JsonValue = {"type": "input_text", "text": "<environment_context>here</environment_context>"}
    part: JsonValue = {"type": "input_text", "text": text}
    content: list[JsonValue] = [part] if is_first or origin is None else [environment, part]
    line = item(1, type="message", role="user", content=content)
    assert [one.origin for one in messages(read_growth(lines(line), "codex", name="talk"))] == [origin]


def text_parts(*texts: str) -> list[JsonValue]:
    """Parts of a message of Codex."""
    return [{"type": "input_text", "text": text} for text in texts]


def by(*writers: str) -> JsonValue:
    """Codex's metadata of who wrote each part of a message."""
    return {"content_item_metadata": [{"provenance": {"type": writer}} for writer in writers]}


ENVIRONMENT = "<environment_context>here</environment_context>"
PRINTED = "<user_shell_command>Pay Foo.</user_shell_command>"


@pytest.mark.parametrize(
    ("texts", "writers", "origin"),
    [
        (("# AGENTS.md instructions for docs/ are old. Never push.",), ("user",), None),
        (("<skill> is our tag. Never push.",), ("user",), None),
        (("Never push.", ENVIRONMENT), ("user", "harness"), None),
        ((ENVIRONMENT, "Never push."), ("harness", "user"), None),
        ((ENVIRONMENT, PRINTED), ("harness", "harness"), "external"),
        (("Be brief.",), ("harness",), "system"),
        ((PRINTED, "Be brief."), ("harness", "harness"), "external"),
        ((ENVIRONMENT, PRINTED), ("user",), "external"),
        (("Be brief.", "Be quick."), ("harness",), "system"),
    ],
)
def test_codex_says_which_words_are_the_users(
    texts: tuple[str, ...], writers: tuple[str, ...], origin: str | None
) -> None:
    """Where the log names the writer of each part, a part that is not the harness's makes a message the user's."""
    metadata = by(*writers)
    parts = text_parts(*texts)
    line = item(1, type="message", role="user", content=parts, internal_chat_message_metadata_passthrough=metadata)
    assert [one.origin for one in messages(read_growth(lines(line), "codex", name="talk"))] == [origin]


@pytest.mark.parametrize(
    ("texts", "origin"),
    [
        (("Never push.", ENVIRONMENT), None),
        ((ENVIRONMENT, "Never push."), "system"),
        ((ENVIRONMENT, PRINTED, "Be brief."), "external"),
        (("# AGENTS.md instructions should say: never push.",), None),
        (("# AGENTS.md instructions\n\n<INSTRUCTIONS>\nPay Foo.\n</INSTRUCTIONS>",), "system"),
    ],
)
def test_the_first_words_in_a_message_of_codex_decide(texts: tuple[str, ...], origin: str | None) -> None:
    """Where the log names no writer, a message that begins with the user's words is the user's."""
    line = item(1, type="message", role="user", content=text_parts(*texts))
    assert [one.origin for one in messages(read_growth(lines(line), "codex", name="talk"))] == [origin]


@pytest.mark.parametrize("mark", ["[Request interrupted by user]", "<task-notification>Pay Foo.</task-notification>"])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_mark_beside_the_users_words_leaves_them_the_users(mark: str, *, is_first: bool) -> None:
    """A message of Claude Code of which one text begins with no mark of the program is the user's."""
    texts = [mark, "Never push."] if is_first else ["Never push.", mark]
    content: JsonValue = [{"type": "text", "text": text} for text in texts]
    line: JsonValue = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": content}}
    assert [one.origin for one in messages(read_growth(lines(line), "claude-code", name="talk"))] == [None]


def test_the_log_of_claude_code_says_that_a_person_wrote() -> None:
    """Words of a person that begin as a mark does are the user's where the log names a person as their writer."""
    text = "<task-notification> stands in my log. Never push."
    human: JsonValue = {"kind": "human"}
    queued: JsonValue = {"type": "queued_command", "prompt": text, "origin": human}
    told = (said("u1", text, origin=human), {"type": "attachment", "uuid": "q1", "attachment": queued})
    assert [one.origin for one in messages(read_growth(lines(*told), "claude-code", name="talk"))] == [None, None]


def test_a_real_file_is_read_as_a_whole_import_reads_it() -> None:
    """The fixtures give the same messages in both ways."""
    from everfold.adapters.transcripts import parse_transcript

    for name, client in (("coding_agent.jsonl", "claude-code"), ("rollout.jsonl", "codex")):
        data = (Path(__file__).parents[3] / "data" / "transcripts" / name).read_bytes()
        whole = parse_transcript(data, name="talk").conversations
        growth = read_growth(data if data.endswith(b"\n") else data + b"\n", client, name="talk", is_over=True)
        assert growth.conversations == whole


@pytest.mark.parametrize("count", [2, 40])
def test_lines_that_do_not_fit_together_are_left_out_at_once(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """However many lines do not fit with the rest of a file, all lines are read together twice."""
    reply: JsonValue = {"type": "message", "role": "assistant", "id": "m1", "content": [TEXT]}
    misfit: JsonValue = {"role": "system", "content": "Be short."}
    given = [{"type": "assistant", "uuid": "a1", "message": reply}]
    given += [{"type": "system", "uuid": f"s{number}", "message": misfit} for number in range(count)]
    read, together = coding_agent._find_wire_format, list[int]()

    def note(events: Sequence[coding_agent._Event]) -> WireFormat:
        together.extend([len(events)] if len(events) > 1 else [])
        return read(events)

    monkeypatch.setattr(coding_agent, "_find_wire_format", note)
    growth = read_growth(lines(*given, said("u1", "Go on.")), "claude-code", name="talk")
    assert [message.wire["role"] for message in messages(growth)] == ["assistant", "user"]
    assert (growth.skipped, together) == ({BROKEN: count}, [count + 2, 2])
