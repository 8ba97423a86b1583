"""What every store holds to about logs. See `everfold.testing.contract`."""

# ruff: noqa: S101, PLR2004  # assertions and their figures are what a contract suite is made of

import json
from contextlib import suppress
from dataclasses import replace

import anyio
import pytest

from everfold.core.log.appending import Incoming
from everfold.core.log.calibration import Calibration
from everfold.core.log.messages import Message
from everfold.core.log.state import OpenStep, SessionState
from everfold.core.primitives.ids import SessionId
from everfold.core.primitives.json_values import JsonObject, encode_json
from everfold.errors import ConflictError, NotFoundError
from everfold.ports.stores import Store
from everfold.testing.kit.builders import (
    append_wires,
    assistant,
    branch_session,
    calls,
    incoming,
    open_session,
    plan_wires,
    result,
    session_record,
    talk,
    user,
)

NOBODY = SessionId("ses_nobody")

ODD_WIRES: tuple[JsonObject, ...] = (
    {"role": "user", "content": "keys", "z": 1, "a": {"y": 2, "b": 3}},
    {"role": "user", "content": "numbers", "n": [1, 1.0, -0.0, 1e22, 10**22, 0.1, True, False, None]},
    {"role": "user", "content": "apart \ud83d\ude00 \ude00\ud83d together \U0001f600"},
    {"role": "user", "content": "line\u2028 ends \r\n\x00 and é e\u0301"},
    {"role": "user", "content": "", "name": "Zoë \ud800"},
    {"role": "user", "content": [{"type": "text", "text": "part"}, {"type": "strange", "x": [[]]}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
    {"role": "assistant", "content": None, "refusal": "I cannot."},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
    {"role": "user", "content": [{"type": "document", "title": "t", "source": {"type": "text", "data": "d"}}]},
    {"role": "system", "content": "in the middle"},
)


async def read_all(store: Store, session_id: SessionId) -> list[Message]:
    """Every message of a session."""
    state = await store.read_state(session_id)
    return await store.read_messages(session_id, range(1, state.last_seq + 1))


class LogContract:
    """Messages read back equal for ever, appends are whole or nothing, and a branch shares its parent's past."""

    async def test_messages_read_back_equal(self, store: Store) -> None:
        """Each message is given back as an equal value: wire form, view, derived fields and extract lines."""
        record = await open_session(store)
        plan = await append_wires(store, record.id, *talk(2), *ODD_WIRES)
        assert await read_all(store, record.id) == [one.message for one in plan.appended]

    async def test_a_known_state_is_given_back_until_it_is_old(self, store: Store) -> None:
        """Who names the state that it knows gets that one back while its revision is the stored one, else the stored."""
        record = await open_session(store, None, user("Hello."))
        known = replace(await store.read_state(record.id), stuck_count=9)
        assert await store.read_state(record.id, known=known) is known
        plan = await append_wires(store, record.id, user("And again."))
        assert await store.read_state(record.id, known=known) == plan.state

    @pytest.mark.parametrize("wire", ODD_WIRES, ids=lambda wire: repr(wire.get("content"))[:24])
    async def test_a_wire_form_reads_back_to_the_byte(self, store: Store, wire: JsonObject) -> None:
        """Key order, number form and every code point survive: encoded again, the bytes are the same."""
        record = await open_session(store, None, wire)
        (message,) = await store.read_messages(record.id, [1])
        assert encode_json(message.wire) == encode_json(wire)

    async def test_the_form_that_a_message_was_read_in_is_kept(self, store: Store) -> None:
        """A text that is the same in both wire forms keeps the one that its client named."""
        record = await open_session(store, None, incoming(user("Hello."), wire_format="anthropic"))
        (message,) = await store.read_messages(record.id, [1])
        assert message.view.format == "anthropic"

    async def test_origin_source_and_time_are_kept(self, store: Store) -> None:
        """What a message is besides its words reads back: origin, source, and its time to the microsecond."""
        record = await open_session(store)
        said_at = (await store.get_session(record.id)).created_at.replace(microsecond=123_457)
        tick = incoming(user("It is nine."), origin="system", source="tick", said_at=said_at)
        page = incoming(user("A page."), origin="external", source="refresh", said_at=said_at)
        await append_wires(store, record.id, tick, page)
        first, second = await read_all(store, record.id)
        assert (first.kind, first.origin, first.source, first.said_at) == ("notice", "system", "tick", said_at)
        assert (second.kind, second.origin, second.source) == ("notice", "external", "refresh")
        assert first.said_at.utcoffset() is not None

    async def test_changing_a_given_message_changes_nothing_stored(self, store: Store) -> None:
        """What a caller does to a wire form, before or after it was stored, stays the caller's own."""
        wire: JsonObject = {"role": "user", "content": [{"type": "text", "text": "once"}]}
        record = await open_session(store, None, wire)
        wire["content"] = "changed"
        (given,) = await store.read_messages(record.id, [1])
        given.wire.clear()
        (message,) = await store.read_messages(record.id, [1])
        assert message.wire == {"role": "user", "content": [{"type": "text", "text": "once"}]}

    async def test_notes_say_what_their_messages_say(self, store: Store) -> None:
        """A note holds the derived fields of its message, its extract lines and the names of the tools it calls."""
        named: JsonObject = {"role": "user", "name": "Zoë \ud800", "content": "[[keep]] Never sail at night."}
        record = await open_session(store, None, named, calls("c1", "c2", name="tide_\udc00"))
        await append_wires(store, record.id, result("c1", "high"), result("c2", "low"), *talk(2))
        messages = await read_all(store, record.id)
        notes = await store.read_notes(record.id, range(1, len(messages) + 1))
        shared = "seq kind origin said_at tokens raw_tokens is_boundary keep content_hash lines".split()
        for message, note in zip(messages, notes, strict=True):
            assert {name: getattr(note, name) for name in shared} == {name: getattr(message, name) for name in shared}
            assert note.name == message.view.name
            assert note.sum_tokens == sum(one.tokens for one in messages[: message.seq])
            assert note.calls == tuple(call.name for call in message.view.calls)
        assert [(note.turn_seq, note.turns_count) for note in notes[:6]] == [(1, 1)] * 4 + [(5, 2)] * 2
        assert notes[0].keep
        assert notes[1].calls == ("tide_\udc00", "tide_\udc00")

    async def test_reads_give_what_was_asked_in_its_order(self, store: Store) -> None:
        """Only the named messages come, in rising order; unknown numbers are left out, none asked gives none."""
        record = await open_session(store, None, *talk(4))
        for read in (store.read_messages, store.read_notes):
            assert [one.seq for one in await read(record.id, [0, 2, 3, 7, 8, 9, 99])] == [2, 3, 7, 8]
            assert list(await read(record.id, [])) == []

    async def test_many_messages_are_read_at_once(self, store: Store) -> None:
        """A read may name more messages than a database takes parameters."""
        record = await open_session(store, None, *(user(f"note {number}") for number in range(1100)))
        notes = await store.read_notes(record.id, range(1, 1101))
        assert [note.seq for note in notes] == list(range(1, 1101))
        odd = await store.read_messages(record.id, range(1, 1101, 2))
        assert [message.wire["content"] for message in odd] == [f"note {number}" for number in range(0, 1100, 2)]

    async def test_sessions_hold_their_own_messages(self, store: Store) -> None:
        """Two logs with the same sequence numbers share nothing."""
        one = await open_session(store, session_record("ses_1"), user("one"))
        two = await open_session(store, session_record("ses_2", is_current=False), user("two"))
        assert [message.wire["content"] for message in await read_all(store, one.id)] == ["one"]
        assert [message.wire["content"] for message in await read_all(store, two.id)] == ["two"]

    async def test_an_append_writes_the_state_that_it_planned(self, store: Store) -> None:
        """After an append the state is the plan's, an open step with its calls included."""
        record = await open_session(store, None, *talk(1))
        plan = await append_wires(store, record.id, calls("c1", "c2"), result("c2", "done"))
        state = await store.read_state(record.id)
        assert state == plan.state
        assert state.open_step == OpenStep(first_seq=3, pending=("c1",), answered=("c2",))

    async def test_every_field_of_a_state_reads_back(self, store: Store) -> None:
        """A written state is given back equal, texts that hold surrogates beside each other included."""
        record = await open_session(store)
        state = SessionState(
            revision=1,
            head_seq=1,
            open_step=OpenStep(first_seq=4, pending=("c\ud83d\ude00", "c"), answered=("b",)),
            closed_calls=("a\udc00",),
            said_before=("apart \ud83d\ude00", "line\u2028\x00"),
            stuck_count=2,
            calibration=Calibration(factor=1.1, samples_count=3),
            epoch=4,
        )
        await store.write_state(record.id, state, expected_revision=0)
        assert await store.read_state(record.id) == state

    async def test_of_two_appends_from_one_state_one_wins(self, store: Store) -> None:
        """The second append that was planned from the same revision is refused and leaves the log as it was."""
        record = await open_session(store, None, *talk(1))
        first, state = await plan_wires(store, record.id, [user("first")])
        second, _ = await plan_wires(store, record.id, [user("second"), user("third")])
        await store.append(record.id, first, expected_revision=state.revision)
        with pytest.raises(ConflictError):
            await store.append(record.id, second, expected_revision=state.revision)
        assert await store.read_state(record.id) == first.state
        assert [message.wire["content"] for message in (await read_all(store, record.id))[2:]] == ["first"]

    async def test_of_many_appends_at_once_one_wins(self, store: Store) -> None:
        """However many appends from one revision are under way together, exactly one is stored, whole."""
        record = await open_session(store, None, *talk(1))
        plans = [(await plan_wires(store, record.id, [user(f"a{at}"), user(f"b{at}")]))[0] for at in range(6)]
        revision = plans[0].state.revision - 1
        won: list[int] = []

        async def append(at: int) -> None:
            with suppress(ConflictError):
                await store.append(record.id, plans[at], expected_revision=revision)
                won.append(at)

        async with anyio.create_task_group() as group:
            for at in range(len(plans)):
                group.start_soon(append, at)
        (winner,) = won
        stored = [message.wire["content"] for message in (await read_all(store, record.id))[2:]]
        assert stored == [f"a{winner}", f"b{winner}"]

    async def test_a_state_is_written_only_over_the_expected_one(self, store: Store) -> None:
        """Writing a state from an old revision, or one that never was, is refused and changes nothing."""
        record = await open_session(store, None, *talk(1))
        state = await store.read_state(record.id)
        newer = replace(state, revision=state.revision + 1, stuck_count=1)
        await store.write_state(record.id, newer, expected_revision=state.revision)
        for expected in (state.revision, newer.revision + 1):
            with pytest.raises(ConflictError):
                await store.write_state(
                    record.id, replace(state, revision=expected + 1, stuck_count=9), expected_revision=expected
                )
        assert await store.read_state(record.id) == newer

    async def test_client_ids_are_found_with_their_hashes(self, store: Store) -> None:
        """A client id leads to its message's number and hash, in this session only; unknown ones are left out."""
        record = await open_session(store)
        odd = "é\x00\ud83d\ude00"
        plan = await append_wires(
            store, record.id, incoming(user("a"), client_id="id-a"), user("b"), incoming(user("c"), client_id=odd)
        )
        hashes = [one.message.content_hash for one in plan.appended]
        found = await store.find_client_ids(record.id, ["id-a", "id-b", odd])
        assert found == {"id-a": (1, hashes[0]), odd: (3, hashes[2])}
        assert await store.find_client_ids(record.id, []) == {}
        other = await open_session(store, session_record("ses_2", is_current=False))
        assert await store.find_client_ids(other.id, ["id-a"]) == {}

    @pytest.mark.parametrize("at", [0, 1, 2])
    async def test_a_known_client_id_refuses_the_whole_batch(self, store: Store, at: int) -> None:
        """A batch with a client id that exists, wherever it stands in it, writes nothing at all."""
        record = await open_session(store, None, incoming(user("a"), client_id="id-a"))
        before = await store.read_state(record.id)
        batch: list[JsonObject | Incoming] = [user("x"), user("y"), user("z")]
        batch[at] = incoming(user("again"), client_id="id-a")
        with pytest.raises(ConflictError):
            await append_wires(store, record.id, *batch)
        assert await store.read_state(record.id) == before
        assert [message.seq for message in await store.read_messages(record.id, [1, 2, 3, 4])] == [1]

    async def test_a_client_id_stands_once_in_a_batch(self, store: Store) -> None:
        """A batch that names one client id twice is refused whole."""
        record = await open_session(store)
        twice = [incoming(user(text), client_id="id-a") for text in ("a", "b")]
        with pytest.raises(ConflictError):
            await append_wires(store, record.id, *twice)
        assert (await store.read_state(record.id)).last_seq == 0
        assert await store.find_client_ids(record.id, ["id-a"]) == {}

    async def test_sessions_may_use_the_same_client_ids(self, store: Store) -> None:
        """A client id is taken within its session only."""
        for id_ in ("ses_1", "ses_2"):
            record = session_record(id_, is_current=False)
            await open_session(store, record, incoming(user("a"), client_id="id-a"))
            assert list(await store.find_client_ids(record.id, ["id-a"])) == ["id-a"]

    async def test_a_refused_batch_settles_nothing(self, store: Store) -> None:
        """When a batch that closes a step is refused, the step's messages stay as they were."""
        record = await open_session(store, None, incoming(user("a"), client_id="id-a"), calls("c1"))
        before = await read_all(store, record.id)
        with pytest.raises(ConflictError):
            await append_wires(store, record.id, incoming(user("again"), client_id="id-a"))
        assert await read_all(store, record.id) == before

    async def test_closing_a_step_settles_its_stored_messages(self, store: Store) -> None:
        """The plan's settled messages replace the stored ones in what is derived, and in nothing else."""
        record = await open_session(store, None, user("Look it up."), calls("c1", "c2", "c3"))
        await append_wires(store, record.id, result("c1", "tide " * 900), result("c2", "wind " * 2000))
        before = await read_all(store, record.id)
        plan = await append_wires(store, record.id, user("Never mind."))
        after = {message.seq: message for message in await read_all(store, record.id)}
        settled = [message for message, _ in plan.settled]
        notes = await store.read_notes(record.id, [message.seq for message in settled])
        assert [note.sum_tokens for note in notes] == [sum_tokens for _, sum_tokens in plan.settled]
        assert [message.seq for message in settled] == [2, 3, 4]
        assert [after[message.seq] for message in settled] == settled
        assert any(after[one.seq].cuts != one.cuts for one in before), "the step was too small to be cut"
        for one in before:
            derived = after[one.seq]
            kept = replace(derived, tokens=one.tokens, cuts=one.cuts, is_boundary=one.is_boundary)
            assert kept == one

    async def test_the_log_may_be_cut_behind_boundaries_only(self, store: Store) -> None:
        """The next boundary is the message itself or the end of the step that it lies in; past the last there is none."""
        record = await open_session(store, None, user("a"), calls("c1", "c2"), result("c1", "x"), result("c2", "y"))
        await append_wires(store, record.id, assistant("b"), calls("c3"))
        found = [await store.find_boundary(record.id, seq) for seq in range(1, 8)]
        assert found == [1, 4, 4, 4, 5, None, None]

    async def test_a_branch_shares_its_parents_past(self, store: Store) -> None:
        """A branch of a branch reads each message from the log that it was appended to, and no later ones of it."""
        parent = await open_session(store, None, user("p1"), user("p2"))
        at_two = await store.read_state(parent.id)
        child = await branch_session(store, parent, "ses_child", state=at_two)
        await append_wires(store, parent.id, user("p3"), user("p4"), user("p5"))
        await append_wires(store, child.id, user("c3"), user("c4"))
        at_four = await store.read_state(child.id)
        grandchild = await branch_session(store, child, "ses_grandchild", state=at_four)
        await append_wires(store, child.id, user("c5"))
        await append_wires(store, grandchild.id, user("g5"), user("g6"))

        async def read_texts(session_id: SessionId) -> list[object]:
            messages = await store.read_messages(session_id, range(1, 9))
            assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
            notes = await store.read_notes(session_id, range(1, 9))
            assert [note.content_hash for note in notes] == [message.content_hash for message in messages]
            return [message.wire["content"] for message in messages]

        assert await read_texts(parent.id) == ["p1", "p2", "p3", "p4", "p5"]
        assert await read_texts(child.id) == ["p1", "p2", "c3", "c4", "c5"]
        assert await read_texts(grandchild.id) == ["p1", "p2", "c3", "c4", "g5", "g6"]
        some = await store.read_messages(grandchild.id, [2, 4, 6])
        assert [message.wire["content"] for message in some] == ["p2", "c4", "g6"]

    async def test_a_branch_before_its_parents_branch_shares_the_first_log_only(self, store: Store) -> None:
        """A branch of a branch that goes off in the shared past holds nothing of the log between."""
        parent = await open_session(store, None, user("p1"))
        at_one = await store.read_state(parent.id)
        await append_wires(store, parent.id, user("p2"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, child.id, user("c3"))
        early = await branch_session(store, child, "ses_early", state=at_one)
        await append_wires(store, early.id, user("e2"))
        assert [message.wire["content"] for message in await read_all(store, early.id)] == ["p1", "e2"]

    async def test_a_branch_of_nothing_has_a_log_of_its_own(self, store: Store) -> None:
        """A new session that follows another shares none of its messages."""
        first = await open_session(store, None, user("first"))
        second = await open_session(store, session_record("ses_2", parent=first))
        assert await store.read_messages(second.id, [1]) == []
        await append_wires(store, second.id, user("second"))
        assert [message.wire["content"] for message in await read_all(store, second.id)] == ["second"]
        assert [message.wire["content"] for message in await read_all(store, first.id)] == ["first"]

    async def test_boundaries_are_found_along_the_lineage(self, store: Store) -> None:
        """A branch finds its parent's boundaries up to where it branched, and then its own."""
        parent = await open_session(store, None, user("p1"), calls("c1"), result("c1", "x"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, parent.id, user("p4"))
        await append_wires(store, child.id, calls("c2"), result("c2", "y"))
        assert [await store.find_boundary(child.id, seq) for seq in range(1, 7)] == [1, 3, 3, 5, 5, None]

    async def test_client_ids_are_known_along_the_lineage(self, store: Store) -> None:
        """A branch knows the client ids of the messages that it shares, and not those that its parent appended later."""
        parent = await open_session(store, None, incoming(user("p1"), client_id="id-1"))
        child = await branch_session(store, parent, "ses_child", state=await store.read_state(parent.id))
        await append_wires(store, parent.id, incoming(user("p2"), client_id="id-2"))
        assert set(await store.find_client_ids(child.id, ["id-1", "id-2"])) == {"id-1"}
        with pytest.raises(ConflictError):
            await append_wires(store, child.id, incoming(user("p1"), client_id="id-1"))
        await append_wires(store, child.id, incoming(user("c2"), client_id="id-2"))
        assert (await store.find_client_ids(child.id, ["id-2"]))["id-2"][0] == 2

    async def test_a_large_message_is_stored_whole(self, store: Store) -> None:
        """A message of a megabyte reads back equal, its visible form far smaller."""
        text = json.dumps([f"row {number}: é" for number in range(60_000)], ensure_ascii=False)
        record = await open_session(store, None, user(text))
        (message,) = await store.read_messages(record.id, [1])
        assert message.wire["content"] == text
        assert message.tokens < message.raw_tokens / 100
        assert message.cuts

    async def test_an_unknown_session_has_no_log(self, store: Store) -> None:
        """Each method of a log refuses a session that was never created."""
        record = await open_session(store)
        plan, _ = await plan_wires(store, record.id, [user("a")])
        for asking in (
            store.append(NOBODY, plan, expected_revision=0),
            store.read_state(NOBODY),
            store.write_state(NOBODY, SessionState(revision=1), expected_revision=0),
            store.read_messages(NOBODY, [1]),
            store.read_notes(NOBODY, [1]),
            store.find_client_ids(NOBODY, ["a"]),
            store.find_boundary(NOBODY, 1),
        ):
            with pytest.raises(NotFoundError):
                await asking
