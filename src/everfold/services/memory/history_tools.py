"""History tools: what an agent calls to find and read back what its window no longer shows.

Every answer fits what one tool result may show in the window of the session that runs: a longer one would lose its
middle, and reading that back would lose it again. So a message is read a page at a time, by the pages that its visible
form names, and a page that is still too long in parts; each answer gives the arguments of the next call.

Source: DESIGN 3.1, "Oversized content"; REQUIREMENTS HM-8.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from everfold.core.log.messages import Message, Role
from everfold.core.log.pages import count_pages, cut_page, split_page
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.memory.schemas import MOST_FOUND
from everfold.core.merging.decisions import MACHINES
from everfold.core.primitives.choices import require_choice
from everfold.core.primitives.json_values import JsonObject
from everfold.core.primitives.origins import Origin
from everfold.core.text.frames import FENCE_TOKENS, fence_untrusted, fence_within
from everfold.core.text.tokens import estimate_text_tokens
from everfold.errors import InvalidInputError, NotFoundError
from everfold.services.memory.tool_answers import ToolAnswer, find_count, find_moment, get_count, get_text
from everfold.services.sessions.search import SearchHit, choose_filter

_MOST_MESSAGES: Final = 50
_MESSAGE_CHARS: Final = 2_000
_MOST_TOKENS: Final = 4_000
"""The longest answer, however large the window is: twice a page of English."""
_LEAST_TOKENS: Final = 64
_HEADER_TOKENS: Final = 128
"""What stands around the text: the line over it with the arguments of the next call, and the frame of a tool result.
Source: our estimate of the longest, with a session's id in it, 96."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryStretch:
    """Messages of a conversation by number, erased ones left out, and the number of its last one."""

    messages: Sequence[Message]
    last_seq: int


SearchHistory: TypeAlias = Callable[[str, int, SearchFilter], Awaitable[Sequence[SearchHit]]]
"""The best messages for a question, at most so many, that a filter admits."""
ReadHistory: TypeAlias = Callable[[str | None, int, int], Awaitable[HistoryStretch]]
"""The messages of a session (None: the one that is running) from the first to the last number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryTools:
    """The tools of one agent over its past conversations with one user.

    Attributes:
        search_history: Over these conversations, and no others.
        read_history: The same by number.
        fence_key: Keys the marks around what came from outside.
        measure_room: How many tokens one tool result may show in the window now.
    """

    search_history: SearchHistory
    read_history: ReadHistory
    fence_key: str
    measure_room: Callable[[], int]

    async def call(self, name: str, arguments: JsonObject) -> ToolAnswer:
        """What a tool answers to its arguments.

        Raises:
            EverfoldError: the arguments do not fit, or the store does not serve.
        """
        if name == "history_search":
            return await self.search(
                get_text(arguments, "query"), get_count(arguments, "limit"), _read_filter(arguments)
            )
        return await self.read(
            get_count(arguments, "first", default=0),
            find_count(arguments, "last"),
            page=find_count(arguments, "page"),
            part=find_count(arguments, "part"),
            session=get_text(arguments, "session") if arguments.get("session") is not None else None,
        )

    async def search(self, query: str, limit: int, only: SearchFilter = ANY_MESSAGE) -> ToolAnswer:
        """The messages that answer a question and that a filter admits, best first."""
        hits = await self.search_history(query, min(limit, MOST_FOUND), only)
        lines = [
            f"[conversation {hit.session}, message {hit.seq}, {hit.speaker or hit.role}, {hit.said_at:%Y-%m-%d %H:%M}] "
            + self._guard(hit.excerpt, hit.origin)
            for hit in hits
        ]
        taken = self._take(lines)
        left_out = [f"[{len(lines) - len(taken)} more left out; ask for less]"] if len(taken) < len(lines) else []
        return ToolAnswer(text="\n".join([*taken, *left_out]) or "Nothing was found.")

    async def read(
        self, first: int, last: int | None, *, page: int | None, part: int | None, session: str | None
    ) -> ToolAnswer:
        """One message by page, or several, long ones cut; with the arguments of the next call."""
        if last is not None and last != first:
            if page is not None or part is not None:
                raise InvalidInputError("page and part read one message: leave last out")
            return await self._read_range(first, last, session)
        found = await self.read_history(session, first, first)
        message = _require_messages(found, first, first)[0]
        return ToolAnswer(text=self._show_page(message, page or 1, part or 1, session))

    # --- one message

    def _show_page(self, message: Message, page: int, part: int, session: str | None) -> str:
        text = message.view.text
        pages_count = count_pages(text)
        _require_within("page", page, pages_count, f"message {message.seq}")
        parts = split_page(cut_page(text, page), self._room_tokens() - FENCE_TOKENS)
        _require_within("part", part, len(parts), f"page {page} of message {message.seq}")
        place = f", page {page} of {pages_count}" if pages_count > 1 else ""
        if len(parts) > 1:
            place += f", part {part} of {len(parts)}"
        if part < len(parts):
            place += "; next: " + _write_next(session, first=message.seq, page=page, part=part + 1)
        elif page < pages_count:
            place += "; next: " + _write_next(session, first=message.seq, page=page + 1)
        return f"[{_name(message)}{place}] {self._fence(parts[part - 1], message.origin)}"

    # --- several

    async def _read_range(self, first: int, last: int, session: str | None) -> ToolAnswer:
        if last < first:
            raise InvalidInputError(f"last must be {first} or more, as first is {first}; got {last}")
        end = min(last, first + _MOST_MESSAGES - 1)
        found = await self.read_history(session, first, end)
        messages = _require_messages(found, first, end)
        taken = self._take([self._show_cut(message, session) for message in messages])
        next_seq = messages[len(taken)].seq if len(taken) < len(messages) else end + 1
        if next_seq <= min(last, found.last_seq):
            next_call = _write_next(session, first=next_seq, last=min(last, found.last_seq))
            taken.append(f"[messages from {next_seq} on are left out; next: {next_call}]")
        return ToolAnswer(text="\n".join(taken))

    def _show_cut(self, message: Message, session: str | None) -> str:
        text = message.view.text
        place = ""
        if len(text) > _MESSAGE_CHARS:
            place = f", cut; whole: {_write_next(session, first=message.seq, page=1)}"
        return f"[{_name(message)}{place}] {self._guard(text, message.origin)}"

    # --- bounds

    def _room_tokens(self) -> int:
        """What the text of an answer may take, header and frame apart."""
        return max(min(self.measure_room(), _MOST_TOKENS) - _HEADER_TOKENS, FENCE_TOKENS + _LEAST_TOKENS)

    def _take(self, lines: Sequence[str]) -> list[str]:
        """As many of the lines as an answer takes, one at least; never a part of one, so that every fence is closed."""
        left_tokens = self._room_tokens()
        taken: list[str] = []
        for line in lines:
            left_tokens -= estimate_text_tokens(line)
            if taken and left_tokens < 0:
                break
            taken.append(line)
        return taken

    def _fence(self, text: str, origin: Origin) -> str:
        return "\n" + fence_untrusted(text, source=origin, key=self.fence_key) if origin in MACHINES else text

    def _guard(self, text: str, origin: Origin) -> str:
        if origin in MACHINES:
            return "\n" + fence_within(text, source=origin, key=self.fence_key, most_chars=_MESSAGE_CHARS)
        return text if len(text) <= _MESSAGE_CHARS else f"{text[:_MESSAGE_CHARS]} [... cut]"


def _read_filter(arguments: JsonObject) -> SearchFilter:
    role = arguments.get("role")
    require_choice("role", role, Role, or_none=True)
    roles = () if role is None else (cast("Role", role),)
    return choose_filter(roles=roles, since=find_moment(arguments, "since"), until=find_moment(arguments, "until"))


def _name(message: Message) -> str:
    return f"message {message.seq}, {message.view.name or message.view.role}, {message.said_at:%Y-%m-%d %H:%M}"


def _write_next(session: str | None, **arguments: int) -> str:
    """The arguments of the next call of `history_read`."""
    named: dict[str, int | str] = {**arguments} if session is None else {**arguments, "session": session}
    return f"history_read {json.dumps(named)}"


def _require_messages(found: HistoryStretch, first: int, last: int) -> Sequence[Message]:
    if found.messages:
        return found.messages
    asked = f"message {first}" if first == last else f"messages {first} to {last}"
    if not found.last_seq:
        raise NotFoundError(f"there is no {asked}; nothing was said in this conversation yet", seq=first)
    if first > found.last_seq:
        raise NotFoundError(f"there is no {asked}; this conversation has messages 1 to {found.last_seq}", seq=first)
    raise NotFoundError(f"{asked}: erased; this conversation has messages 1 to {found.last_seq}", seq=first)


def _require_within(what: str, number: int, count: int, of: str) -> None:
    if not 1 <= number <= count:
        raise NotFoundError(f"{of} has {what}s 1 to {count}; got {what} {number}")
