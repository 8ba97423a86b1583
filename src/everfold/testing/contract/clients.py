"""What every store holds to about clients' lists. See `everfold.testing.contract`."""

# ruff: noqa: S101  # assertions and their figures are what a contract suite is made of

from dataclasses import replace

import pytest

from everfold.core.log.client_lists import NO_LIST, ClientList, ClientListChange, ClientMessage
from everfold.core.memory.records import MemoryChange, MemoryVersion
from everfold.core.primitives.ids import SessionId
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.testing.contract.erase import erase
from everfold.testing.kit.builders import (
    ADA,
    BEN,
    CLERK,
    GUIDE,
    append_wires,
    assistant,
    branch_session,
    open_session,
    session_record,
    user,
)

ROWS = (
    ClientMessage(content=b"c1", kind="said", seq=1, chain=b"h1"),
    ClientMessage(content=b"c2", kind="call", seq=2, is_reply=True, chain=b"h2"),
    ClientMessage(content=b"c3", kind="result", seq=3, chain=b"h3", attempt=b"again"),
    ClientMessage(content=b"c4", kind="said", seq=4, is_reply=True, is_optional=True, chain=b"h4"),
)


def write(*rows: ClientMessage, first: int = 1, expected: int = 0, tail: bytes | None = b"t") -> ClientListChange:
    """A change of a list."""
    return ClientListChange(first_place=first, messages=rows, expected_count=expected, tail=tail)


class ClientContract:
    """Clients' lists read back as they were written, are found by their hashes, and leave with what they are of."""

    async def test_a_list_reads_back_equal(self, store: Store) -> None:
        """Every field is what it was; a session without a client has an empty list, and one that is not there none."""
        record = await open_session(store)
        assert await store.read_client_list(record.id) == NO_LIST
        await store.write_client_list(record.id, write(*ROWS))
        assert await store.read_client_list(record.id) == ClientList(messages=ROWS, tail=b"t")
        with pytest.raises(NotFoundError):
            await store.read_client_list(SessionId("ses_none"))
        with pytest.raises(NotFoundError):
            await store.write_client_list(SessionId("ses_none"), write(*ROWS))

    async def test_a_change_replaces_what_stands_from_a_place_on(self, store: Store) -> None:
        """What is before the place stays; over a list of another length nothing is written."""
        record = await open_session(store)
        await store.write_client_list(record.id, write(*ROWS))
        new = replace(ROWS[3], content=b"new", chain=b"h9", is_optional=False)
        change = replace(write(new, first=3, expected=4, tail=None), expected_chain=b"h2")
        with pytest.raises(ConflictError):
            await store.write_client_list(record.id, replace(change, expected_chain=None))
        await store.write_client_list(record.id, change)
        assert await store.read_client_list(record.id) == ClientList(messages=(*ROWS[:2], new))
        with pytest.raises(ConflictError):
            await store.write_client_list(record.id, write(*ROWS, expected=4))
        assert len((await store.read_client_list(record.id)).messages) == 3  # noqa: PLR2004

    async def test_sessions_are_found_by_the_last_hash_that_any_has(self, store: Store) -> None:
        """The longest list that is known decides; of several sessions the newest comes first; no other owner's is found."""
        one = await open_session(store, session_record("ses_1"))
        two = await open_session(store, replace(session_record("ses_2"), session_key="two"))
        bens = await open_session(store, session_record("ses_3", user_id=BEN))
        for record in (one, two, bens):
            await store.write_client_list(record.id, write(*ROWS[:2]))
        await store.write_client_list(
            two.id, replace(write(ROWS[2], first=3, expected=2, tail=b"t2"), expected_chain=b"h2")
        )
        assert await store.find_by_chain(ADA, GUIDE, [b"h1", b"h2"]) == [two.id, one.id]
        assert await store.find_by_chain(ADA, GUIDE, [b"h1", b"h2", b"h3", b"none"]) == [two.id]
        assert await store.find_by_chain(ADA, CLERK, [b"h1"]) == []
        assert await store.find_by_chain(BEN, GUIDE, [b"h3", b"h1"]) == [bens.id]
        assert await store.find_by_chain(ADA, GUIDE, []) == []
        assert await store.find_by_tail(ADA, GUIDE, [b"t", b"none"]) == [one.id]
        assert await store.find_by_tail(ADA, GUIDE, [b"t2"]) == [two.id]

    async def test_an_erase_takes_every_hash_of_its_message(self, store: Store) -> None:
        """Its own, those of the chains from it on, and the tail that it is in, in each session that shares it."""
        record = await open_session(store)
        await append_wires(store, record.id, *[user("a"), assistant("A"), user("b"), assistant("B")])
        child = await branch_session(store, record, "ses_child", state=await store.read_state(record.id))
        rows = [replace(row, kind="said", is_optional=False) for row in ROWS]
        for one in (record, child):
            await store.write_client_list(one.id, write(*rows))
        await erase(store, child.id, 3)
        expected = (*rows[:2], replace(rows[2], content=None, chain=None), replace(rows[3], chain=None))
        for one in (record, child):
            assert await store.read_client_list(one.id) == ClientList(messages=expected)
        assert await store.find_by_chain(ADA, GUIDE, [b"h3", b"h4"]) == []
        assert await store.find_by_tail(ADA, GUIDE, [b"t"]) == []

    async def test_a_list_that_is_written_after_an_erase_holds_no_hash_of_it(self, store: Store) -> None:
        """What a list is written with of an erased message is left out, as if the erase came after it."""
        record = await open_session(store)
        await append_wires(store, record.id, *[user("a"), assistant("A"), user("b"), assistant("B")])
        child = await branch_session(store, record, "ses_child", state=await store.read_state(record.id))
        rows = [replace(row, kind="said", is_optional=False) for row in ROWS]
        await erase(store, record.id, 3)
        expected = (*rows[:2], replace(rows[2], content=None, chain=None), replace(rows[3], chain=None))
        for one in (record, child):
            await store.write_client_list(one.id, write(*rows[:2]))
            await store.write_client_list(
                one.id, replace(write(*rows[2:], first=3, expected=2), expected_chain=rows[1].chain)
            )
            assert await store.read_client_list(one.id) == ClientList(messages=expected)

    async def test_an_erase_before_the_tail_leaves_it(self, store: Store) -> None:
        """What was not made with the erased message stays, so that its client is still known."""
        record = await open_session(store)
        await append_wires(store, record.id, *[user("a"), assistant("A"), user("b"), assistant("B")])
        rows = [replace(row, kind="said", is_optional=False) for row in ROWS]
        await store.write_client_list(record.id, write(*rows))
        await erase(store, record.id, 1)
        assert (await store.read_client_list(record.id)).tail == b"t"

    async def test_lists_with_an_erased_message_are_found_by_their_session_key(self, store: Store) -> None:
        """The newest session comes first; no other owner's is found, and none whose key begins otherwise, or of which nothing was erased."""
        gone = (replace(ROWS[0], content=None, chain=None), *ROWS[1:])
        one = await open_session(store, replace(session_record("ses_1"), session_key="a_1"))
        two = await open_session(store, replace(session_record("ses_2"), session_key="a_2"))
        whole = await open_session(store, replace(session_record("ses_3"), session_key="a_3"))
        other = await open_session(store, replace(session_record("ses_4"), session_key="b_1"))
        bens = await open_session(store, replace(session_record("ses_5", user_id=BEN), session_key="a_1"))
        for record in (one, two, other, bens):
            await store.write_client_list(record.id, write(*gone))
        await store.write_client_list(whole.id, write(*ROWS))
        assert await store.find_with_erased(ADA, GUIDE, "a_") == [two.id, one.id]
        assert await store.find_with_erased(ADA, CLERK, "a_") == []
        assert await store.find_with_erased(ADA, GUIDE, "a%") == []

    async def test_a_list_leaves_with_its_session(self, store: Store) -> None:
        """An erased session and a wiped user have none, and nothing is found by its hashes."""
        record = await open_session(store)
        await store.write_client_list(record.id, write(*ROWS))
        bare = MemoryChange(user_id=ADA, agent_id=GUIDE, expected=MemoryVersion(), has_erased=True)
        await store.erase_sessions([record.id], replace(bare, expected=await store.read_memory_version(ADA)))
        assert await store.find_by_chain(ADA, GUIDE, [b"h1"]) == []
        assert await store.find_by_tail(ADA, GUIDE, [b"t"]) == []
