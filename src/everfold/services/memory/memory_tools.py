"""Memory tools: what an agent calls to read and write its memory and to look into past conversations.

An answer to a write is short and final and does not repeat what was written, since a model that reads its own entry
again writes it again. A write that fails says what to do instead, with the entries that there are; after three failures
in a turn the agent is told to leave it and answer the user. No answer holds words that a scan held back.

Source: REQUIREMENTS HM-3 to HM-5, HM-8, U-101.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Final, get_args

from everfold.core.log.messages import Role
from everfold.core.memory.block import list_block, measure_item_lines, read_char_limit, render_item_line
from everfold.core.memory.items import Item, ItemKind, Tier
from everfold.core.memory.schemas import MEMORY_TOOLS, MOST_FOUND, MOST_OPERATIONS, list_memory_schemas
from everfold.core.merging.decisions import MACHINES
from everfold.core.merging.operations import Add, Operation, Remove, Replace
from everfold.core.merging.releasing import list_open_threats
from everfold.core.primitives.choices import require_choice
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.core.primitives.origins import Origin
from everfold.core.text.frames import fence_within
from everfold.core.text.searching import plan_query
from everfold.errors import EverfoldError, InvalidInputError, LimitError, NotFoundError
from everfold.services.check_arguments import checked
from everfold.services.memory.history_tools import HistoryTools
from everfold.services.memory.remember import Remembered, Rememberer
from everfold.services.memory.tool_answers import (
    DEFAULT_COUNT,
    ToolAnswer,
    get_count,
    get_text,
    join_lines,
    require_object,
    tell_error,
)
from everfold.services.sessions.search import choose_filter

MOST_FAILURES: Final = 3
"""How often a write may fail in one turn."""
_MESSAGE_CHARS: Final = 2_000
_WRITES: Final = frozenset(("memory_add", "memory_replace", "memory_remove", "memory_batch"))
_TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
_KINDS: Final[tuple[ItemKind, ...]] = get_args(ItemKind)

_SKIP: Final = ToolAnswer(
    text="Memory was not changed, and further tries in this turn will not be made. Skip it and answer the user.",
    is_error=True,
    is_terminal=True,
)


@checked
class MemoryTools:
    """The tools of one agent for one user.

    Args:
        rememberer: With the agent's policy.
        user_id: Whose memory.
        agent_id: Whose tools.
        fence_key: Keys the marks around what came from outside.
        history: Over the past conversations of the user with this agent.
        store_user: Stores the user, who may not be there before something is noted of them; gives their id.
    """

    def __init__(
        self,
        rememberer: Rememberer,
        *,
        user_id: UserId,
        agent_id: AgentId,
        fence_key: str,
        history: HistoryTools,
        store_user: Callable[[], Awaitable[UserId]] | None = None,
    ) -> None:
        self._rememberer = rememberer
        self._user_id = user_id
        self._agent_id = agent_id
        self._fence_key = fence_key
        self._history = history
        self._store_user = store_user
        self._failures_count = 0

    def begin_turn(self) -> None:
        """Forget the failures of the turn before."""
        self._failures_count = 0

    def schemas(self) -> list[JsonObject]:
        """The schemas of all tools."""
        return list_memory_schemas()

    async def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        """What a tool answers. Never raises what a caller or a store did wrong: the answer says it."""
        if name not in MEMORY_TOOLS:
            return ToolAnswer(text=f"There is no such tool. There are {', '.join(MEMORY_TOOLS)}.", is_error=True)
        if name in _WRITES:
            return await self._write(name, arguments)
        try:
            require_object(arguments)
            match name:
                case "memory_list":
                    return await self.memory_list(_find_tier(arguments))
                case "memory_search":
                    return await self.memory_search(get_text(arguments, "query"), get_count(arguments, "limit"))
                case _:
                    return await self._history.call(name, arguments)
        except EverfoldError as error:
            return tell_error(error)

    # --- writing

    async def memory_add(self, statement: str, *, tier: Tier = "agent", kind: ItemKind = "fact") -> ToolAnswer:
        """Note a statement."""
        return await self._change([Add(statement=statement, tier=tier, item_kind=kind)])

    async def memory_replace(self, old_text: str, statement: str, *, tier: Tier | None = None) -> ToolAnswer:
        """Give the one entry that has a text another statement."""
        return await self._change([Replace(old_text=old_text, statement=statement, tier=tier)])

    async def memory_remove(self, old_text: str, *, tier: Tier | None = None) -> ToolAnswer:
        """Take the one entry that has a text out of the block."""
        return await self._change([Remove(old_text=old_text, tier=tier)])

    async def memory_batch(self, operations: Sequence[Operation]) -> ToolAnswer:
        """Do all of the operations, or none."""
        return await self._change(operations)

    async def _write(self, name: str, arguments: JsonObject) -> ToolAnswer:
        try:
            operations = _read_operations(name, require_object(arguments))
        except InvalidInputError as error:
            return self._fail(tell_error(error))
        return await self._change(operations)

    async def _change(self, operations: Sequence[Operation]) -> ToolAnswer:
        if self._failures_count >= MOST_FAILURES:
            return _SKIP
        try:
            if self._store_user is not None:
                self._user_id = await self._store_user()
            done = await self._rememberer.change(
                operations,
                user_id=self._user_id,
                agent_id=self._agent_id,
                written_by="agent",
                actor=f"agent:{self._agent_id}",
            )
        except (NotFoundError, LimitError) as error:
            return self._fail(await self._tell_inventory(error))
        except EverfoldError as error:
            return self._fail(tell_error(error))
        return _confirm(done)

    def _fail(self, answer: ToolAnswer) -> ToolAnswer:
        """Count a failure; the last one that is allowed ends the tries."""
        self._failures_count += 1
        return _SKIP if self._failures_count >= MOST_FAILURES else answer

    async def _tell_inventory(self, error: EverfoldError) -> ToolAnswer:
        try:
            inventory = await self._list(None)
        except EverfoldError as other:
            return tell_error(other)
        return ToolAnswer(text=f"{tell_error(error).text}\n{inventory}", is_error=True)

    # --- reading

    async def memory_list(self, tier: Tier | None = None) -> ToolAnswer:
        """The entries of the block, with how full it is."""
        require_choice("tier", tier, Tier, or_none=True)
        return ToolAnswer(text=await self._list(tier))

    async def memory_search(self, query: str, limit: int = DEFAULT_COUNT) -> ToolAnswer:
        """The entries that share words with a question, best first, archived ones too."""
        found = await self._rememberer.store.search_items(
            plan_query(query), self._user_id, self._agent_id, limit_count=min(limit, MOST_FOUND)
        )
        now = self._rememberer.clock.now()
        lines = self._show([item for item, _ in found if item.is_current(now)])
        return ToolAnswer(text=join_lines(lines, empty="Nothing was found."))

    async def history_search(
        self,
        query: str,
        limit: int = DEFAULT_COUNT,
        *,
        roles: Collection[Role] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> ToolAnswer:
        """The messages that answer a question, best first; with roles or times only those in them, as in `Session.search`."""
        return await self._history.search(query, limit, choose_filter(roles=roles, since=since, until=until))

    async def history_read(
        self,
        first: int,
        last: int | None = None,
        session: str | None = None,
        *,
        page: int | None = None,
        part: int | None = None,
    ) -> ToolAnswer:
        """One message by number, a page at a time; or several, long ones cut. The answer says how to get the next.

        Args:
            first: The first message, or the only one.
            last: The last one.
            session: The conversation; None for the one that is running.
            page: Of one message; the pages are those that its visible form names.
            part: Of that page, where it is longer than the window lets one tool result be.
        """
        return await self._history.read(first, last, session=session, page=page, part=part)

    async def _list(self, tier: Tier | None) -> str:
        """The entries of each tier under its size."""
        block = await self._rememberer.list_block(self._user_id, self._agent_id)
        now = self._rememberer.clock.now()
        parts: list[str] = []
        for one in _TIERS if tier is None else (tier,):
            items = list_block(block, one, now=now)
            limit_chars = read_char_limit(self._rememberer.policy, one)
            parts.append(f"{one} memory, {measure_item_lines(items)} of {limit_chars} characters:")
            parts += self._show(items) or ["(nothing)"]
        return join_lines(parts, empty="")

    def _show(self, items: Sequence[Item]) -> list[str]:
        """Items as lines: scanned once more as they are loaded, and fenced where they are not the talk's own."""
        lines: list[str] = []
        held_count = 0
        for item in items:
            if list_open_threats(item.statement, (), item.released, origin=item.origin):
                held_count += 1
            else:
                lines.append(self._guard(render_item_line(item), item.origin))
        return [*lines, f"({held_count} held back by a scan)"] if held_count else lines

    def _guard(self, text: str, origin: Origin) -> str:
        if origin in MACHINES:
            return "\n" + fence_within(text, source=origin, key=self._fence_key, most_chars=_MESSAGE_CHARS)
        return text if len(text) <= _MESSAGE_CHARS else f"{text[:_MESSAGE_CHARS]} [... cut]"


def _confirm(done: Remembered) -> ToolAnswer:
    held = [threat for item in done.items if item.status == "quarantined" for threat in item.threats]
    if held:
        text = f"Held back until the user has looked at it: a scan found {', '.join(dict.fromkeys(held))}."
        return ToolAnswer(text=text, is_error=True, is_terminal=True)
    return ToolAnswer(text="Done." if done.items else "Known already.", is_terminal=True)


# --- arguments


def _read_operations(name: str, arguments: JsonObject) -> list[Operation]:
    if name != "memory_batch":
        return [_read_operation(name.removeprefix("memory_"), arguments)]
    given = arguments.get("operations")
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_OPERATIONS:
        raise InvalidInputError(f"operations must be a list of 1 to {MOST_OPERATIONS} objects")
    return [_read_listed(one, place) for place, one in enumerate(given, 1)]


def _read_listed(value: JsonValue, place: int) -> Operation:
    if not isinstance(value, dict):
        raise InvalidInputError(f"operation {place} is not an object; nothing was done")
    try:
        return _read_operation(value.get("action"), value)
    except InvalidInputError as error:
        raise InvalidInputError(f"operation {place}: {error}; nothing was done") from error


def _read_operation(action: JsonValue, arguments: JsonObject) -> Operation:
    tier = _find_tier(arguments)
    match action:
        case "add":
            statement = get_text(arguments, "statement")
            return Add(statement=statement, tier=tier or "agent", item_kind=_get_kind(arguments))
        case "replace":
            statement = get_text(arguments, "statement")
            return Replace(old_text=get_text(arguments, "old_text"), statement=statement, tier=tier)
        case "remove":
            return Remove(old_text=get_text(arguments, "old_text"), tier=tier)
        case _:
            raise InvalidInputError("action must be add, replace or remove")


def _find_tier(arguments: JsonObject) -> Tier | None:
    value = arguments.get("tier")
    if value is None:
        return None
    for tier in _TIERS:
        if value == tier:
            return tier
    raise InvalidInputError("tier must be user or agent")


def _get_kind(arguments: JsonObject) -> ItemKind:
    value = arguments.get("kind", "fact")
    for kind in _KINDS:
        if value == kind:
            return kind
    raise InvalidInputError(f"kind must be one of {', '.join(_KINDS)}")
