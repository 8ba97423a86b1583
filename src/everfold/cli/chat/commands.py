"""What can be typed in a chat instead of a message: `/new`, `/memory` and the others."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from everfold.admin import BrowsedSession
from everfold.agents.chat import Chat
from everfold.cli.opening.options import MOST_DIGITS
from everfold.cli.tables.item_rows import to_document
from everfold.cli.tables.output import make_table, one_line, plain
from everfold.core.memory.items import Item
from everfold.engine import Everfold
from everfold.errors import InvalidInputError, NotFoundError
from everfold.session import Session

_LISTED_COUNT: Final = 20
_SHOWN_CHARS: Final = 100


class Found(NamedTuple):
    """What a command found, as people and as programs read it."""

    shown: RenderableType
    document: object


Command = Callable[["Commands", str], Awaitable[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The commands of a chat, all but those that speak to the model or end it."""

    engine: Everfold
    chat: Chat

    async def run(self, name: str, argument: str) -> Found:
        """Do what a command says.

        Raises:
            InvalidInputError: there is no such command.
        """
        command = COMMANDS.get(name)
        if command is None:
            raise InvalidInputError(f"there is no command {name}; /help lists them. A message may not begin with /")
        return await command(self, argument)

    # --- conversations

    async def new(self, argument: str) -> Found:  # noqa: ARG002 - it takes none
        """Begin a new conversation."""
        await self.chat.new()
        return self._tell_place("a new conversation")

    async def reset(self, argument: str) -> Found:  # noqa: ARG002 - it takes none
        """Begin a new conversation, and clear the calibration."""
        await self.chat.reset()
        return self._tell_place("a new conversation, without calibration")

    async def resume(self, argument: str) -> Found:
        """Continue an earlier conversation, or list them."""
        listed = await self._list_sessions()
        if not argument:
            return self._list(listed)
        records = [one.record for one in listed]
        found = [record for record in records if record.id == argument]
        found = found or [record for record in records if record.id.endswith(argument)]
        number = _read_number(argument)
        if number is not None and 1 <= number <= len(records):
            found = [records[number - 1]]
        if len(found) != 1:
            raise NotFoundError(f"{argument[:60]!r} matches no conversation, or more than one; /resume lists them")
        await self.chat.resume(found[0].id)
        count = (await self.chat.session.inspect.state()).last_seq
        return self._tell_place(f"back in a conversation of {count} messages")

    async def branch(self, argument: str) -> Found:
        """Continue from an earlier message in a new conversation; from here without a number."""
        before = self.chat.session.id
        seq = _read_seq(argument) if argument else (await self.chat.session.inspect.state()).safe_seq
        await self.chat.rewind(seq)
        return self._tell_place(f"a branch after message {seq}; /resume {before} goes back")

    def _tell_place(self, text: str) -> Found:
        session_id = self.chat.session.id
        return Found(Text(f"{text} ({session_id})", style="green"), {"session": session_id})

    async def _list_sessions(self) -> list[BrowsedSession]:
        """The newest sessions of this user with this agent, the newest first."""
        record = self.chat.session.record
        return await self.engine.admin.browse_sessions(
            user=record.user_id, agent=record.agent_id, limit=_LISTED_COUNT, words=True
        )

    def _list(self, listed: list[BrowsedSession]) -> Found:
        rows = [
            (
                number,
                one.record.id,
                one_line(one.words.title if one.words else "", _SHOWN_CHARS),
                f"{one.record.created_at:%Y-%m-%d %H:%M}",
                one.record.started_by,
                "here" if one.record.id == self.chat.session.id else "",
            )
            for number, one in enumerate(listed, 1)
        ]
        table = make_table(("", "session", "title", "created", "begun by", ""), rows)
        document = [{"session": row[1], "title": row[2], "created_at": row[3], "started_by": row[4]} for row in rows]
        return Found(Group(table, Text("/resume NUMBER continues one", style="dim")), document)

    # --- looking

    async def compact(self, argument: str) -> Found:
        """Compact the conversation now; words after the command are the focus of the digest."""
        folds = await self.chat.session.compact(focus=argument or None)
        lines = [
            f"folded {fold.report.folded_count} messages ({fold.report.first_seq}-{fold.report.last_seq}): "
            f"{fold.report.tokens_before:,} > {fold.report.tokens_after:,} tokens"
            for fold in folds
        ]
        self.chat.take_notes()  # they say the same
        return Found(Text("\n".join(lines) or "nothing to fold"), [fold.report for fold in folds])

    async def memory(self, argument: str) -> Found:
        """List what is remembered of you, or search it."""
        record = self.chat.session.record
        memory = await self.engine.memory(user=record.user_id, agent=record.agent_id)
        if argument:
            items = [hit.item for hit in await memory.search(argument, limit=_LISTED_COUNT)]
        else:
            items = await memory.items(limit=_LISTED_COUNT)
        return Found(_list_items(items), [to_document(item) for item in items])

    async def note(self, argument: str) -> Found:  # noqa: ARG002 - it takes none
        """Show the folded messages whose digest is still being written."""
        text = await self.chat.session.inspect.note()
        return Found(Text(plain(text or "no note: no work is pending")), text)

    async def why(self, argument: str) -> Found:
        """Show why an item is remembered; without one, what the model is shown and why."""
        if not argument:
            return await _explain_window(self.chat.session)
        record = self.chat.session.record
        memory = await self.engine.memory(user=record.user_id, agent=record.agent_id)
        found = await memory.why(argument)
        lines = [
            f"{one.evidence.said_at:%Y-%m-%d} message {one.evidence.seq}: "
            + one_line(one.message.view.text if one.message else "[erased]", _SHOWN_CHARS * 2)
            for one in found
        ]
        document = [{"session": it.evidence.session_id, "seq": it.evidence.seq} for it in found]
        return Found(Text("\n".join(lines) or "this item has no source message"), document)

    async def help(self, argument: str) -> Found:  # noqa: ARG002 - it takes none
        """List the commands."""
        rows = [(usage, text) for usage, text in HELP.items()]
        return Found(make_table(("command", "what it does"), rows), HELP)


async def _explain_window(session: Session) -> Found:
    report = (await session.window(preview=True)).report
    rows = [(name, tokens) for name, tokens in report.by_slice.items() if tokens]
    lines = [
        f"{report.tokens:,} of {report.budget_tokens:,} tokens; messages compacted through {report.compacted_through}",
        *report.memory,
    ]
    shown = Group(make_table(("slice", "tokens"), rows), Text(plain("\n".join(lines)), style="dim"))
    return Found(shown, {"tokens": report.tokens, "by_slice": report.by_slice, "memory": report.memory})


def _list_items(items: list[Item]) -> RenderableType:
    if not items:
        return Text("nothing is remembered")
    return Text("\n".join(f"{item.id}  {item.kind}: {one_line(item.statement, _SHOWN_CHARS)}" for item in items))


def _read_seq(argument: str) -> int:
    seq = _read_number(argument)
    if seq is None:
        raise InvalidInputError(f"/branch takes the number of a message, got {argument[:60]!r}")
    return seq


def _read_number(argument: str) -> int | None:
    return int(argument) if argument.isdecimal() and len(argument) <= MOST_DIGITS else None


COMMANDS: Final[dict[str, Command]] = {
    "/new": Commands.new,
    "/reset": Commands.reset,
    "/resume": Commands.resume,
    "/branch": Commands.branch,
    "/compact": Commands.compact,
    "/memory": Commands.memory,
    "/note": Commands.note,
    "/why": Commands.why,
    "/help": Commands.help,
}
HELP: Final = {
    "/new": "start a new conversation",
    "/reset": "the same, and clear the calibration of token counts",
    "/resume [ID]": "continue an earlier conversation; without an id, list them",
    "/branch [SEQ]": "continue from an earlier message in a new conversation",
    "/again": "answer the last message again, if its answer was stopped or failed",
    "/compact [FOCUS]": "compact the conversation now; the digest prefers lines about FOCUS",
    "/memory [WORDS]": "list or search what is remembered about you",
    "/why [ITEM]": "show the source messages of an item; without an item, what the model is shown",
    "/note": "show the folded messages whose digest is still being written",
    "/quit": "leave; also Ctrl-D, or Ctrl-C at an empty prompt",
}
"""What `/help` shows."""
