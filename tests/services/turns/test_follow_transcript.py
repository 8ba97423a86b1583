"""A transcript that grows is followed: what is new is stored once, whatever happens in between."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import everfold
from everfold import Everfold
from everfold.adapters.transcripts import parse_transcript
from everfold.adapters.transcripts.files import TranscriptFile
from everfold.core.log.following import name_transcript
from everfold.core.log.messages import Message
from everfold.core.log.transcripts import Growth
from everfold.core.primitives.json_values import JsonValue
from everfold.services.turns.follow_transcript import BATCH_COUNT, Taken
from everfold.session import Session

AGENT = "claude-code"
KEY = f"{AGENT}:talk"
SAID_AT = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)


def said(number: int, **fields: JsonValue) -> JsonValue:
    """What the user said in a turn."""
    return {
        "type": "user",
        "sessionId": "talk",
        "uuid": f"u{number}",
        "timestamp": (SAID_AT + timedelta(minutes=number)).isoformat(),
        "message": {"role": "user", "content": f"Prompt {number}."},
        **fields,
    }


def answered(number: int) -> JsonValue:
    """What the model said to it."""
    message: JsonValue = {"role": "assistant", "id": f"m{number}", "content": [{"type": "text", "text": "Yes."}]}
    return {"type": "assistant", "sessionId": "talk", "uuid": f"a{number}", "message": message}


def write(path: Path, *values: JsonValue) -> TranscriptFile:
    """Add lines to a transcript."""
    with path.open("a") as file:
        file.writelines(json.dumps(value) + "\n" for value in values)
    return TranscriptFile(file=path, client=AGENT, name="talk")


async def follow(engine: Everfold, transcript: TranscriptFile) -> Taken:
    """Take what is new."""
    return await engine.follow_transcript(transcript, client=AGENT, conversation="talk", agent=AGENT)


async def open_talk(engine: Everfold) -> Session:
    """The session that the transcript is in."""
    return await engine.session(agent=AGENT, session_key=KEY, create=False)


async def list_texts(engine: Everfold) -> list[str]:
    """What its messages say."""
    return [message.view.text for message in await (await open_talk(engine)).messages()]


async def forget_position(engine: Everfold) -> None:
    """Put the position back to the beginning, as a kill between the last append and the note of it would leave it."""
    (position,) = await engine._store.list_followed(None)
    await engine._store.keep_followed(replace(position, read_bytes=0))


async def test_only_what_is_new_is_stored(engine: Everfold, tmp_path: Path) -> None:
    """Each call stores what was added since the last one, in one session under the client's own id."""
    path = tmp_path / "talk.jsonl"
    first = await follow(engine, write(path, said(1), answered(1)))
    assert (first.stored_count, (await follow(engine, write(path))).stored_count) == (2, 0)
    later = await follow(engine, write(path, said(2), {"type": "hologram"}))
    assert (later.session_id, later.stored_count, later.skipped) == (first.session_id, 1, {"hologram": 1})
    assert await list_texts(engine) == ["Prompt 1.", "Yes.", "Prompt 2."]


async def test_a_replay_changes_nothing(engine: Everfold, tmp_path: Path) -> None:
    """A file that is read again from its beginning, or imported as a whole, adds only what it has beyond the log."""
    path = tmp_path / "talk.jsonl"
    count = 2 * BATCH_COUNT + 3
    transcript = write(path, *(said(number) for number in range(count)))
    await follow(engine, transcript)
    await forget_position(engine)
    assert (await follow(engine, transcript)).stored_count == 0
    write(path, said(count))
    whole = parse_transcript(path.read_bytes(), name="talk")
    steps = [step async for step in engine.import_transcript(whole, agent=AGENT)]
    assert {step.session for step in steps} == {(await open_talk(engine)).id}
    assert await list_texts(engine) == [f"Prompt {number}." for number in range(count + 1)]
    assert (await follow(engine, transcript)).stored_count == 0


async def test_an_import_again_adds_what_is_new(engine: Everfold, tmp_path: Path) -> None:
    """A second import of a coding agent's log goes to the session of the first, and following it goes on there."""
    path = tmp_path / "talk.jsonl"
    for number in (1, 2):
        transcript = write(path, said(number))
        whole = parse_transcript(path.read_bytes(), name="talk")
        steps = [step async for step in engine.import_transcript(whole, agent=AGENT)]
    assert len(await engine.list_sessions()) == 1
    assert steps[-1].stored_count == 2
    taken = await follow(engine, write(path, said(3)))
    assert (taken.session_id, taken.stored_count, transcript.path) == (steps[-1].session, 1, str(path))


def said_in_parts() -> list[JsonValue]:
    """A turn whose reply is two texts and two calls, each on a line of its own."""
    blocks: list[JsonValue] = [
        {"type": "text", "text": "Let me list."},
        {"type": "tool_use", "id": "c1", "name": "list", "input": {}},
        {"type": "text", "text": "And where am I?"},
        {"type": "tool_use", "id": "c2", "name": "locate", "input": {}},
    ]
    replies: list[JsonValue] = [
        {"type": "assistant", "uuid": f"b{number}", "message": {"role": "assistant", "id": "m1", "content": [block]}}
        for number, block in enumerate(blocks, 1)
    ]
    results: list[JsonValue] = [
        said(
            number, message={"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": call}]}
        )
        for number, call in ((2, "c1"), (3, "c2"))
    ]
    return [said(1), *replies, *results, answered(4)]


async def import_lines(engine: Everfold, *values: JsonValue) -> list[Message]:
    """The log of the session of a file of some lines, after its import."""
    talk: list[JsonValue] = [{**value, "sessionId": "talk"} for value in values if isinstance(value, dict)]
    whole = parse_transcript("".join(json.dumps(value) + "\n" for value in talk).encode(), name="talk")
    steps = [step async for step in engine.import_transcript(whole, agent=AGENT)]
    session = await engine.session(id=steps[-1].session)
    return await session.messages()


@pytest.mark.parametrize("is_followed", [False, True])
@pytest.mark.parametrize("count", range(1, 8))
async def test_a_reply_that_was_imported_in_part_is_stored_once(
    engine: Everfold, tmp_path: Path, *, count: int, is_followed: bool
) -> None:
    """Wherever the first copy of a log ends, a longer copy adds each text, call and result that the session lacks, once."""
    talk = said_in_parts()
    await import_lines(engine, *talk[:count])
    if is_followed:
        await follow(engine, write(tmp_path / "talk.jsonl", *talk))
    log = await import_lines(engine, *talk)
    assert log == await import_lines(engine, *talk)
    told = "\n".join(message.view.text for message in log)
    for once in ("Prompt 1.", "Let me list.", "list {}", "And where am I?", "locate {}", "Yes."):
        assert told.count(once) == 1
    assert [call.id for message in log for call in message.view.calls] == ["c1", "c2"]
    assert sum(message.kind in {"result", "late"} for message in log) == 2


async def test_a_repeated_line_is_stored_as_often_as_the_file_has_it(engine: Everfold) -> None:
    """A line that stands several times in a log is stored so often, in however many imports of however long copies."""
    talk = [said(1), answered(1), said(1), said(2), said(1)]
    texts = ["Prompt 1.", "Yes.", "Prompt 1.", "Prompt 2.", "Prompt 1."]
    for count in (3, 3, 5, 5):
        log = await import_lines(engine, *talk[:count])
        assert [message.view.text for message in log] == texts[:count]


async def test_a_repetition_of_an_older_import_comes_once_more(engine: Everfold) -> None:
    """A repetition that was stored without an id is not known again: the next import adds it, and later ones do not."""
    talk = [said(1), answered(1), said(1)]
    await import_lines(engine, *talk[:2])
    (record,) = await engine.list_sessions()
    await (await engine.session(id=record.id)).append({"role": "user", "content": "Prompt 1."})
    for _ in range(3):
        log = await import_lines(engine, *talk)
        assert [message.view.text for message in log] == ["Prompt 1.", "Yes.", "Prompt 1.", "Prompt 1."]


async def test_lines_of_one_message_that_come_apart_are_stored_once(engine: Everfold, tmp_path: Path) -> None:
    """Where a part of a message is stored and the position is not, the next reading adds the other part alone."""
    path = tmp_path / "talk.jsonl"
    message: JsonValue = {"role": "assistant", "id": "m1", "content": [{"type": "text", "text": "More."}]}
    await follow(engine, write(path, said(1), answered(1)))
    await forget_position(engine)
    await follow(engine, write(path, {"type": "assistant", "uuid": "a1b", "message": message}))
    await forget_position(engine)
    await follow(engine, write(path))
    assert await list_texts(engine) == ["Prompt 1.", "Yes.", "More."]


class Breaking(TranscriptFile):
    """A file that can be read once, and then no more."""

    def read(self, start_bytes: int) -> Growth:
        """The first piece, or an error."""
        if start_bytes:
            raise OSError("the disk is gone")
        return super().read(start_bytes)


class Unreadable(TranscriptFile):
    """A file that cannot be read now."""

    def read(self, start_bytes: int) -> Growth:
        """An error."""
        raise OSError(f"the disk is gone before byte {start_bytes}")


async def test_a_reading_that_breaks_off_goes_on_where_it_stopped(engine: Everfold, tmp_path: Path) -> None:
    """What was stored before a failure stays, and the next reading has the rest, nothing twice."""
    path = tmp_path / "talk.jsonl"
    transcript = write(path, said(1), said(2))
    with pytest.raises(OSError, match="gone"):
        await follow(engine, Breaking(file=path, client=AGENT, name="talk"))
    assert await list_texts(engine) == ["Prompt 1.", "Prompt 2."]
    write(path, said(3))
    await follow(engine, transcript)
    assert await list_texts(engine) == ["Prompt 1.", "Prompt 2.", "Prompt 3."]


async def test_what_the_log_refuses_is_counted(engine: Everfold, tmp_path: Path) -> None:
    """A result without its call is passed over, and what comes before and after it is stored."""
    orphan = said(2)
    assert isinstance(orphan, dict)
    orphan["message"] = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c9", "content": "x"}]}
    taken = await follow(engine, write(tmp_path / "talk.jsonl", said(1), orphan, said(3)))
    assert (taken.stored_count, taken.skipped) == (2, {"(refused)": 1})


async def test_another_file_at_the_path_is_read_from_its_beginning(engine: Everfold, tmp_path: Path) -> None:
    """A file that was written anew is told from the old one, and adds what the log does not have."""
    path = tmp_path / "talk.jsonl"
    await follow(engine, write(path, said(1), said(2), said(3)))
    path.rename(tmp_path / "old.jsonl")
    assert (await follow(engine, write(path, said(1), said(4)))).stored_count == 1
    assert (await list_texts(engine))[-1] == "Prompt 4."


def shorten(path: Path, *, by: int) -> None:
    """Take the last lines out of a file in place, as a client does that removes messages."""
    kept = path.read_bytes().splitlines(keepends=True)[:-by]
    with path.open("r+b") as file:
        file.truncate(sum(map(len, kept)))


@pytest.mark.parametrize("more", [1, 6])
async def test_a_file_that_was_shortened_in_place_is_read_anew(engine: Everfold, tmp_path: Path, more: int) -> None:
    """What a client writes after it took lines out of the same file is stored, whether it passes the old end or not."""
    path = tmp_path / "talk.jsonl"
    await follow(engine, write(path, said(1), said(2), said(3, isMeta=False, cwd="/work"), said(4)))
    shorten(path, by=2)
    taken = await follow(engine, write(path, *(said(number) for number in range(5, 5 + more))))
    assert (taken.stored_count, taken.skipped) == (more, {})
    assert await list_texts(engine) == [f"Prompt {number}." for number in range(1, 5 + more)]
    assert (await follow(engine, write(path))).stored_count == 0


@pytest.mark.parametrize("has_session", [True, False])
@pytest.mark.parametrize("by", [1, 2, 3])
async def test_a_file_whose_position_forgot_an_erase_brings_nothing_back(
    engine: Everfold, tmp_path: Path, *, has_session: bool, by: int
) -> None:
    """Where an older version noted the file of an erased conversation again, a shortened file brings only what is new."""
    path = tmp_path / "talk.jsonl"
    title: JsonValue = {"type": "ai-title", "aiTitle": "Prompt 1", "sessionId": "talk"}
    transcript = write(path, said(1), title, said(2))
    await engine.erase_session(str((await follow(engine, transcript)).session_id))
    if has_session:
        await follow(engine, write(path, said(3), said(4)))
    (position,) = await engine._store.list_followed(None)
    await engine._store.keep_followed(replace(position, file_id=transcript.file_id))
    shorten(path, by=by if has_session else 1)
    with suppress(OSError):
        await follow(engine, Unreadable(file=path, client=AGENT, name="talk"))
    assert (await follow(engine, write(path))).stored_count == 0
    assert (await follow(engine, write(path, said(5), said(6)))).stored_count == 2
    assert await list_texts(engine) == ["Prompt 3.", "Prompt 4."] * has_session + ["Prompt 5.", "Prompt 6."]
    assert (await open_talk(engine)).record.title == ""


async def test_what_takes_the_place_of_all_that_was_said_is_stored(engine: Everfold, tmp_path: Path) -> None:
    """A prompt that the client writes in place of the only one that the log has is new."""
    path = tmp_path / "talk.jsonl"
    await follow(engine, write(path, said(1)))
    shorten(path, by=1)
    assert (await follow(engine, write(path, said(12)))).stored_count == 1
    assert await list_texts(engine) == ["Prompt 1.", "Prompt 12."]


def answered_in_lines(number: int) -> list[JsonValue]:
    """A reply of two texts, a line each, some seconds after the prompt."""
    at = SAID_AT + timedelta(minutes=number)
    return [
        {
            "type": "assistant",
            "sessionId": "talk",
            "uuid": f"p{number}-{second}",
            "timestamp": (at + timedelta(seconds=second)).isoformat(),
            "message": {
                "role": "assistant",
                "id": f"m{number}",
                "content": [{"type": "text", "text": f"Part {second}."}],
            },
        }
        for second in (1, 2)
    ]


@pytest.mark.parametrize("by", [1, 2])
@pytest.mark.parametrize("erases", [True, False])
async def test_a_reply_that_was_cut_between_its_lines_is_not_stored_again(
    engine: Everfold, tmp_path: Path, *, erases: bool, by: int
) -> None:
    """What a client leaves of a reply that the log has, or had before it was erased, is passed over; the next reply is stored."""
    path = tmp_path / "talk.jsonl"
    await follow(engine, write(path, said(1), *answered_in_lines(1), *[said(2)] * (by - 1)))
    if erases:
        await (await open_talk(engine)).erase(2)
    before = await list_texts(engine)
    shorten(path, by=by)
    assert (await follow(engine, write(path))).stored_count == 0
    await follow(engine, write(path, *answered_in_lines(3), said(4)))
    assert await list_texts(engine) == [*before, "Part 1.\nPart 2.", "Prompt 4."]


@pytest.mark.parametrize("is_new", [False, True])
async def test_a_file_that_was_read_past_an_erase_is_never_read_anew(
    engine: Everfold, tmp_path: Path, *, is_new: bool
) -> None:
    """What was erased stays away when the file goes on, and is then shortened in place or written anew."""
    path = tmp_path / "talk.jsonl"
    await engine.erase_session(str((await follow(engine, write(path, said(1), said(2)))).session_id))
    await follow(engine, write(path, said(3), said(4)))
    if is_new:
        path.rename(tmp_path / "old.jsonl")
        path.write_bytes((tmp_path / "old.jsonl").read_bytes())
    else:
        shorten(path, by=1)
    assert (await follow(engine, write(path))).stored_count == 0
    assert (await follow(engine, write(path, said(5)))).stored_count == 1
    assert await list_texts(engine) == ["Prompt 3.", "Prompt 4.", "Prompt 5."]


async def test_a_compaction_says_what_left_the_clients_window(engine: Everfold, tmp_path: Path) -> None:
    """After the client's compaction everything before its summary has left, but for what the client kept."""
    path = tmp_path / "talk.jsonl"
    taken = await follow(engine, write(path, said(1), answered(1), said(2)))
    assert taken.left_seq == 0
    kept: JsonValue = {"preservedMessages": {"uuids": ["u2", "unknown"]}}
    boundary: JsonValue = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "compactMetadata": kept}
    taken = await follow(engine, write(path, boundary, said(3, isCompactSummary=True)))
    assert taken.left_seq == 2
    (summary,) = await (await open_talk(engine)).messages(4, 4)
    assert (summary.origin, summary.source) == ("assistant", "injection")
    assert (await follow(engine, write(path, said(4), said(5, isCompactSummary=True)))).left_seq == 5


async def test_a_compaction_is_noted_where_the_last_reading_was_cut_off(engine: Everfold, tmp_path: Path) -> None:
    """Where a summary was stored and what it replaced was not noted, as a kill in between leaves it, the next reading does."""
    transcript = write(tmp_path / "talk.jsonl", said(1), answered(1), said(2, isCompactSummary=True))
    await follow(engine, transcript)
    (position,) = await engine._store.list_followed(None)
    await engine._store.keep_followed(replace(position, read_bytes=0, left_seq=0))
    assert (await follow(engine, transcript)).left_seq == position.left_seq == 2


async def test_a_line_that_a_file_repeats_is_followed_once(engine: Everfold, tmp_path: Path) -> None:
    """A line that stands twice in what is read at once is stored, and counted, once."""
    taken = await follow(engine, write(tmp_path / "talk.jsonl", said(1), answered(1), said(1), said(2)))
    assert taken.stored_count == 3
    assert await list_texts(engine) == ["Prompt 1.", "Yes.", "Prompt 2."]


async def test_side_chains_are_sessions_of_their_own(engine: Everfold, tmp_path: Path) -> None:
    """The talk of a sub-agent goes into a session behind that of the conversation, once."""
    path = tmp_path / "talk.jsonl"
    transcript = write(path, said(1), said(2, isSidechain=True, agentId="7"), said(3))
    await follow(engine, transcript)
    await forget_position(engine)
    await follow(engine, transcript)
    side = await engine.session(agent=AGENT, session_key=f"{KEY}/sidechain-7", create=False)
    assert [message.view.text for message in await side.messages()] == ["Prompt 2."]
    assert await list_texts(engine) == ["Prompt 1.", "Prompt 3."]


@pytest.mark.parametrize("everything", [False, True])
async def test_what_was_erased_does_not_come_back(engine: Everfold, tmp_path: Path, *, everything: bool) -> None:
    """After an erase of the session, or a wipe of the user, only what is written to the file since is stored."""
    path = tmp_path / "talk.jsonl"
    taken = await follow(engine, write(path, said(1), said(2)))
    assert taken.session_id is not None
    if everything:
        await engine.wipe("default", transcripts=True)
    else:
        await engine.erase_session(taken.session_id)
    (position,) = await engine._store.list_followed(None)
    assert (position.name, position.path) == (name_transcript(KEY), "")
    assert (await follow(engine, write(path))).stored_count == 0
    await follow(engine, write(path, said(3)))
    assert await list_texts(engine) == ["Prompt 3."]


async def test_an_erased_message_does_not_come_back(engine: Everfold, tmp_path: Path) -> None:
    """A message that was erased stays so when the file is read again from its beginning."""
    transcript = write(tmp_path / "talk.jsonl", said(1), said(2))
    await follow(engine, transcript)
    await (await open_talk(engine)).erase(1)
    await forget_position(engine)
    await follow(engine, transcript)
    assert await list_texts(engine) == ["Prompt 2."]


async def test_positions_leave_and_come_back_with_the_user(engine: Everfold, tmp_path: Path) -> None:
    """An export with transcripts has the position, and following goes on from it after an import."""
    transcript = write(tmp_path / "talk.jsonl", said(1))
    await follow(engine, transcript)
    (before,) = await engine._store.list_followed(None)
    document = await engine.export_user(transcripts=True)
    await engine.wipe("default", transcripts=True)
    await engine.import_user(document, user="ada")
    ada = await engine.get_user("ada")
    (after,) = await engine._store.list_followed(ada.id)
    assert (after.name, after.path, after.read_bytes) == (before.name, before.path, before.read_bytes)
    assert after.session_id is not None


@pytest.mark.parametrize("grows", [False, True])
@pytest.mark.parametrize(("exports", "imports"), [(True, True), (True, False), (False, False)])
async def test_an_erased_conversation_stays_away_in_another_store(
    engine: Everfold, tmp_path: Path, *, exports: bool, imports: bool, grows: bool
) -> None:
    """What was erased with its session does not come back from the file where the user was imported; what is new does."""
    path = tmp_path / "talk.jsonl"
    session_id = (await follow(engine, write(path, said(1), answered(1)))).session_id
    await engine.erase_session(str(session_id))
    if grows:
        await follow(engine, write(path, said(2)))
    document = json.loads(json.dumps(await engine.export_user(transcripts=exports)))
    async with everfold.open("memory://") as other:
        await other.import_user(document, transcripts=imports)
        await follow(other, write(path, said(3)))
        assert await list_texts(other) == ["Prompt 2."] * (grows and imports) + ["Prompt 3."]


async def test_a_title_comes_with_the_file_and_not_after_an_erase(engine: Everfold, tmp_path: Path) -> None:
    """A title that the client writes later is kept; once a message was erased, no reading brings a title again."""
    path = tmp_path / "talk.jsonl"
    await follow(engine, write(path, said(1)))
    assert (await open_talk(engine)).record.title == ""
    await follow(engine, write(path, {"type": "ai-title", "aiTitle": "Prompts", "sessionId": "talk"}))
    session = await open_talk(engine)
    assert session.record.title == "Prompts"
    await session.erase(1)
    assert session.record.title == ""
    write(path, {"type": "custom-title", "customTitle": "Prompt 1", "sessionId": "talk"}, said(2))
    await follow(engine, TranscriptFile(file=path, client=AGENT, name="talk"))
    whole = parse_transcript(path.read_bytes(), name="talk")
    assert [step async for step in engine.import_transcript(whole, agent=AGENT)]
    assert (await open_talk(engine)).record.title == ""


def called(uuid: str, call_id: str) -> JsonValue:
    """A line of a reply: a call."""
    block: JsonValue = {"type": "tool_use", "id": call_id, "name": "list", "input": {}}
    return {"type": "assistant", "uuid": uuid, "message": {"role": "assistant", "id": "m9", "content": [block]}}


@pytest.mark.parametrize(
    ("lines", "skipped"),
    [
        ([called("b1", "c1"), called("b2", "c1")], "(refused)"),
        ([called("b1", "")], "(refused)"),
        ([{"type": "system", "uuid": "b1", "message": {"role": "system", "content": "Be short."}}], "(broken)"),
    ],
)
async def test_a_message_that_cannot_be_read_stops_nothing(
    engine: Everfold, tmp_path: Path, lines: list[JsonValue], skipped: str
) -> None:
    """A message that is none in the form of its file is counted and passed over; what is said around it is stored."""
    path = tmp_path / "talk.jsonl"
    reply: JsonValue = {
        "type": "message",
        "role": "assistant",
        "id": "m1",
        "content": [{"type": "text", "text": "Yes."}],
    }
    answer: JsonValue = {"type": "assistant", "sessionId": "talk", "uuid": "a1", "message": reply}
    taken = await follow(engine, write(path, said(1), answer, *lines, said(2)))
    assert (taken.stored_count, taken.skipped) == (3, {skipped: 1})
    await follow(engine, write(path, said(3)))
    assert await list_texts(engine) == ["Prompt 1.", "Yes.", "Prompt 2.", "Prompt 3."]
