"""A model that follows a script: for demonstrations, and for tests that need every fault at its moment.

A script is a file of JSON objects, one a line (JSONL), or one JSON list of them. Each object is a step; a call takes the
next one, and the last one is repeated for ever. A file without steps answers with echo digests. A step is one of:

    {"text": "..."}          answers with this text
    {"digest": "KIND"}       answers a request for a digest from what it holds
    {"fault": "KIND"}        answers wrongly, or not at all; "text" beside it is what it says meanwhile
    {"calls": [{"tool": "NAME", "args": {...}}]}
                             an agent's or a hand's model: calls these tools at once, after "text" where there is one

with, where wanted, `"secs": 2` (waits first), `"word_secs": 0.1` (waits after each word, where it streams), `"times": 3`
(the step serves so many calls) and `"cost_usd": 0.01` (what the answer costs; else not known). The digests:

    echo      exact quotes under the headings asked for: good      foreign    is in German
    poor      sentences that fit any conversation                   invent     has identifiers that no message has
    larger    is longer than what it is of                          hostile    gives its reader orders, forges marks
    repeat    copies what it is of

The faults:

    exception        raises an error that is none of ours         empty          answers nothing
    timeout          never answers                                whitespace     answers white space only
    unavailable      cannot be reached                            refusal        declines
    rate_limit       wants fewer requests                         tool_call      asks for a tool
    context_length   finds the request too large                  length         is cut off at its bound
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, Literal, NoReturn, Self, cast

import anyio
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from everfold.adapters.models.scripted_digests import DigestKind, write_scripted_digest
from everfold.core.primitives.json_values import JsonValue, parse_json
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import ContextLengthError, InvalidInputError, ModelUnavailableError, RateLimitedError
from everfold.ports.models import Finish, ModelReply, ModelRequest

Fault = Literal[
    "exception",
    "timeout",
    "unavailable",
    "rate_limit",
    "context_length",
    "empty",
    "whitespace",
    "refusal",
    "tool_call",
    "length",
]
"""What can go wrong with a call; see the module."""

FINISHES: Final[dict[Fault, Finish]] = {"refusal": "refusal", "tool_call": "tool_call", "length": "length"}
"""How an answer ends after a fault; whole after any other."""

_TEXT_BY_FAULT: dict[Fault, str] = {
    "whitespace": " \n\t\n ",
    "refusal": "I'm sorry, but I can't help with that.",
    "length": "## What was said\n- The first of many things that were said is that",
}


class ScriptedCall(BaseModel):
    """A tool that a step calls."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    tool: str = Field(min_length=1)
    args: dict[str, object] = Field(default_factory=dict[str, object])


class Step(BaseModel):
    """What one call, or a few, get; see the module."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: str | None = None
    digest: DigestKind | None = None
    fault: Fault | None = None
    calls: list[ScriptedCall] = Field(default_factory=list[ScriptedCall])
    secs: float = Field(default=0.0, ge=0)
    word_secs: float = Field(default=0.0, ge=0)
    times: int = Field(default=1, ge=1)
    cost_usd: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.text is None and self.digest is None and self.fault is None and not self.calls:
            raise ValueError("expected `text`, `digest`, `calls` or `fault`")
        return self


class ScriptedModel:
    """Follows a script; see `everfold.ports.models.Model`.

    Args:
        steps: What the calls get, in order; the last one is repeated.
        name: Its setting.
        sleep: Waits so many seconds; a test may give another.

    Attributes:
        requests: What was asked, in order.
    """

    def __init__(
        self,
        steps: Sequence[Step] = (),
        *,
        name: str = "script:given",
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._steps = [step for step in steps or (Step(digest="echo"),) for _ in range(step.times)]
        self._name = name
        self._sleep = sleep
        self.requests: list[ModelRequest] = []

    @property
    def name(self) -> str:
        """Its setting."""
        return self._name

    async def reply(self, request: ModelRequest) -> ModelReply:
        """Do what the next step says."""
        step, text = await self.play(request)
        finish = (
            "tool_call" if step.calls else "complete" if step.fault is None else FINISHES.get(step.fault, "complete")
        )
        return ModelReply(
            text=text,
            finish=finish,
            model="script",
            input_tokens=estimate_text_tokens(request.instructions) + estimate_text_tokens(request.prompt),
            output_tokens=estimate_text_tokens(text),
            cost_usd=step.cost_usd,
        )

    async def play(self, request: ModelRequest) -> tuple[Step, str]:
        """The next step, after its wait, with what it says; one that fails or hangs does so here.

        Raises:
            ModelUnavailableError: the script says so.
            RateLimitedError: the script says so.
            ContextLengthError: the script says so.
        """
        step = self._steps[min(len(self.requests), len(self._steps) - 1)]
        self.requests.append(request)
        if step.secs:
            await self._sleep(step.secs)
        if step.fault == "timeout":
            await anyio.sleep_forever()
        if step.fault in ("exception", "unavailable", "rate_limit", "context_length"):
            _raise(step.fault, step.text or "so the script says", self._name)
        return step, _say(step, request)

    async def close(self) -> None:
        """Nothing is held."""


def load_script(path: Path) -> ScriptedModel:
    """The model that follows the script in a file.

    Raises:
        InvalidInputError: the file cannot be read, or a step is none; its place and what was expected are named.
    """
    try:
        values = _split(path.read_text("utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"the script {path} cannot be read: {error}", path=str(path)) from error
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}", **{**error.ids, "path": str(path)}) from error
    return ScriptedModel([_read_step(value, at) for value, at in values], name=f"script:{path}")


def _split(text: str, path: Path) -> list[tuple[JsonValue, str]]:
    """Each value of a script, with the place it stands at."""
    if text.lstrip().startswith("["):
        values = cast("list[JsonValue]", parse_json(text))
        return [(value, f"{path}, step {number}") for number, value in enumerate(values, start=1)]
    lines = [(line, number) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    return [(parse_json(line, first_line=number), f"{path}, line {number}") for line, number in lines]


def _read_step(value: JsonValue, at: str) -> Step:
    try:
        return Step.model_validate(value)
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(map(str, problem["loc"])) or "the step"
        raise InvalidInputError(
            f"{at}: {key} does not fit: {problem['msg']}, got {problem['input']!r:.60}; "
            "expected a step with `text`, `digest`, `calls` or `fault`"
        ) from error


def _raise(fault: Fault, text: str, name: str) -> NoReturn:
    if fault == "unavailable":
        raise ModelUnavailableError(f"the model {name} cannot be reached: {text}; try again", model=name)
    if fault == "rate_limit":
        raise RateLimitedError(f"the model {name} has had too many requests: {text}; wait, then try again", model=name)
    if fault == "context_length":
        raise ContextLengthError(f"the request is too large for the model {name}: {text}; send less", model=name)
    raise RuntimeError(text)


def _say(step: Step, request: ModelRequest) -> str:
    if step.text is not None:
        return step.text
    if step.calls:
        return ""
    if step.fault is not None:
        return _TEXT_BY_FAULT.get(step.fault, "")
    return write_scripted_digest(step.digest or "echo", request)
