"""What every store holds to about followed transcripts. See `everfold.testing.contract`."""

# ruff: noqa: S101  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

import pytest

from everfold.core.log.budget import Policy
from everfold.core.log.following import FollowedTranscript, name_transcript
from everfold.core.memory.records import MemoryChange, MemoryVersion
from everfold.core.portability.documents import PortableMemory
from everfold.core.portability.restoring import plan_sessions
from everfold.core.portability.sessions import PortableFollowed, PortableSession
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.errors import NotFoundError
from everfold.ports.stores import Store
from everfold.testing.kit.builders import ADA, BEN, CLERK, GUIDE, minute, open_session, session_record
from everfold.testing.kit.memory_builders import audit

KEPT = PortableFollowed(
    name=name_transcript("agent:two"), path="/home/ada/two.jsonl", file_id="8:2", read_bytes=70, left_seq=0
)


def followed(session_id: SessionId, conversation: str = "agent:one") -> FollowedTranscript:
    """A position of Ada's in a file with an odd name."""
    return FollowedTranscript(
        user_id=ADA,
        agent_id=GUIDE,
        name=name_transcript(conversation),
        session_id=session_id,
        path="/home/ada/odd \udcff.jsonl",
        file_id="8:1",
        read_bytes=3_000_000_000,
        left_seq=7,
    )


class FollowingContract:
    """A position is kept as it was written, per user, agent and conversation, and outlives what it was for."""

    async def test_a_position_reads_back_equal(self, store: Store) -> None:
        """Every field is what it was; a later position takes the place of the one before it."""
        record = await open_session(store)
        first = followed(record.id)
        await store.keep_followed(first)
        assert await store.find_followed(ADA, GUIDE, first.name) == first
        later = replace(first, read_bytes=first.read_bytes + 1, left_seq=9)
        await store.keep_followed(later)
        assert await store.list_followed(ADA) == [later]

    async def test_positions_are_of_one_user_agent_and_conversation(self, store: Store) -> None:
        """The same name is another position for another agent or user, and a listing has those of the user alone."""
        record = await open_session(store)
        own = followed(record.id)
        clerks = replace(own, agent_id=CLERK, read_bytes=1)
        other = await open_session(store, session_record("ses_ben", user_id=BEN))
        bens = replace(own, user_id=BEN, session_id=other.id, read_bytes=2)
        for one in (own, clerks, bens):
            await store.keep_followed(one)
        assert await store.find_followed(ADA, CLERK, own.name) == clerks
        assert await store.list_followed(ADA) == [own, clerks]
        assert await store.list_followed(BEN) == [bens]
        assert await store.list_followed(None) == [own, clerks, bens]
        assert await store.find_followed(ADA, GUIDE, "unknown") is None
        assert await store.find_followed(UserId("usr_nobody"), AgentId("none"), own.name) is None

    async def test_a_position_needs_its_session(self, store: Store) -> None:
        """A position in a session that does not exist is refused, and nothing is stored."""
        with pytest.raises(NotFoundError):
            await store.keep_followed(followed(SessionId("ses_nobody")))
        assert await store.list_followed(None) == []

    async def test_an_erased_session_leaves_the_position_alone(self, store: Store) -> None:
        """After an erase of the session, and after a wipe, the name and the number of bytes are left, and nothing else."""
        first, second = await open_session(store), await open_session(store, session_record("ses_2", agent_id=CLERK))
        ones = [followed(first.id), replace(followed(second.id, "agent:two"), agent_id=CLERK)]
        for one in ones:
            await store.keep_followed(one)
        left = [replace(one, session_id=None, path="", file_id="", left_seq=0) for one in ones]
        change = MemoryChange(user_id=ADA, agent_id=GUIDE, expected=MemoryVersion(), has_erased=True)
        await store.erase_sessions([first.id], change)
        assert await store.list_followed(ADA) == [left[0], ones[1]]
        await store.wipe_user(ADA, expected=await store.read_memory_version(ADA), entry=audit())
        assert await store.list_followed(ADA) == left

    async def test_a_position_alone_comes_back_where_none_is(self, store: Store) -> None:
        """A position of an erased session comes with the memory of its user, and never in the place of another."""
        there = followed((await open_session(store)).id)
        await store.keep_followed(there)
        alone = replace(there, session_id=None, path="", file_id="", read_bytes=9, left_seq=0)
        other = replace(alone, name=name_transcript("agent:two"))
        memory = PortableMemory(user_id=ADA, followed=(alone, other))
        await store.import_memory(memory, expected=MemoryVersion(), entry=audit())
        assert await store.find_followed(ADA, GUIDE, there.name) == there
        assert await store.find_followed(ADA, GUIDE, other.name) == other

    async def test_a_position_comes_back_with_its_session(self, store: Store) -> None:
        """A session from a document brings the positions of the transcripts that are imported into it."""
        session = PortableSession(
            id=SessionId("ses_a"),
            agent_id=GUIDE,
            parent_id=None,
            branch_seq=0,
            started_by="open",
            created_at=minute(1),
            is_current=True,
            limit_tokens=8_000,
            system=None,
            tools=b"[]",
            extracted_seq=0,
            model_seq=0,
            tokens_count=0,
            calls_count=0,
            followed=(KEPT,),
        )
        sessions = plan_sessions([session], ADA, lambda _: Policy())
        await store.import_memory(
            PortableMemory(user_id=ADA), expected=MemoryVersion(), entry=audit(), sessions=sessions
        )
        found = await store.find_followed(ADA, GUIDE, KEPT.name)
        assert found == replace(
            followed(session.id, "agent:two"), path=KEPT.path, file_id="8:2", read_bytes=70, left_seq=0
        )
