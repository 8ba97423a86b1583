"""What the benchmark of agents' own summaries counts."""

import json
from pathlib import Path

from bench.worth_summaries import SUMMARY_MARK, Place, Wire, count_held, find_places, list_items
from bench.worth_windows import PLAIN_SETTINGS, USER, open_at, shown_texts

from everfold.testing.kit.fakes import FakeClock


def say(role: str, content: str | None, /, **arguments: str) -> Wire:
    """A message; with arguments it calls a tool with them."""
    call = {"id": "call_1", "type": "function", "function": {"name": "edit", "arguments": json.dumps(arguments)}}
    return {"role": role, "content": content, **({"tool_calls": [call]} if arguments else {})}


def find(kind: str, *before: Wire, after: tuple[Wire, ...] = ()) -> list[str]:
    """The items of a kind at a place."""
    return list_items(Place(name="a", before=before, summary="", after=after))[kind]  # type: ignore[index]


def test_each_summary_stands_for_all_messages_before_it() -> None:
    """A place holds every message before its summary but earlier summaries, and what follows."""
    summary = say("user", f"{SUMMARY_MARK} It went well.")
    log = [say("user", "Build it."), summary, say("assistant", "I build."), summary, say("assistant", "Built.")]
    places = list(find_places("log", log))
    assert [[it["content"] for it in place.before] for place in places] == [["Build it."], ["Build it.", "I build."]]
    assert places[1].after == [log[4]]


def test_orders_are_what_a_person_typed() -> None:
    """Sentences of the user are orders, questions too; pastes and what the program wrote in their name are not."""
    pasted = "Look at this log, it is wrong.\n" + "2031-03-03 the worker gave up at last\n" * 40
    found = find(
        "orders",
        say("user", "Keep the old flag working. Why does the parser fail here?"),
        say("user", "<command-name>the program wrote this text</command-name>"),
        say("user", pasted),
        say("assistant", "I will keep the old flag working."),
    )
    assert found == [
        "Keep the old flag working.",
        "Why does the parser fail here?",
        "Look at this log, it is wrong.",
    ]


def test_files_are_those_that_calls_changed() -> None:
    """A file counts when a call wrote it, not when a call read it."""
    found = find(
        "files",
        say("assistant", None, file_path="/work/src/parser.py", old_string="a", new_string="b"),
        say("assistant", None, file_path="/work/src/reader.py"),
    )
    assert found == ["parser.py"]


def test_errors_are_names_in_lines_that_report_a_failure() -> None:
    """Names count from short lines of results that tell of a failure, not from listed files or long data."""
    found = find(
        "errors",
        say("tool", "undefined: readHeader\n    12\treturn errBadHeader\nok parse_body\nerror " + "x_y_z_field " * 40),
    )
    assert found == ["readHeader"]


def test_names_of_arguments_are_no_names() -> None:
    """A name that five messages hold counts, the name of a tool's argument does not."""
    edits = [say("assistant", "The readHeader again.", file_path="a.py", old_string="old_string") for _ in range(5)]
    assert find("names", *edits) == ["readHeader"]


def test_what_was_next_was_known_before() -> None:
    """A name that the work needs after the summary counts only if a message before it holds it."""
    after = (say("assistant", "Now read_header in parser.py, then the new writeFooter."),)
    assert find("next", say("tool", "def read_header in parser.py"), after=after) == ["read_header", "parser.py"]


def test_a_text_holds_what_its_lines_say() -> None:
    """An order is held by most of its words in one line, a decision by half of them, a file by its name as a word."""
    items = {
        "orders": ["Keep the old flag working for everyone please.", "Never touch the folder of the old billing."],
        "decisions": ["We parse once, because the input is read only one time."],
        "files": ["parser.py", "set.py"],
    }
    texts = [
        "user: keep the old flag working for everyone",
        "parse once: the input is read one time",
        "cmd/parser.py, reset.py",
    ]
    assert count_held(items, texts) == {"orders": 1, "decisions": 1, "files": 1}  # type: ignore[arg-type]


async def test_shortened_arguments_count_as_they_are_shown(tmp_path: Path) -> None:
    """Of a call with long arguments only what the window shows of them counts as shown."""
    async with open_at(tmp_path / "shown.db", FakeClock(), PLAIN_SETTINGS) as engine:
        session = await engine.session(user=USER, limit=4_000)
        long = say("assistant", None, path="a.py", content="word " * 4_000 + "the_last_name")
        await session.append([dict(say("user", "Write it.")), dict(long)])
        await session.append({"role": "tool", "tool_call_id": "call_1", "content": "written"})
        shown = shown_texts(await session.window())
    assert any("a.py" in text for text in shown)
    assert not any("the_last_name" in text for text in shown)
