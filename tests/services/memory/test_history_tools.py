"""The tools with which a model reads back what its window left out, through a session."""

import json
import re
from datetime import UTC, datetime

import pytest
from tests.support.sizes import matrix

import everfold
from everfold.core.primitives.json_values import JsonObject
from everfold.errors import NotFoundError
from everfold.services.memory.memory_tools import MemoryTools
from everfold.session import Session

LOG = "Log of the day:\n" + "".join(f"{number:05} pump cycle ok value {number * 7}\n" for number in range(450))
TEXTS = {
    "lines": LOG,
    "one line": "x9" * 1_500,
    "Japanese": "潮の満ち引きは港で測られる。" * 250,
    "words": "glaze, clay, ash; " * 600,
}
NEXT = re.compile(r"next: history_read (\{.*?\})\]")


def call_of(arguments: str) -> JsonObject:
    """An assistant message with one call."""
    function: JsonObject = {"name": "write", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


async def follow(tools: MemoryTools, arguments: JsonObject | None) -> list[str]:
    """Every answer from these arguments on, each next call as the answer before gave it."""
    answers: list[str] = []
    while arguments is not None:
        answer = await tools.call("history_read", arguments)
        assert not answer.is_error, answer.text
        answers.append(answer.text)
        found = NEXT.search(answer.text)
        arguments = json.loads(found[1]) if found else None
        assert len(answers) < 500
    return answers


def read_body(answer: str) -> str:
    """The text under an answer's header, out of its fence."""
    body = answer.split("] ", 1)[1]
    return body if "<<<untrusted" not in body else body.split(">>>\n", 1)[1].rpartition("\n<<<end untrusted")[0]


async def show_answer(session: Session, arguments: JsonObject, answer: str) -> str:
    """The request after a model has called `history_read` and got an answer."""
    function: JsonObject = {"name": "history_read", "arguments": json.dumps(arguments)}
    calls: list[JsonObject] = [{"id": "h1", "type": "function", "function": function}]
    await session.append({"role": "assistant", "content": None, "tool_calls": list(calls)})
    [seq] = await session.append({"role": "tool", "tool_call_id": "h1", "content": answer})
    await session.append({"role": "assistant", "content": "I see."})
    [message] = await session.messages(seq, seq)
    assert not message.cuts, "the answer of a tool is shown whole"
    return json.dumps((await session.window()).render("openai")["messages"], ensure_ascii=False)


@pytest.mark.parametrize(
    ("said", "kind", "limit"), matrix(["user", "tool", "call", "external"], list(TEXTS), [4_000, 24_000])
)
async def test_what_the_window_leaves_out_is_read_back(said: str, kind: str, limit: int) -> None:
    """From the page that a mark names, the calls that each answer gives read the whole text, each shown uncut."""
    text = TEXTS[kind]
    async with everfold.open("memory://") as engine:
        session = await engine.session(user="ada", agent="helper", limit=limit)
        await session.append({"role": "user", "content": "Hello."})
        await session.append({"role": "assistant", "content": "Hello."})
        match said:
            case "user" | "external":
                origin = None if said == "user" else "external"
                await session.append({"role": "user", "content": text}, origin=origin)  # type: ignore[arg-type]
                seq, whole = 3, text
            case "tool":
                await session.append([call_of("{}"), {"role": "tool", "tool_call_id": "c1", "content": text}])
                seq, whole = 4, text
            case _:
                arguments = json.dumps({"text": text}, ensure_ascii=False)
                await session.append([call_of(arguments), {"role": "tool", "tool_call_id": "c1", "content": "Done."}])
                seq, whole = 3, f"write {arguments}"
        await session.append({"role": "assistant", "content": "Noted."})
        if (await session.messages(seq, seq))[0].cuts:
            shown = json.dumps((await session.window()).render("openai")["messages"], ensure_ascii=False)
            assert f"history: message {seq}" in shown
        answers = await follow(session.tools(), {"first": seq})
        assert "".join(map(read_body, answers)) == whole
        assert f"[message {seq}, " in await show_answer(session, {"first": seq}, answers[0])


async def test_a_range_leads_to_its_end() -> None:
    """A range that is too much for one answer is cut between messages, and says where to go on until all were given."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(user="ada", agent="helper", limit=8_000)
        for number in range(1, 71):
            await session.append(
                {"role": "user", "content": f"Number {number}: " + "salt and tide, " * (number % 9 * 30)}
            )
        answers = await follow(session.tools(), {"first": 2, "last": 69})
        assert len(answers) > 3
        numbers = [
            int(found) for answer in answers for found in re.findall(r"^\[message (\d+), ", answer, re.MULTILINE)
        ]
        assert list(dict.fromkeys(numbers)) == list(range(2, 70))
        assert 'cut; whole: history_read {"first": 8, "page": 1}]' in "\n".join(answers)
        await show_answer(session, {"first": 2, "last": 69}, answers[0])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"first": 9}, "messages 1 to 3"),
        ({"first": 9, "last": 12}, "messages 1 to 3"),
        ({"first": 2}, "erased; this conversation has messages 1 to 3"),
        ({"first": 3, "page": 5}, "has pages 1 to 4"),
        ({"first": 3, "page": 1, "part": 99}, "has parts 1 to"),
        ({"first": 3, "last": 1}, "last must be 3 or more"),
        ({"first": 1, "last": 3, "page": 2}, "leave last out"),
        ({"first": 0}, "1 or more"),
    ],
)
async def test_an_error_names_what_there_is(arguments: JsonObject, told: str) -> None:
    """A number, a page or a part that is not there is answered with the range that is."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(user="ada", agent="helper", limit=16_000)
        for said in ("Hello.", "Remember: the code is 4711.", "glaze, clay, ash; " * 1_500):
            await session.append({"role": "user", "content": said})
        await session.erase(2)
        answer = await session.tools().call("history_read", arguments)
        assert answer.is_error
        assert told in answer.text


async def test_no_other_conversation_is_reached() -> None:
    """Messages of another user or agent are neither found nor read, and an id of theirs is like an unknown one."""
    async with everfold.open("memory://") as engine:
        own = await engine.session(user="ada", agent="helper")
        await own.append({"role": "user", "content": "The ferry leaves at nine."})
        for user, agent in (("ben", "helper"), ("ada", "clerk")):
            other = await engine.session(user=user, agent=agent)
            await other.append({"role": "user", "content": "The ferry's safe has the code 4711."})
            refused = await own.tools().call("history_read", {"first": 1, "session": other.id})
            unknown = await own.tools().call("history_read", {"first": 1, "session": "ses_none"})
            assert refused.is_error
            assert refused.text.replace(other.id, "ses_none") == unknown.text
            with pytest.raises(NotFoundError):
                await own.tools().history_read(1, session=other.id)
        found = (await own.tools().call("history_search", {"query": "ferry code", "limit": 20})).text
        assert "nine" in found
        assert "4711" not in found


async def test_an_earlier_conversation_is_read_by_its_id() -> None:
    """What a search names is read in the conversation it names, and the next page stays in it."""
    async with everfold.open("memory://") as engine:
        first = await engine.session(user="ada", agent="helper", limit=16_000)
        await first.append({"role": "user", "content": "My notebook about Trieste:\n" + LOG})
        second = await first.new()
        await second.append({"role": "user", "content": "Good morning."})
        found = (await second.tools().call("history_search", {"query": "notebook Trieste"})).text
        assert f"[conversation {first.id}, message 1, " in found
        answers = await follow(second.tools(), {"first": 1, "session": first.id})
        assert "".join(map(read_body, answers)).endswith(LOG)


async def test_a_model_searches_by_role_and_time() -> None:
    """`history_search` takes a role and a span of time, refuses what is none, and finds only messages in them."""
    async with everfold.open("memory://") as engine:
        session = await engine.session(user="ada", agent="helper")
        for day, role in ((1, "user"), (1, "assistant"), (2, "user")):
            said = {"role": role, "content": f"Day {day}: the ferry, says the {role}."}
            await session.append(said, said_at=datetime(2031, 5, day, 9, tzinfo=UTC))
        tools = session.tools()
        for arguments, seqs in (
            ({}, {1, 2, 3}),
            ({"role": "user"}, {1, 3}),
            ({"role": "assistant", "since": None}, {2}),
            ({"since": "2031-05-02"}, {3}),
            ({"until": "2031-05-02T00:00:00Z", "role": "user"}, {1}),
            ({"since": "2031-05-01T11:30+02:00", "until": "2031-05-03"}, {3}),
        ):
            answer = await tools.call("history_search", {"query": "ferry", **arguments})
            assert {int(seq) for seq in re.findall(r", message (\d+),", answer.text)} == seqs, arguments
        for arguments in (
            {"role": "robot"},
            {"since": "soon"},
            {"until": 7},
            {"since": "2031-05-02", "until": "2031-05-01"},
        ):
            assert (await tools.call("history_search", {"query": "ferry", **arguments})).is_error, arguments
