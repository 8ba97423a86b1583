"""Hands: agents that answer one question in isolation and are then gone.

Theory of operation. A query is a conversation in memory, on a task of its own: with the model, the instructions and the
tools of the hand's settings and nothing of any session. It knows no engine, so it can store no message, start no
compaction and leave nothing in memory; the one row that is written says what the model used. The caller waits for the
answer, for the time limit or to be cancelled; in the last two cases the task is ended and waited for, with the
programs that its tools started, before the caller hears of it. A query that is made from within a query is refused.

Source: REQUIREMENTS OF-80 to OF-84, X15, P-OF-15, U-112.
"""

import asyncio
import difflib
import re
import secrets
from collections.abc import Coroutine
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from uuid import NAMESPACE_URL, uuid5

import anyio

from everfold.adapters.sources.own_threads import OwnThreads
from everfold.agents.questions import (
    fit_answer,
    write_instructions,
)
from everfold.agents.tally import Tally
from everfold.config import Settings
from everfold.core.observation.usage import ModelCall
from everfold.core.primitives.ids import UserId
from everfold.core.text.frames import fence_untrusted
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import (
    EverfoldError,
    InvalidInputError,
    ModelReplyError,
    ModelUnavailableError,
    NotFoundError,
)
from everfold.ports.system import Clock, Ids
from everfold.ports.usage import UsageStore
from everfold.sections import HandSettings
from everfold.services.models.spending import CANCELLED, require_day_budget

if TYPE_CHECKING:
    from everfold.agents.models import AgentModel

NOBODY: Final = UserId("")
"""Whose a hand's calls are: a refresh's and a program's, no person's."""
END_SECS: Final = 10.0
"""How long a query that is given up may take to end its tools. Source: a program that does not end by itself is killed
4 s after it was told to, by the MCP client library."""
_NAME: Final = re.compile(r"[\w.@-]{1,80}")
"""What a fence may name; see `everfold.core.sources.refreshing.find_source`."""

_in_query: ContextVar[str | None] = ContextVar("everfold_hand", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """A hand of the settings.

    Attributes:
        id: The same for the same name, everywhere and always.
        model: Its setting, its own or everybody's; None where there is none.
    """

    id: str
    name: str
    model: str | None
    settings: HandSettings

    @property
    def source(self) -> str:
        """What its fence names."""
        return f"hand://{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandAnswer:
    """What a hand said.

    Attributes:
        text: Cleaned and within its bound, not fenced; may be empty.
        fenced: The same between marks that it cannot forge.
        tokens: Of `text`, by the fixed estimate.
        input_tokens: What all of the model's requests read, cached tokens included.
        cost_usd: None where a price is not known.
    """

    hand: str
    text: str
    fenced: str
    tokens: int
    elapsed_secs: float
    requests_count: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(slots=True, kw_only=True)
class Hands:
    """The hands of the settings. Made by `everfold.agents.open`.

    Attributes:
        usage: Where calls of models are recorded; set when the store is open.
    """

    settings: Settings
    clock: Clock
    ids: Ids
    usage: UsageStore | None = None
    _models: "dict[str, AgentModel]" = field(default_factory=dict, init=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _queries: set[asyncio.Task[str]] = field(default_factory=set, init=False)
    _warming: asyncio.Task[None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        for name, hand in self.settings.hands.items():
            _require_listed_tools(name, hand)

    def warm(self) -> None:
        """Begin to load what the hands need, on a thread that neither a turn nor the process's end waits for.

        A question to a hand meanwhile waits for it, and no time limit counts that. Without hands nothing is loaded.
        """
        if self._warming is None and self.settings.hands:
            loading = OwnThreads("hands").run(partial(_load, _list_providers(self.settings)))
            self._warming = asyncio.get_running_loop().create_task(loading, name="everfold hands")
            self._warming.add_done_callback(_see)

    def list(self) -> tuple[Hand, ...]:
        """All of them, in the order of the settings."""
        return tuple(self._make(name) for name in self.settings.hands)

    def get(self, name: str) -> Hand:
        """The hand with this name or id.

        Raises:
            NotFoundError: there is none; the message names the nearest.
        """
        for hand in self.list():
            if name in (hand.name, hand.id):
                return hand
        near = difflib.get_close_matches(name, list(self.settings.hands), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "describe it in a [hands.NAME] of the settings"
        raise NotFoundError(f"there is no hand {name!r}; {hint}", hand=name)

    async def query_hand(
        self,
        name: str,
        prompt: str,
        *,
        max_output_tokens: int | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the error names it, and the tools are ended first
    ) -> str:
        """What a hand says to a question, between marks that say that it is data; see `ask`."""
        return (await self.ask(name, prompt, max_output_tokens=max_output_tokens, timeout=timeout)).fenced

    async def ask(
        self,
        name: str,
        prompt: str,
        *,
        max_output_tokens: int | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as above
    ) -> HandAnswer:
        """Ask a hand one question. Nothing of it is stored but what the model used; cancelling leaves nothing running.

        A plain Python function that hangs is the exception: a thread cannot be ended, and is left behind.

        Args:
            name: Its name or its id.
            prompt: The question.
            max_output_tokens: How long the answer may be; at most what its settings say.
            timeout: How many seconds it may take; at most what its settings say. Loading its libraries for the first
                time and ending its tools come on top.

        Raises:
            NotFoundError: there is no such hand.
            InvalidInputError: the question is empty, a bound is not positive, it has no model, one of its tools cannot
                be had or writes, or a hand asks.
            OverBudgetError: `spend.per_day_usd` is reached.
            ModelUnavailableError: it did not answer in time, or its model cannot be reached.
            ModelError: its model gave no answer that can be used.
            RateLimitedError: its provider wants fewer requests.
            ToolServerError: a server of its tools cannot be used.
        """
        hand = self.get(name)
        most = hand.settings.max_output_tokens
        tokens = most if max_output_tokens is None else min(max_output_tokens, most)
        secs = min(hand.settings.timeout_secs if timeout is None else timeout, hand.settings.timeout_secs)
        _require_question(hand, prompt, tokens=tokens, secs=secs)
        usage = self._require_usage()
        loop = asyncio.get_running_loop()
        await self._require_budget(usage, spent_usd=0.0)
        model = await self._prepare(hand)
        begun = loop.time()
        tally = Tally()
        text = await self._record(
            hand, usage, tally, self._within(hand, secs, self._converse(hand, model, prompt, tokens, usage, tally))
        )
        if tally.is_refused:
            raise ModelReplyError(
                f"the model of the hand {hand.name!r} declined to answer; rephrase the question", hand=hand.name
            )
        text = fit_answer(text, max_output_tokens=tokens, is_cut=tally.is_cut)
        return HandAnswer(
            hand=hand.name,
            text=text,
            fenced=fence_untrusted(text, source=hand.source, key=secrets.token_hex(16)),
            tokens=estimate_text_tokens(text),
            elapsed_secs=loop.time() - begun,
            requests_count=tally.requests_count,
            input_tokens=tally.input_tokens,
            output_tokens=tally.output_tokens,
            cost_usd=tally.known_cost_usd,
        )

    async def close(self) -> None:
        """End the queries that run, and let go of connections. Closing again does nothing."""
        if self._warming is not None:
            self._warming.cancel()
        for task in list(self._queries):
            await _end(task)
        while self._models:
            _, model = self._models.popitem()
            await model.model.__aexit__(None, None, None)

    def _make(self, name: str) -> Hand:
        settings = self.settings.hands[name]
        model = settings.model or self.settings.model.name
        return Hand(id=str(uuid5(NAMESPACE_URL, f"hand://{name}")), name=name, model=model, settings=settings)

    async def _prepare(self, hand: Hand) -> "AgentModel":
        """The model of a hand, once all that a query needs is loaded."""
        self.warm()
        if self._warming is not None:
            await asyncio.shield(self._warming)
        return await self._enter_model(hand)

    async def _converse(
        self, hand: Hand, model: "AgentModel", prompt: str, tokens: int, usage: UsageStore, tally: Tally
    ) -> str:
        from everfold.agents.conversing import converse
        from everfold.agents.toolsets import open_toolsets

        _in_query.set(hand.name)  # of this task alone, and of what its tools start

        async def allow() -> None:
            await self._require_budget(usage, spent_usd=tally.cost_usd)

        return await converse(
            model,
            open_toolsets(hand.settings.tools, hand.settings.mcp, reads_only=True),
            instructions=write_instructions(hand.settings.instructions, now=self.clock.now(), max_output_tokens=tokens),
            prompt=prompt,
            max_output_tokens=tokens,
            tally=tally,
            allow=allow,
        )

    async def _enter_model(self, hand: Hand) -> "AgentModel":
        from everfold.agents.models import open_agent_model

        async with self._opening:
            if hand.name not in self._models:
                what = f"the hand {hand.name!r}"
                model = open_agent_model(self.settings, hand.settings.model, what=what, purpose="hand")
                await model.model.__aenter__()
                self._models[hand.name] = model
        return self._models[hand.name]

    async def _within(self, hand: Hand, secs: float, query: Coroutine[object, object, str]) -> str:
        """What the query gives within its time, on a task of its own that has ended when this has."""
        task = asyncio.get_running_loop().create_task(query, name=f"hand {hand.name}")
        self._queries.add(task)
        task.add_done_callback(self._queries.discard)
        try:
            await asyncio.wait({task}, timeout=secs)
        except asyncio.CancelledError:
            await _end(task)
            raise
        if not task.done():
            await _end(task)
            raise ModelUnavailableError(
                f"the hand {hand.name!r} did not answer within {secs:g} s; ask for less, or raise its timeout_secs",
                hand=hand.name,
            )
        if task.cancelled():
            raise ModelUnavailableError(f"the hand {hand.name!r} was stopped while it answered", hand=hand.name)
        return task.result()

    async def _record(
        self, hand: Hand, usage: UsageStore, tally: Tally, answering: Coroutine[object, object, str]
    ) -> str:
        """What the query gives, once what it used is stored: one row, however it ends."""
        started_at = self.clock.now()
        outcome = CANCELLED
        try:
            text = await answering
            outcome = "length" if tally.is_cut else "refusal" if tally.is_refused else "complete"
        except EverfoldError as error:
            outcome = error.code
            raise
        finally:
            if tally.requests_count or outcome not in ("invalid_input", "over_budget", "tool_server"):
                # A caller that gives up has spent all the same.
                with anyio.CancelScope(shield=True):
                    call = self._make_record(hand, tally, started_at, outcome)
                    if outcome == CANCELLED:
                        with suppress(EverfoldError):  # must not stand in for the cancellation
                            await usage.record_call(call)
                    else:
                        await usage.record_call(call)
        return text

    def _make_record(self, hand: Hand, tally: Tally, started_at: datetime, outcome: str) -> ModelCall:
        took = max(self.clock.now() - started_at, timedelta(0))
        return ModelCall(
            id=self.ids.new_id("call_"),
            user_id=NOBODY,
            session_id=None,
            compaction_id=None,
            purpose="hand",
            model=str(hand.model),
            answered_by=tally.answered_by,
            call_number=1,
            started_at=started_at,
            duration_ms=took // timedelta(milliseconds=1),
            outcome=outcome,
            input_tokens=tally.input_tokens,
            cached_tokens=tally.cached_tokens,
            output_tokens=tally.output_tokens,
            cost_usd=tally.known_cost_usd,
            is_uncounted=self.settings.spend.per_day_usd is not None and tally.unpriced_count > 0,
        )

    def _require_usage(self) -> UsageStore:
        if self.usage is None:
            raise InvalidInputError("no store is open to record token usage; open hands with everfold.agents.open")
        return self.usage

    async def _require_budget(self, usage: UsageStore, *, spent_usd: float) -> None:
        cap = self.settings.spend.per_day_usd
        await require_day_budget(usage, self.clock, cap, spent_usd=spent_usd)


async def _end(task: asyncio.Task[str]) -> None:
    """Cancel a task and wait until it has ended, also while its waiter is cancelled again."""
    loop = asyncio.get_running_loop()
    until = loop.time() + END_SECS
    task.cancel()
    with anyio.CancelScope(shield=True):
        while not task.done() and loop.time() < until:
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task}, timeout=until - loop.time())
    if task.done() and not task.cancelled():
        task.exception()  # seen: no caller waits for it any more


def _list_providers(settings: Settings) -> frozenset[str]:
    """The providers of the hands' models."""
    names = [hand.model or settings.model.name or "" for hand in settings.hands.values()]
    return frozenset(name.partition(":")[0] for name in names)


def _load(providers: frozenset[str]) -> None:
    """Load what a query needs, with the client libraries of its provider, off the event loop.

    Raises:
        InvalidInputError: the extra `agents` is missing.
    """
    if find_spec("pydantic_ai") is None:
        raise InvalidInputError("hands need the extra `agents`: pip install 'everfold[agents]'")
    import everfold.agents.conversing
    import everfold.agents.models
    import everfold.agents.toolsets  # noqa: F401 - loaded here so that they are there

    for provider in providers - {"", "script"}:
        kind = "anthropic" if provider == "anthropic" else "openai"
        with suppress(ImportError):  # told when the model is opened
            import_module(f"pydantic_ai.models.{kind}")
            import_module(f"pydantic_ai.providers.{kind}")


def _see(task: asyncio.Task[None]) -> None:
    """Take note of how the loading ended: a question is answered with its failure."""
    if not task.cancelled():
        task.exception()


def _require_listed_tools(name: str, hand: HandSettings) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidInputError(f"a hand needs a name of letters, digits and . _ @ -, of at most 80; got {name!r}")
    for server, settings in hand.mcp.items():
        if settings.allow is None:
            raise InvalidInputError(
                f"hands.{name}.mcp.{server} does not say which tools it may use: "
                'set `allow`, such as allow = ["list_events"]'
            )


def _require_question(hand: Hand, prompt: str, *, tokens: int, secs: float) -> None:
    asker = _in_query.get()
    if asker is not None:
        raise InvalidInputError(f"the hand {asker!r} asked the hand {hand.name!r}: a hand cannot ask a hand")
    if not prompt.strip():
        raise InvalidInputError(f"the question to the hand {hand.name!r} is empty; pass a question")
    if tokens <= 0 or secs <= 0:
        raise InvalidInputError(f"max_output_tokens and timeout must be above 0, got {tokens} and {secs:g}")
