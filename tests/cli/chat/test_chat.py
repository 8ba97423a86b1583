"""A chat in the terminal: what is typed is answered or done, and what is shown can harm no terminal."""

import json
import os
import pty
import re
import select
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.forks import Forks, Program
from typer.testing import CliRunner, Result

import everfold
from everfold.cli.chat.markdown import split_whole
from everfold.cli.main import app

Talk = Callable[..., Result]
PAUSE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
WORDS = " ".join(f"word{number}" for number in range(200))


@pytest.fixture
def talk(here: Path) -> Talk:
    """Types lines into a chat that plays a script, and gives what came of it."""

    def type_lines(
        *lines: str, steps: list[Mapping[str, object]], options: tuple[str, ...] = (), code: int = 0
    ) -> Result:
        script = here / "script.jsonl"
        script.write_text("".join(json.dumps(step) + "\n" for step in steps), "utf-8")
        arguments = ["chat", "--script", str(script), "--db", str(here / "chat.db"), *options]
        typed = "".join(f"{line}\n" for line in lines)
        result = CliRunner().invoke(app, arguments, prog_name="everfold", input=typed)
        assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
        return result

    return type_lines


def test_answers_go_to_stdout_and_nothing_else(talk: Talk) -> None:
    """Driven by a pipe, a chat prints its answers, a line each, and no prompt, colour or remark among them."""
    result = talk("hello", "", "and now?", steps=[{"text": "Hello, you."}, {"text": "Now we talk."}])
    assert result.stdout == "Hello, you.\nNow we talk.\n"
    assert result.stderr == ""


def test_a_conversation_goes_on_where_it_was(talk: Talk, run: Callable[..., Result]) -> None:
    """Each start continues the current conversation, and other commands read it."""
    talk("my name is Ilse", steps=[{"text": "Noted."}])
    talk("and my kiln is broken", steps=[{"text": "Sorry to hear."}], options=("--limit", "32000"))
    shown = json.loads(run("show", "--db", "chat.db", "--json").stdout)
    text = json.dumps(shown)
    assert all(said in text for said in ("my name is Ilse", "Noted.", "my kiln is broken", "Sorry to hear."))


def test_what_a_model_says_harms_no_terminal(talk: Talk, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control characters and turned writing of a model and of a tool are shown as replacement characters."""
    bad = "a\x1b[2J\x07b\r\u202ec\x9bd"
    (here / "bad_tools.py").write_text(f"def look() -> str:\n    'Look.'\n    return {bad!r}\n", "utf-8")
    (here / "everfold.toml").write_text('[agents.shop]\ntools = ["bad_tools:look"]\n', "utf-8")
    monkeypatch.syspath_prepend(here)
    steps: list[Mapping[str, object]] = [{"text": bad, "calls": [{"tool": "look"}]}, {"text": bad}]
    result = talk("go", steps=steps, options=("--agent", "shop"))
    assert "look gave: a" in result.stderr
    assert not PAUSE.search(result.stdout)
    assert not PAUSE.search(result.stderr)
    assert result.stdout.count("�") >= 8


def test_json_gives_every_event_a_line(talk: Talk) -> None:
    """With `--json` every line is an object with its kind, commands and errors too."""
    result = talk("hi", "/note", "/nonsense", steps=[{"text": "Two words"}], options=("--json",), code=2)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = [event["kind"] for event in events]
    assert kinds == ["said", "text_delta", "text_delta", "said", "shown", "error"]
    assert "".join(event["text"] for event in events if event["kind"] == "text_delta") == "Two words"
    assert "/help" in events[-1]["text"]


def test_without_a_model_it_says_how_to_set_one(run: Callable[..., Result]) -> None:
    """Without any model nothing is opened, and the settings, the environment, `--model` and `--script` are named."""
    told = " ".join(run("chat", "--db", "chat.db", code=2).stderr.split())
    assert all(
        word in told for word in ("model.name", "[agents.default]", "EVERFOLD_MODEL__NAME", "--model", "--script")
    )
    assert not Path("chat.db").exists()
    told = run("chat", "--model", "openai:x", "--script", "y.jsonl", code=2).stderr
    assert "one of them" in told


def test_a_model_that_fails_ends_no_chat(talk: Talk) -> None:
    """An answer that did not come is told, with what to do, and the next message is answered."""
    steps: list[Mapping[str, object]] = [{"fault": "unavailable"}, {"text": "Back."}, {"text": "Again."}]
    result = talk("one", "/again", "two", steps=steps, code=6)
    assert result.stdout == "Back.\nAgain.\n"
    assert "has no answer" in result.stderr
    assert "/again" in result.stderr


def test_a_failure_in_a_pipe_is_in_the_exit_code(talk: Talk) -> None:
    """Without a terminal, a chat ends with the code of its last error, for people and for programs."""
    steps: list[Mapping[str, object]] = [{"fault": "unavailable", "times": 9}]
    assert "cannot be reached" in talk("one", steps=steps, code=6).stderr
    assert "cannot be reached" in talk("/nonsense", "two", steps=steps, options=("--json",), code=6).stdout


def test_commands_find_their_way(talk: Talk) -> None:
    """New, branch and resume lead where they say, by number, by the end of an id and by the whole one."""
    steps: list[Mapping[str, object]] = [{"text": f"Answer {number}."} for number in range(1, 9)]
    lines = ("one", "two", "/new", "three", "/resume", "/resume 2", "/branch 2", "four", "/resume zzz", "/branch x")
    result = talk(*lines, steps=steps, options=("--json",), code=2)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    shown = [event["shown"] for event in events if event["kind"] == "shown"]
    new, listed, resumed, branched = shown
    assert [row["session"] for row in listed] == [new["session"], resumed["session"]]
    assert len({new["session"], resumed["session"], branched["session"]}) == 3
    said = [event["seq"] for event in events if event["kind"] == "said"]
    assert said == [1, 2, 3, 4, 1, 2, 3, 4]
    assert [event["kind"] for event in events][-2:] == ["error", "error"]


def test_numbers_of_any_length_end_no_chat(talk: Talk) -> None:
    """A number of a message or a conversation that is too long to be read is refused, and the chat goes on."""
    result = talk(
        "/branch " + "9" * 5000,
        "/resume " + "1" * 5000,
        "one",
        steps=[{"text": "Yes."}],
        options=("--json",),
        code=3,
    )
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["kind"] for event in events if event["kind"] in ("error", "said")] == ["error"] * 2 + ["said"] * 2


def test_resume_continues_a_session_with_a_session_key(talk: Talk) -> None:
    """A resumed session that has a session key is the one that is talked in, and a new one keeps its session key."""
    with everfold.open_sync("sqlite:///chat.db") as engine:
        thread = engine.session(session_key="thread-42").id
    result = talk("one", f"/resume {thread}", "two", "/new", steps=[{"text": "Yes."}], options=("--json",))
    shown = [event["shown"] for event in map(json.loads, result.stdout.splitlines()) if event["kind"] == "shown"]
    with everfold.open_sync("sqlite:///chat.db") as engine:
        assert [message.view.text for message in engine.session(id=thread).messages(1, 2)] == ["two", "Yes."]
        assert engine.session(session_key="thread-42").id == shown[1]["session"]
    assert shown[0]["session"] == thread


def test_commands_look_into_the_conversation(talk: Talk) -> None:
    """Compact folds, memory lists and searches, why tells where an item is from, or what the model is shown."""
    steps: list[Mapping[str, object]] = [
        {"text": f"The bowls of kiln {number} are done. {WORDS}"} for number in range(9)
    ]
    lines = [f"Remember that I fire at {900 + number} degrees. {WORDS}" for number in range(8)]
    settings = "[memory]\nsystem = 'structured'\n"
    Path("everfold.toml").write_text(settings, "utf-8")
    commands = ("/compact degrees", "/memory", "/memory degrees", "/why", "/note", "/help")
    result = talk(*lines, *commands, steps=steps, options=("--json", "--limit", "16000"))
    events = [json.loads(line) for line in result.stdout.splitlines()]
    folds, items, found, window, _, helped = [event["shown"] for event in events if event["kind"] == "shown"]
    assert folds[0]["folded_count"] > 0
    assert items
    assert {item["id"] for item in found} <= {item["id"] for item in items}
    assert window["by_slice"]["digest"] > 0
    assert "/quit" in helped
    why = talk(f"/why {items[0]['id']}", steps=steps, options=("--json",))
    assert json.loads(why.stdout)["shown"][0]["seq"] > 0
    told = talk("/memory", "/why", "/help", "/resume", "/compact", steps=steps).stdout
    assert "/branch [SEQ]" in told
    assert items[0]["id"] in told


def test_a_fold_is_told_in_a_line(talk: Talk) -> None:
    """What was compacted during a chat is one remark beside the answers."""
    steps: list[Mapping[str, object]] = [{"text": f"The bowls are done. {WORDS}"}]
    result = talk(*[f"How is kiln {number}? {WORDS}" for number in range(12)], steps=steps, options=("--limit", "6000"))
    assert re.search(r"· folded \d+ messages \(\d+-\d+\): [\d,]+ > [\d,]+ tokens", result.stderr)
    assert "folded" not in result.stdout


# --- at a terminal


ADOPT = """
import fcntl, os, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from everfold.cli.entry import run
run()
"""
"""Makes its standard input the terminal whose Ctrl-C it hears, then is the command line."""


@dataclass
class Terminal:
    """A chat at a terminal of its own."""

    process: Program
    master: int
    database: Path
    shown: str = ""
    all: str = ""

    def said(self, role: str = "user") -> list[str]:
        """The texts of a role that are stored and not retracted."""
        with everfold.open_sync(self.database) as engine:
            return [message.view.text for message in engine.session().messages() if message.view.role == role]

    def _read(self) -> None:
        new = os.read(self.master, 4096).decode("utf-8", "replace")
        self.shown += new
        self.all += new

    def wait_for(self, text: str) -> None:
        """Read what is shown until a text stands in what is new, and take that for read."""
        until = time.monotonic() + 40
        while text not in self.shown:
            assert time.monotonic() < until, f"{text!r} was never shown: {self.shown!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self._read()
        self.shown = self.shown.partition(text)[2]

    def type(self, keys: str) -> None:
        """Press keys, the moment before them or not."""
        os.write(self.master, keys.encode())

    def end(self) -> int:
        """Read to the end, and give the exit code."""
        until = time.monotonic() + 40
        with suppress(OSError):
            while time.monotonic() < until:
                if select.select([self.master], [], [], 0.1)[0]:
                    self._read()
        assert time.monotonic() < until, f"it did not end: {self.shown!r}"
        return self.process.wait(40)


AtTerminal = Callable[..., AbstractContextManager[Terminal]]


@pytest.fixture
def at_terminal(here: Path, command_forks: Forks) -> AtTerminal:
    """A chat that plays these steps, in a process that has a terminal."""

    @contextmanager
    def play(*steps: Mapping[str, object]) -> Iterator[Terminal]:
        script = here / "script.jsonl"
        script.write_text("".join(json.dumps(step) + "\n" for step in steps), "utf-8")
        arguments = ("chat", "--script", str(script), "--db", str(here / "chat.db"))
        master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        program = command_forks.start(ADOPT, *arguments, files=(slave, slave, slave), environment=environment)
        os.close(slave)
        try:
            yield Terminal(program, master, here / "chat.db")
        finally:
            program.end()
            os.close(master)

    return play


def test_ctrl_c_stops_an_answer_then_empties_the_line_then_leaves(at_terminal: AtTerminal) -> None:
    """At a terminal Ctrl-C stops the answer, takes back what is typed, and leaves only where nothing is."""
    with at_terminal({"text": WORDS, "word_secs": 0.05}, {"text": "All is well."}) as terminal:
        terminal.wait_for("you >")
        terminal.type("tell me\r")
        terminal.wait_for("word3")
        terminal.type("\x03")
        terminal.wait_for("the last answer was cut off after “")
        terminal.wait_for("you >")
        terminal.type("half a line")
        terminal.wait_for("half a line")
        terminal.type("\x03go on\r")
        terminal.wait_for("All is well.")
        terminal.wait_for("you >")
        terminal.type("\x03")
        assert terminal.end() == 0
        assert terminal.said() == ["tell me", "go on"]


def test_a_paste_is_one_message(at_terminal: AtTerminal) -> None:
    """Lines that are pasted, and lines typed with Alt-Enter or a backslash between them, are one message each."""
    with at_terminal({"text": "Read."}) as terminal:
        terminal.wait_for("you >")
        terminal.type("\x1b[200~first\r\nsecond\n\nfourth\x1b[201~\r")
        terminal.wait_for("Read.")
        terminal.wait_for("you >")
        terminal.type("one\x1b\rtwo\\\rthree\r")
        terminal.wait_for("Read.")
        terminal.wait_for("you >")
        terminal.type("\x04")
        assert terminal.end() == 0
        assert terminal.said() == ["first\nsecond\n\nfourth", "one\ntwo\nthree"]


def test_what_is_typed_during_an_answer_is_not_sent(at_terminal: AtTerminal) -> None:
    """Lines typed while an answer comes wait for no turn: after Ctrl-C the prompt is empty, and only what is typed then is sent."""
    with at_terminal({"text": WORDS, "word_secs": 0.05}, {"text": "All is well."}) as terminal:
        terminal.wait_for("you >")
        terminal.type("tell me\r")
        terminal.wait_for("word3")
        terminal.type("impatient\rlines\r")
        terminal.wait_for("word5")
        terminal.type("\x03")
        terminal.wait_for("the last answer was cut off")
        terminal.wait_for("you >")
        terminal.type("now\r")
        terminal.wait_for("All is well.")
        terminal.wait_for("you >")
        terminal.type("\x04")
        assert terminal.end() == 0
        assert terminal.said() == ["tell me", "now"]


def test_again_answers_a_stopped_answer_anew(at_terminal: AtTerminal) -> None:
    """After a stop `/again` has the same message answered whole, and the part that was stored is shown no more."""
    with at_terminal({"text": WORDS, "word_secs": 0.05}, {"text": "A whole answer."}) as terminal:
        terminal.wait_for("you >")
        terminal.type("tell me\r")
        terminal.wait_for("word3")
        terminal.type("\x03")
        terminal.wait_for("the last answer was cut off")
        terminal.wait_for("you >")
        terminal.type("/again\r")
        terminal.wait_for("A whole answer.")
        terminal.wait_for("you >")
        terminal.type("/again\r")
        terminal.wait_for("no message waits for an answer")
        terminal.wait_for("you >")
        terminal.type("\x04")
        assert terminal.end() == 0
        assert terminal.said() == ["tell me"]
        assert terminal.said("assistant") == ["A whole answer."]


def test_sigterm_ends_a_prompt(at_terminal: AtTerminal) -> None:
    """SIGTERM at the prompt ends the chat at once, whatever is typed there."""
    with at_terminal({"text": "All is well."}) as terminal:
        terminal.wait_for("you >")
        terminal.type("half")
        terminal.wait_for("half")
        terminal.process.terminate()
        assert terminal.end() == 128 + signal.SIGTERM


def test_an_answer_is_rendered_as_markdown(at_terminal: AtTerminal) -> None:
    """At a terminal headings, lists and code are rendered, and the address of a link is shown beside its text."""
    text = (
        "# Kilns\n\nTwo **rules**:\n\n- dry it\n- wait\n\n```python\nfire()\n```\n\n[safe](http://elsewhere.example/)"
    )
    with at_terminal({"text": text}) as terminal:
        terminal.wait_for("you >")
        terminal.type("tell me\r")
        terminal.wait_for("elsewhere.example")
        terminal.wait_for("you >")
        terminal.type("\x04")
        assert terminal.end() == 0
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.all)
    assert " • dry it" in shown
    assert "**rules**" not in shown.rpartition("Two rules:")[2]
    assert "```" not in shown.rpartition("fire()")[2]


@pytest.mark.parametrize(
    ("text", "whole", "rest"),
    [
        ("one\n\ntwo", "one\n\n", "two"),
        ("one\ntwo", "", "one\ntwo"),
        ("```\na\n\nb", "", "```\na\n\nb"),
        ("```\na\n\nb\n```\n\nc", "```\na\n\nb\n```\n\n", "c"),
    ],
)
def test_paragraphs_end_at_blank_lines_outside_of_code(text: str, whole: str, rest: str) -> None:
    """A paragraph is shown once a blank line has ended it; a block of code only with its fence."""
    assert split_whole(text) == (whole, rest)


def test_a_chat_at_a_terminal_says_where_it_is(at_terminal: AtTerminal) -> None:
    """It greets with the model and how many messages there are, remembers the lines typed, and Ctrl-D leaves."""
    with at_terminal({"text": "Echo."}) as terminal:
        terminal.wait_for("a new conversation")
        terminal.wait_for("you >")
        terminal.type("first words\r")
        terminal.wait_for("Echo.")
        terminal.wait_for("you >")
        terminal.type("\x1b[A\r")
        terminal.wait_for("first words")
        terminal.wait_for("Echo.")
        terminal.wait_for("you >")
        terminal.type("\x04")
        assert terminal.end() == 0
    with at_terminal({"text": "Echo."}) as terminal:
        terminal.wait_for("4 messages so far")
        terminal.wait_for("you >")
        terminal.type("/quit\r")
        assert terminal.end() == 0
