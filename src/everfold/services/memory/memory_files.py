"""Memory files: an agent reads and writes what it keeps for itself of a user, as text under paths. One change of memory each.

Topics lie beside the files, each as a file that can only be read. An edit is decided over what is there, and again where
another writer was first, so that none is lost.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from everfold.core.dreams.topic_lines import show_topic
from everfold.core.memory.files import (
    ROOT,
    TOPICS,
    FileEntry,
    FilePlace,
    MemoryFile,
    is_topic,
    is_within,
    read_new_path,
    read_path,
    show_edit,
    show_file,
    show_folder,
)
from everfold.core.memory.records import AuditAction, AuditEntry, MemoryChange
from everfold.core.memory.topics import Topic
from everfold.core.merging.file_edits import clean_content, insert_text, replace_text, require_room
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.primitives.json_values import JsonObject, JsonValue
from everfold.errors import ConflictError, EverfoldError, InvalidInputError, LimitError, NotFoundError
from everfold.ports.memory import MemoryStore
from everfold.ports.system import Clock
from everfold.services.check_arguments import checked
from everfold.services.memory.tool_answers import ToolAnswer, get_text, require_object, tell_error
from everfold.services.telling.queueing import write_in_turn
from everfold.services.telling.stream import Stream
from everfold.services.telling.tell_changes import change_memory
from everfold.services.telling.tries import PATIENCE, Patience


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """What one edit writes, and what is said of it."""

    told: str
    files: tuple[MemoryFile, ...] = ()
    gone: tuple[FilePlace, ...] = ()


COMMANDS: Final = ("view", "create", "str_replace", "insert", "delete", "rename")
"""Source: the tool's definition."""

_Decide = Callable[[], Awaitable[_Edit]]


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFiles:
    """The files of one agent for one user. Each edit gives the sentence that its caller, a model, is told.

    Get one from `Everfold.memory_files`. Paths begin with `/memories`; folders are there as long as files lie in them.

    Attributes:
        store_user: Stores the user, who may not be there before the first file is written.
        actor: Who edits, for the audit; the agent where it is left out.
    """

    store: MemoryStore
    clock: Clock
    user_id: UserId
    agent_id: AgentId
    store_user: Callable[[], Awaitable[UserId]]
    stream: Stream = field(default_factory=Stream)
    patience: Patience = PATIENCE
    actor: str | None = None

    async def call(self, command: JsonObject) -> ToolAnswer:
        """What a command of the memory tool is answered. Never raises what a model or a store did wrong: the answer says it.

        Args:
            command: The input of a call of the tool: `command`, and what that command takes.
        """
        try:
            return ToolAnswer(text=await self._do(require_object(command)))
        except (NotFoundError, InvalidInputError, LimitError) as error:
            return ToolAnswer(text=str(error), is_error=True)
        except EverfoldError as error:
            return tell_error(error)

    async def _do(self, command: JsonObject) -> str:
        match command.get("command"):
            case "view":
                return await self.view(get_text(command, "path"), _read_range(command.get("view_range")))
            case "create":
                return await self.create(get_text(command, "path"), _get_content(command, "file_text"))
            case "str_replace":
                new = _get_content(command, "new_str")
                return await self.replace(get_text(command, "path"), _get_content(command, "old_str"), new)
            case "insert":
                text = _get_content(command, "insert_text")
                return await self.insert(get_text(command, "path"), _read_line(command.get("insert_line")), text)
            case "delete":
                return await self.delete(get_text(command, "path"))
            case "rename":
                return await self.rename(get_text(command, "old_path"), get_text(command, "new_path"))
            case other:
                raise InvalidInputError(f"there is no command {str(other)[:60]!r}; there are {', '.join(COMMANDS)}")

    # --- reading

    async def view(self, path: str, view_range: tuple[int, int] | None = None) -> str:
        """A file with line numbers from 1, or a folder two levels deep.

        Raises:
            NotFoundError: there is neither.
            InvalidInputError: the path or the range is none.
        """
        wanted = read_path(path)
        content = await self._find_content(wanted)
        if content is not None:
            return show_file(wanted, content, view_range)
        entries = [entry for entry in await self.entries() if is_within(entry.path, wanted)]
        if not entries and wanted != ROOT:
            raise _miss(wanted)
        return show_folder(wanted, entries)

    async def read(self, path: str) -> str:
        """What a file says, as it is.

        Raises:
            NotFoundError: there is no such file.
            InvalidInputError: the path is none.
        """
        wanted = read_path(path)
        content = await self._find_content(wanted)
        if content is None:
            raise _miss(wanted)
        return content

    async def entries(self) -> list[FileEntry]:
        """All files by path, topics included."""
        topics = [FileEntry(_locate(topic), len(_write(topic))) for topic in await self._list_topics()]
        return sorted([*await self.store.list_files(self.user_id, self.agent_id), *topics])

    async def _list_topics(self) -> list[Topic]:
        now = self.clock.now()
        topics = await self.store.list_topics(self.user_id, self.agent_id)
        return [show_topic(topic, now) for topic in topics if topic.is_current(now)]

    async def _find_content(self, path: str) -> str | None:
        if is_topic(path):
            return next((_write(topic) for topic in await self._list_topics() if _locate(topic) == path), None)
        file = await self.store.read_file(self.user_id, self.agent_id, path)
        return None if file is None else file.content

    # --- writing

    async def create(self, path: str, content: str) -> str:
        """A new file.

        Raises:
            InvalidInputError: the path is none, or there is a file or folder already, or a scan finds a threat in the text.
            LimitError: it is too long, or one too many.
        """
        new = read_new_path(path)

        async def decide() -> _Edit:
            entries = await self.store.list_files(self.user_id, self.agent_id)
            _require_free(new, entries)
            return _Edit(told=f"File created successfully at: {new}", files=(self._write_file(new, content, entries),))

        return await self._change(decide)

    async def write(self, path: str, content: str) -> str:
        """A file with this text, new or in place of what it said. Errors as `create`, but for a file that is there."""
        place = read_new_path(path)

        async def decide() -> _Edit:
            entries = await self.store.list_files(self.user_id, self.agent_id)
            _require_free(place, [entry for entry in entries if entry.path != place])
            return _Edit(told=f"File written: {place}", files=(self._write_file(place, content, entries),))

        return await self._change(decide)

    async def replace(self, path: str, old: str, new: str) -> str:
        """Put a text in place of another one, which stands in the file once.

        Raises:
            NotFoundError: there is no such file, or it has no such text.
            InvalidInputError: the text stands there more than once; or as `create`.
            LimitError: as `create`.
        """

        async def decide() -> _Edit:
            file = await self._get(path)
            content, line = replace_text(file.path, file.content, old, new)
            written = await self._rewrite(file, content)
            snippet = show_edit(written.content, line)
            return _Edit(told=f"The memory file has been edited. Here is the snippet:\n{snippet}", files=(written,))

        return await self._change(decide)

    async def insert(self, path: str, after_line: int, text: str) -> str:
        """Put a text after a line; 0 is before the first one.

        Raises:
            NotFoundError: there is no such file.
            InvalidInputError: there is no such line; or as `create`.
            LimitError: as `create`.
        """

        async def decide() -> _Edit:
            file = await self._get(path)
            written = await self._rewrite(file, insert_text(file.content, after_line, text))
            return _Edit(told=f"The file {file.path} has been edited.", files=(written,))

        return await self._change(decide)

    async def delete(self, path: str) -> str:
        """Remove a file, or a folder with all that is in it. Of either nothing stays in the store.

        Raises:
            NotFoundError: there is neither.
            InvalidInputError: it can only be read.
        """
        gone = read_new_path(path)

        async def decide() -> _Edit:
            places = [FilePlace(self.agent_id, entry.path) for entry in await self._list_within(gone)]
            return _Edit(told=f"Successfully deleted {gone}", gone=tuple(places))

        return await self._change(decide, action="erase")

    async def rename(self, old_path: str, new_path: str) -> str:
        """Move a file, or a folder with all that is in it.

        Raises:
            NotFoundError: there is neither.
            InvalidInputError: a path is none, or can only be read, or there is something at the new path.
        """
        old, new = read_new_path(old_path), read_new_path(new_path)
        if is_within(new, old):
            raise InvalidInputError(f"{old} cannot be moved into itself; name another place than {new}")

        async def decide() -> _Edit:
            entries = await self._list_within(old)
            _require_free(new, await self.store.list_files(self.user_id, self.agent_id))
            files = [await self._get(entry.path) for entry in entries]
            moved = [self._make(read_new_path(f"{new}{file.path.removeprefix(old)}"), file.content) for file in files]
            return _Edit(
                told=f"Successfully renamed {old} to {new}",
                files=tuple(moved),
                gone=tuple(file.place for file in files),
            )

        return await self._change(decide)

    async def _get(self, path: str) -> MemoryFile:
        wanted = read_new_path(path)
        file = await self.store.read_file(self.user_id, self.agent_id, wanted)
        if file is None:
            raise _miss(wanted)
        return file

    async def _list_within(self, path: str) -> list[FileEntry]:
        entries = await self.store.list_files(self.user_id, self.agent_id)
        found = [entry for entry in entries if is_within(entry.path, path)]
        if not found:
            raise _miss(path)
        return found

    async def _rewrite(self, file: MemoryFile, content: str) -> MemoryFile:
        return self._write_file(file.path, content, await self.store.list_files(self.user_id, self.agent_id))

    def _write_file(self, path: str, content: str, entries: Sequence[FileEntry]) -> MemoryFile:
        require_room(entries, path, content)
        return self._make(path, clean_content(path, content))

    def _make(self, path: str, content: str) -> MemoryFile:
        return MemoryFile(
            user_id=self.user_id, agent_id=self.agent_id, path=path, content=content, written_at=self.clock.now()
        )

    async def _change(self, decide: _Decide, *, action: AuditAction = "write") -> str:
        """Write what is decided, in turn with the user's other writers; decided again where memory has changed meanwhile."""
        await self.store_user()

        async def attempt() -> str | None:
            version = await self.store.read_memory_version(self.user_id)
            edit = await decide()
            entry = AuditEntry(
                at=self.clock.now(),
                user_id=self.user_id,
                agent_id=self.agent_id,
                actor=self.actor or f"agent:{self.agent_id}",
                action=action,
                counts=(("files", len(edit.files) or len(edit.gone)),),
            )
            change = MemoryChange(
                user_id=self.user_id,
                agent_id=self.agent_id,
                expected=version,
                files=edit.files,
                gone_files=edit.gone,
                audit=(entry,),
            )
            try:
                await change_memory(self.store, change, stream=self.stream)
            except ConflictError:
                if await self.store.read_memory_version(self.user_id) == version:
                    raise  # it is no race: the same would be refused again
                return None
            return edit.told

        return await write_in_turn(self.store, self.user_id, attempt, patience=self.patience)


def _get_content(command: JsonObject, name: str) -> str:
    """A text that may be blank, with a line break for each way to write one."""
    value = command.get(name)
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be a text")
    return value.replace("\r\n", "\n").replace("\r", "\n")


def _read_line(value: JsonValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInputError("insert_line must be a whole number, 0 for the beginning of the file")
    return value


def _read_range(value: JsonValue) -> tuple[int, int] | None:
    match value:
        case None:
            return None
        case [int(first), int(last)]:
            return first, last
    raise InvalidInputError("view_range must be two whole numbers: the first line and the last one, or -1 for the end")


def _locate(topic: Topic) -> str:
    """Where a topic is read: those of the agent in a folder of their own, since both tiers may have the same name."""
    return f"{TOPICS}/{topic.name}.md" if topic.tier == "user" else f"{TOPICS}/own/{topic.name}.md"


def _write(topic: Topic) -> str:
    return f"{topic.summary}\n\n{topic.content}"


def _require_free(path: str, entries: Sequence[FileEntry]) -> None:
    taken = next((entry.path for entry in entries if is_within(entry.path, path) or is_within(path, entry.path)), None)
    if taken == path:
        raise InvalidInputError(f"File {path} already exists", path=path)
    if taken is not None:
        raise InvalidInputError(
            f"{path} cannot be written: there is {taken}, and a path is a file or a folder", path=path
        )


def _miss(path: str) -> NotFoundError:
    return NotFoundError(f"The path {path} does not exist. Please provide a valid path.", path=path)
