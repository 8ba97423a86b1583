"""The model that follows a script."""

import json
from pathlib import Path
from typing import get_args

import anyio
import pytest

from everfold.adapters.models.scripted import Fault, ScriptedModel, Step, load_script
from everfold.adapters.models.scripted_digests import DigestKind, write_scripted_digest
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import (
    ContextLengthError,
    EverfoldError,
    InvalidInputError,
    ModelUnavailableError,
    RateLimitedError,
)
from everfold.ports.models import ModelRequest

pytestmark = pytest.mark.anyio
LINES = [
    f"{number} [user] Berth {number} of the harbour is let under the number BX-{number:04}." for number in range(90)
]
REQUEST = ModelRequest(purpose="digest", instructions="Write.", prompt="\n".join(LINES), max_output_tokens=200)


def write(folder: Path, text: str) -> Path:
    """A script."""
    path = folder / "script.jsonl"
    path.write_text(text, "utf-8")
    return path


async def texts(model: ScriptedModel, count: int) -> list[str]:
    """What so many calls answer."""
    return [(await model.reply(REQUEST)).text for _ in range(count)]


@pytest.mark.parametrize("is_list", [False, True], ids=["lines", "list"])
async def test_steps_come_in_order_and_the_last_stays(tmp_path: Path, *, is_list: bool) -> None:
    """Each call takes the next step, a step serves as often as it says, and the last one serves for ever."""
    steps = [{"text": "one"}, {"text": "two", "times": 2}, {"text": "three"}]
    text = json.dumps(steps, indent=1) if is_list else "\n\n".join(map(json.dumps, steps))
    path = write(tmp_path, text)
    model = load_script(path)
    assert await texts(model, 6) == ["one", "two", "two", "three", "three", "three"]
    assert model.name == f"script:{path}"
    assert model.requests == [REQUEST] * 6
    await model.close()


@pytest.mark.parametrize("text", ["", "\n", "[]"])
async def test_an_empty_script_echoes(tmp_path: Path, text: str) -> None:
    """A script without steps answers with echo digests."""
    assert (await texts(load_script(write(tmp_path, text)), 1))[0] == write_scripted_digest("echo", REQUEST)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("exception", RuntimeError),
        ("unavailable", ModelUnavailableError),
        ("rate_limit", RateLimitedError),
        ("context_length", ContextLengthError),
    ],
)
async def test_a_fault_that_is_an_error(fault: Fault, kind: type[Exception]) -> None:
    """Such a fault is raised as the error that it is, with the step's own words; an exception is none of ours."""
    with pytest.raises(kind, match="at noon") as caught:
        await ScriptedModel([Step(fault=fault, text="at noon")]).reply(REQUEST)
    assert isinstance(caught.value, EverfoldError) == (fault != "exception")


async def test_a_fault_that_is_an_answer() -> None:
    """Such a fault has its finish and its text, or the step's own words."""
    found = {}
    for fault in ("empty", "whitespace", "refusal", "tool_call", "length"):
        reply = await ScriptedModel([Step(fault=fault)]).reply(REQUEST)
        found[fault] = (reply.finish, bool(reply.text), bool(reply.text.strip()))
        assert (await ScriptedModel([Step(fault=fault, text="own")]).reply(REQUEST)).text == "own"
    assert found == {
        "empty": ("complete", False, False),
        "whitespace": ("complete", True, False),
        "refusal": ("refusal", True, True),
        "tool_call": ("tool_call", False, False),
        "length": ("length", True, True),
    }


async def test_a_model_that_never_answers() -> None:
    """The fault `timeout` lasts until the caller gives up."""
    with anyio.move_on_after(0.02) as scope:
        await ScriptedModel([Step(fault="timeout")]).reply(REQUEST)
    assert scope.cancelled_caught


async def test_a_step_waits() -> None:
    """A step waits for as long as it says before it answers or fails."""
    waited: list[float] = []

    async def wait(secs: float) -> None:
        waited.append(secs)

    model = ScriptedModel([Step(text="late", secs=2.5), Step(fault="unavailable", secs=1.5)], sleep=wait)
    await model.reply(REQUEST)
    with pytest.raises(ModelUnavailableError):
        await model.reply(REQUEST)
    assert waited == [2.5, 1.5]


async def test_tokens_are_counted_and_cost_is_as_said() -> None:
    """Tokens are the fixed estimate of what was read and written; the cost is the step's, or not known."""
    reply = await ScriptedModel([Step(text="three little words", cost_usd=0.5)]).reply(REQUEST)
    assert reply.input_tokens == estimate_text_tokens(REQUEST.prompt) + estimate_text_tokens(REQUEST.instructions)
    assert (reply.output_tokens, reply.cost_usd) == (estimate_text_tokens("three little words"), 0.5)
    assert (await ScriptedModel().reply(REQUEST)).cost_usd is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"txt": "a"}', "line 1: txt"),
        ('{"text": "a"}\n{"fault": "flood"}', "line 2: fault"),
        ('{"secs": 2}', "expected `text`, `digest`, `calls` or `fault`"),
        ('{"text": 3}', "line 1: text"),
        ('{"text": "a", "times": 0}', "times"),
        ('{"text": "a", "secs": -1}', "secs"),
        ('{"text": "a", "times": true}', "times"),
        ('{"digest": "model"}', "digest"),
        ('{"calls": [{"args": {}}]}', "calls.0.tool"),
        ('{"calls": [{"tool": "a", "args": 3}]}', "calls.0.args"),
        ('["a"]', "step 1"),
        ('[{"text": "a"}', "line 1"),
        ("3", "line 1"),
        ('{"text": "a"', "line 1"),
        ('\n\n{"text": "a"}\n{,}', "line 4"),
    ],
)
def test_a_script_that_is_none(tmp_path: Path, text: str, words: str) -> None:
    """What is no step is refused with the script and its place in it."""
    path = write(tmp_path, text)
    with pytest.raises(InvalidInputError, match=words) as caught:
        load_script(path)
    assert str(path) in str(caught.value)


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    """A missing script, a folder and a file that is no text are refused with their path."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing", ".", "binary"):
        with pytest.raises(InvalidInputError, match="cannot be read"):
            load_script(tmp_path / name)


def test_every_fault_and_digest_is_documented() -> None:
    """The module's own account of the format names every fault and every kind of digest."""
    from everfold.adapters.models import scripted

    names = (*get_args(Fault), *get_args(DigestKind))
    assert [name for name in names if f"{name} " not in (scripted.__doc__ or "")] == []
