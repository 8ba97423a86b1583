"""What every store holds to about the files that agents keep. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

import pytest

from everfold.core.memory.files import FileEntry, MemoryFile
from everfold.core.memory.records import MemoryChange, MemoryVersion
from everfold.core.primitives.ids import AgentId, UserId
from everfold.errors import ConflictError
from everfold.ports.stores import Store
from everfold.testing.kit.builders import ADA, BEN, CLERK, GUIDE, minute
from everfold.testing.kit.memory_builders import change

BARE = MemoryChange(user_id=ADA, agent_id=GUIDE, expected=MemoryVersion())


def file(path: str, content: str, *, user_id: UserId = ADA, agent_id: AgentId = GUIDE) -> MemoryFile:
    """A file."""
    return MemoryFile(user_id=user_id, agent_id=agent_id, path=path, content=content, written_at=minute(3))


class MemoryFileContract:
    """Files are kept as they were written, per user and agent, and change with the rest of memory."""

    async def test_a_file_reads_back_equal(self, store: Store) -> None:
        """Every field is what it was, lone surrogates and an empty text too; listings are by path."""
        files = [file("/memories/b", "odd \ud83d \x00"), file("/memories/a/é", "")]
        await change(store, replace(BARE, files=tuple(files)))
        assert await store.read_file(ADA, GUIDE, "/memories/b") == files[0]
        assert await store.read_file(ADA, GUIDE, "/memories/a/é") == files[1]
        assert await store.list_files(ADA, GUIDE) == [FileEntry("/memories/a/é", 0), FileEntry("/memories/b", 7)]
        assert await store.read_files(ADA) == files[::-1]

    async def test_files_are_of_one_user_and_agent(self, store: Store) -> None:
        """The same path is another file for another agent or user; all of a user come by agent and path."""
        own, clerks = file("/memories/a", "own"), file("/memories/a", "clerk's", agent_id=CLERK)
        bens = file("/memories/a", "Ben's", user_id=BEN)
        await change(store, replace(BARE, files=(own, clerks)))
        await change(store, replace(BARE, user_id=BEN, files=(bens,)))
        assert await store.read_file(ADA, CLERK, "/memories/a") == clerks
        assert await store.read_files(ADA) == sorted((own, clerks), key=lambda one: one.agent_id)
        assert await store.read_files(BEN) == [bens]
        assert await store.read_file(ADA, AgentId("nobody"), "/memories/a") is None
        assert await store.list_files(UserId("usr_nobody"), GUIDE) == []

    async def test_a_change_of_files_is_a_change_of_memory(self, store: Store) -> None:
        """What goes leaves before what is written, each change moves the version, and over another version nothing is written."""
        first = file("/memories/a", "first")
        version = await change(store, replace(BARE, files=(first,)))
        assert version == MemoryVersion(revision=1)
        moved = replace(first, path="/memories/b")
        again = replace(first, content="again")
        rename = replace(BARE, files=(moved, again), gone_files=(first.place, file("/memories/x", "").place))
        assert (await change(store, rename)).revision == 2
        assert await store.read_files(ADA) == [again, moved]
        with pytest.raises(ConflictError):
            await store.change_memory(replace(BARE, expected=version, gone_files=(moved.place,)))
        assert await store.read_files(ADA) == [again, moved]
