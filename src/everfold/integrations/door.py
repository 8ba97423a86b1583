"""A door: one conversation as a framework hands it over, and as its model is asked.

Theory of operation. A framework calls its model in a loop of its own, with a list of messages that it keeps itself. At
each call its module here does three things with the door of the conversation: `take` stores the messages that the log
has not yet, `ask` gives the request that stands for the whole log, and `reply` stores what the model said; `break_off`
stores what it said before it was stopped. Each message has a client id, so that the same list may come again and again,
from another process too, and is stored once. The ids of the last list are remembered: of a message that was there
before, nothing but its id is read.

A framework runs where it likes: on the engine's event loop, on another one, or on a plain thread. What is done with a door
is one async function, which `call` runs from any event loop and `block` from any thread without one. Both need a handle
of `everfold.open_sync` when they are not on the engine's own loop.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar, cast

import anyio

from everfold.core.log.interruption import write_interrupted
from everfold.core.log.prompts import Prompt
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.primitives.origins import Origin
from everfold.core.windows.rendering import Provider, render
from everfold.core.windows.window import Window
from everfold.engine import DEFAULT_AGENT, DEFAULT_USER, Everfold
from everfold.errors import ConflictError, InvalidInputError
from everfold.services.sessions.read import MOST_READ
from everfold.session import Session
from everfold.sync import Blocking, Portal, unwrap
from everfold.sync_classes import SyncEverfold, SyncSession

T = TypeVar("T")
R = TypeVar("R")
_LAST_FEW: Final = 4
_MOST_TRIES: Final = 20
Convert: TypeAlias = Callable[[list[JsonValue]], Sequence[T]]
"""Gives an object of a framework for each of these messages."""

MOST_DOORS: Final = 256
"""So many conversations are kept at hand; another one is opened again when it goes on."""


class Given(NamedTuple):
    """A message of a framework.

    Attributes:
        id: Its client id: the same for as long as the framework keeps the message, and of no other message.
        write: Gives it as the messages of the log that it stands for, in a wire form; called once, when it is new.
        origin: Whose words it is; None leaves it to the role.
    """

    id: str
    write: Callable[[], Sequence[Mapping[str, object]]]
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a model is asked.

    Attributes:
        window: Where the request comes from.
        body: The request in the provider's form; see `everfold.core.windows.rendering.render`.
        messages: Its messages, as the door converts them.
    """

    window: Window
    body: JsonObject
    messages: list[Any]


class Reach:
    """The way to an engine's event loop, from wherever a framework runs."""

    def __init__(self, portal: Portal | None) -> None:
        self._portal = portal
        self._loop = _find_loop() if portal is None else None
        self._started: set[object] = set()

    async def call(self, act: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run an async function where the engine runs, from an event loop.

        Raises:
            InvalidInputError: the engine runs on another event loop of the program.
        """
        if self._portal is None:
            self._require_loop()
            return await act()
        return await asyncio.wrap_future(self._portal.begin(act))

    def start(self, act: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Begin an async function where the engine runs, from a callback on an event loop that cannot wait for it."""
        if self._portal is None:
            self._require_loop()
            task = asyncio.get_running_loop().create_task(act())
            self._started.add(task)  # the event loop itself keeps no reference
            task.add_done_callback(self._started.discard)
        else:
            self._portal.begin(act)

    def _require_loop(self) -> None:
        if self._loop is not None and _find_loop() is not self._loop:
            raise InvalidInputError(
                "the call comes from another event loop than the engine's: open the engine with everfold.open_sync, "
                "whose sessions work on every loop and thread"
            )

    def block(self, act: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run an async function where the engine runs, from a thread without an event loop.

        Raises:
            InvalidInputError: the engine runs on an event loop of the program.
        """
        if self._portal is None:
            raise InvalidInputError(
                "a blocking call needs an engine on its own thread: open it with everfold.open_sync, or call the "
                "framework's async methods"
            )
        return self._portal.ask(act)


class Converted(Generic[T]):
    """The messages of one request after another as a framework's objects.

    A request begins as the one before it, but after a compaction. What is the same there is not made again, which takes most
    of the time that a door costs in a long window.

    Args:
        convert: Gives an object for each message.
    """

    def __init__(self, convert: Convert[T]) -> None:
        self._convert = convert
        self._last: tuple[list[JsonValue], list[T]] = ([], [])

    def convert(self, messages: list[JsonValue]) -> list[T]:
        """The messages of a request, in a list of its own; the objects are those of the last request as far as it goes."""
        known, made = self._last
        count = _count_same(known, messages)
        made = [*made[:count], *self._convert(messages[count:])]
        self._last = (messages, made)
        return list(made)


class Door(Reach):
    """One conversation. `take`, `ask`, `reply` and `break_off` run where the engine runs: see `call` and `block`.

    Args:
        session: Of `everfold.open` or `everfold.open_sync`.
        portal: The way to the engine's thread, where the session itself does not have it.
        convert: Gives the framework's object for each message of a request; left out, they stay as they are. In OpenAI's form
            it is given files at an address too, which the framework writes as its model takes them.
    """

    def __init__(
        self,
        session: Session | SyncSession,
        *,
        portal: Portal | None = None,
        convert: Convert[Any] | None = None,
    ) -> None:
        self.session, own = _unwrap(session)
        super().__init__(portal or own)
        self._converted = Converted(convert) if convert else None
        self._lock = anyio.Lock()
        self._known_ids: frozenset[str] = frozenset()
        self._left: list[JsonObject] = []

    async def take(self, messages: Iterable[Given]) -> list[int]:
        """Store those of a framework's messages that are not in the log, and give their sequence numbers.

        Costs a look at each id; what was in the last list is not read again.

        Raises:
            InvalidInputError: a message is none, or a result belongs to no call; nothing was stored, or only what stands
                before a message of another origin.
        """
        given = list(messages)
        return await self.take_each(
            given, name=attrgetter("id"), write=lambda message: message.write(), find_origin=attrgetter("origin")
        )

    async def take_each(
        self,
        messages: Sequence[T],
        *,
        name: Callable[[T], str],
        write: Callable[[T], Sequence[Mapping[str, object]]],
        find_origin: Callable[[T], Origin | None] = lambda _: None,
    ) -> list[int]:
        """As `take`, of a framework's own objects: those that were in the last list cost no more than their name.

        Args:
            messages: The list, whole.
            name: Gives the client id of a message.
            write: Gives it as messages of the log; called once, when it is new.
            find_origin: Gives whose words it is; None leaves it to the role.
        """
        ids = [*map(name, messages)]
        async with self._hold():
            known = self._known_ids
            unknown = [
                Given(id_, partial(write, message), find_origin(message))
                for id_, message in zip(ids, messages, strict=True)
                if id_ not in known
            ]
            seqs = await self._append(await self._leave_stored(unknown)) if unknown else []
            self._known_ids = frozenset(ids)
        return seqs

    async def add(self, message: Given) -> list[int]:
        """Store one more message of the last list, unless the log has it, and give its sequence numbers.

        Raises:
            InvalidInputError: it is none, or a result belongs to no call; nothing was stored.
        """
        async with self._hold():
            return await self._add(message)

    async def _add(self, message: Given) -> list[int]:
        seqs = await self._append(await self._leave_stored([message]))
        self._known_ids |= {message.id}
        return seqs

    async def _leave_stored(self, given: Sequence[Given]) -> list[Given]:
        """Those messages whose ids the log does not have."""
        stored: set[str] = set()
        for at in range(0, len(given), MOST_READ):
            ids = [message.id for message in given[at : at + MOST_READ]]
            stored |= (await self.session.integration.lookup(ids)).keys()
        return [message for message in given if message.id not in stored]

    async def _append(self, given: Sequence[Given]) -> list[int]:
        seqs: list[int] = []
        for origin, group in groupby(given, key=attrgetter("origin")):
            named = [(id_, wire) for message in group for id_, wire in _name_each(message)]
            wires: list[Any] = [wire for _, wire in named]
            if wires:
                seqs += await self.session.append(wires, origin=origin, client_ids=[id_ for id_, _ in named])
        return seqs

    async def ask(
        self,
        *,
        form: Provider,
        system: str | None = None,
        tools: Sequence[JsonValue] | None = None,
        suffix: str | None = None,
    ) -> Asked:
        """The request that stands for the whole log, compacted first when that is due.

        Args:
            form: The provider's form.
            system: The system prompt; None for the one that the session holds.
            tools: Tool schemas, in either provider's form; None for those that the session holds.
            suffix: Text for the end of this request only.

        Raises:
            BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
            OpenStepError: the model is asked while calls of its last reply wait for their results.
            ConflictError: others change the session's system prompt or tools again and again.
        """
        async with self._hold():
            window = await self._show(system, tools, suffix)
        body = render(window, form, keeps_addresses=self._converted is not None)
        messages = cast("list[JsonValue]", body["input" if form == "responses" else "messages"])
        return Asked(
            window=window,
            body=body,
            messages=self._converted.convert(messages) if self._converted else [*messages],
        )

    async def _show(self, system: str | None, tools: Sequence[JsonValue] | None, suffix: str | None) -> Window:
        """The window with what is asked with. Another agent on the same session sets its own, also while this one asks."""
        for _ in range(_MOST_TRIES):
            if (system, tools) != (None, None):
                await self.session.configure(system=system, tools=tools)
            window = await self.session.window(suffix=suffix, require_complete=True)
            held = window.prompt
            wanted = Prompt(
                system=(held.system if system is None else system) or None,
                tools=held.tools if tools is None else tuple(tools),
            )
            if wanted.is_as(replace(held, system=held.system or None)):
                return window
        raise ConflictError(
            f"the system prompt or tools of session {self.session.id} were changed by others at each of {_MOST_TRIES} tries; "
            "give each agent a session key of its own",
            session=self.session.id,
        )

    async def reply(self, asked: Asked, message: Given, *, counted_tokens: int = 0) -> list[int]:
        """Store what the model said, and give its sequence numbers.

        Args:
            asked: What it was asked.
            message: The reply. Where the framework keeps it, its id is the one that it has in later lists.
            counted_tokens: What the provider counted for the request, cached tokens included; 0 where it did not.
        """
        async with self._hold():
            seqs = await self._add(message)
            await self.session.observe_usage(asked.window, counted_tokens=counted_tokens)
        return seqs

    async def break_off(self, text: str, *, reason: str) -> None:
        """Store what the model said before it was stopped; nothing where it had said nothing. No cancellation stops it.

        Calls that it had begun are left out: they were never made.

        Args:
            text: Its text so far.
            reason: Why it ends there, in words.
        """
        self._note_left(text, reason)
        await self._settle()

    def leave(self, text: str, *, reason: str) -> None:
        """As `break_off`, from a callback that cannot wait: it is stored before anything else is."""
        self._note_left(text, reason)
        self.start(self._settle)

    def _note_left(self, text: str, reason: str) -> None:
        if text.strip():
            self._left.append(write_interrupted(text, reason=reason))

    async def _settle(self) -> None:
        with anyio.CancelScope(shield=True):
            async with self._hold():
                pass

    @asynccontextmanager
    async def _hold(self) -> AsyncIterator[None]:
        """The door alone, once what stopped replies had said is stored."""
        async with self._lock:
            with anyio.CancelScope(shield=True):
                while self._left:
                    await self.session.append(self._left.pop(0))
            yield


class Doors(Reach):
    """The doors of the conversations with an engine, each found by its user, its agent, and its session key."""

    def __init__(
        self,
        engine: Everfold | SyncEverfold,
        *,
        user: str = DEFAULT_USER,
        agent: str = DEFAULT_AGENT,
        limit: int | None = None,
        convert: Convert[Any] | None = None,
    ) -> None:
        self._engine, portal = _unwrap(engine)
        super().__init__(portal)
        self._convert = convert
        self._user, self._agent, self._limit = user, agent, limit
        self._doors: OrderedDict[tuple[str, str, str], Door] = OrderedDict()

    async def find(self, key: str, *, user: str | None = None, agent: str | None = None) -> Door:
        """The door of the conversation with this session key, which is opened where it is not at hand.

        Args:
            key: The session key.
            user: Who speaks; the user of all doors when left out.
            agent: The assistant; the agent of all doors when left out.
        """
        name = (user or self._user, agent or self._agent, key)
        door = self._doors.get(name)
        if door is None:
            session = await self._engine.session(
                user=name[0], agent=name[1], session_key=key, limit=self._limit, create=False
            )
            door = self._doors.setdefault(name, Door(session, portal=self._portal, convert=self._convert))
        self._doors.move_to_end(name)
        while len(self._doors) > MOST_DOORS:
            self._doors.popitem(last=False)
        return door


def _unwrap(handle: T | Blocking[T]) -> tuple[T, Portal | None]:
    """The object of the async face, and the way to its thread where it has one of its own."""
    return unwrap(handle) if isinstance(handle, Blocking) else (handle, None)


def _count_same(known: list[JsonValue], messages: list[JsonValue]) -> int:
    """How many messages two lists have in common from their beginning; mostly all but the last few."""
    most = min(len(known), len(messages))
    same = max(most - _LAST_FEW, 0)
    if known[:same] != messages[:same]:
        same = 0
    while same < most and known[same] == messages[same]:
        same += 1
    return same


def _find_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs here; None on a thread without one, and under another kind of loop."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _name_each(message: Given) -> list[tuple[str, Mapping[str, object]]]:
    """The messages of the log that a framework's message stands for, with their client ids."""
    wires = message.write()
    return [(message.id if index == 1 else f"{message.id}/{index}", wire) for index, wire in enumerate(wires, 1)]
