"""Writes that clients repeat are carried out once."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

import everfold
from everfold import Everfold
from everfold.core.access.api_keys import ApiKeyId
from everfold.core.access.repeats import KEPT_SECS, RUNNING_SECS, KeptAnswer, KnownRequest, hash_request
from everfold.errors import ConflictError, InvalidInputError, OutcomeUnknownError
from everfold.testing.kit.builders import user
from everfold.testing.kit.fakes import FakeClock

DESK, PHONE = ApiKeyId("key_desk"), ApiKeyId("key_phone")
HASH = hash_request("POST", "/api/items", b"{}")
ANSWER = KeptAnswer(status=201, body=b'{"id": "itm_1"}', content_type="application/json", location="/api/items/itm_1")


async def begin(engine: Everfold, key: str = "r1", *, by: ApiKeyId = DESK, request_hash: str = HASH) -> KnownRequest:
    """Begin a write that is to be carried out."""
    begun = await engine.admin.requests.begin(by, key, request_hash)
    assert isinstance(begun, KnownRequest)
    return begun


def list_holding(folder: Path, words: bytes) -> list[str]:
    """The files of a folder that hold the words."""
    return [path.name for path in folder.iterdir() if words in path.read_bytes()]


async def test_a_repeat_is_answered_from_memory(engine: Everfold) -> None:
    """A write is begun once; every repeat gets its answer, and another client's write of that key is another one."""
    await engine.admin.requests.finish(await begin(engine), ANSWER)
    assert [await engine.admin.requests.begin(DESK, "r1", HASH) for _ in range(2)] == [ANSWER] * 2
    await begin(engine, by=PHONE)


async def test_of_many_at_once_one_is_carried_out(engine: Everfold) -> None:
    """Of one write that is sent many times at once, one is begun and the others are told to wait."""
    found = await asyncio.gather(
        *(engine.admin.requests.begin(DESK, "r1", HASH) for _ in range(9)), return_exceptions=True
    )
    assert sum(isinstance(it, KnownRequest) for it in found) == 1
    assert sum(isinstance(it, ConflictError) for it in found) == 8


async def test_a_key_names_one_request(engine: Everfold) -> None:
    """Another request under a key that is taken is refused, and the first one's answer stays."""
    await engine.admin.requests.finish(await begin(engine), ANSWER)
    with pytest.raises(InvalidInputError, match="another request"):
        await engine.admin.requests.begin(DESK, "r1", hash_request("POST", "/api/items", b"[]"))
    assert await engine.admin.requests.begin(DESK, "r1", HASH) == ANSWER


async def test_a_write_that_failed_is_carried_out_again(engine: Everfold) -> None:
    """A write that was given up is begun anew by its repeat."""
    await engine.admin.requests.give_up(await begin(engine))
    await engine.admin.requests.finish(await begin(engine), ANSWER)
    assert await engine.admin.requests.begin(DESK, "r1", HASH) == ANSWER


async def test_a_write_whose_process_died_is_not_carried_out_again(engine: Everfold, clock: FakeClock) -> None:
    """A write that never ended is told as of unknown outcome after its time; one that only took longer is answered."""
    slow = await begin(engine)
    clock.advance(timedelta(seconds=RUNNING_SECS))
    with pytest.raises(ConflictError):
        await begin(engine)
    clock.advance(timedelta(microseconds=1))
    with pytest.raises(OutcomeUnknownError):
        await begin(engine)
    await engine.admin.requests.finish(slow, ANSWER)
    assert await engine.admin.requests.begin(DESK, "r1", HASH) == ANSWER


async def test_an_answer_is_kept_for_a_day(engine: Everfold, clock: FakeClock) -> None:
    """A repeat within a day is answered, and one after it is a new write."""
    await engine.admin.requests.finish(await begin(engine), ANSWER)
    clock.advance(timedelta(seconds=KEPT_SECS))
    assert await engine.admin.requests.begin(DESK, "r1", HASH) == ANSWER
    clock.advance(timedelta(microseconds=1))
    await begin(engine)


async def test_erased_words_do_not_come_back_in_an_answer(engine: Everfold) -> None:
    """After an erase no repeat is given what an answer quoted, and it is still not carried out again."""
    session = await engine.session()
    await session.append(user("The gate code is 4711."))
    begun, running = await begin(engine), await begin(engine, "r2")
    await engine.admin.requests.finish(begun, KeptAnswer(status=200, body=b"The gate code is 4711."))
    await session.erase(1)
    await engine.admin.requests.finish(running, KeptAnswer(status=200, body=b"The gate code is 4711."))
    for key in ("r1", "r2"):
        assert await engine.admin.requests.begin(DESK, key, HASH) == KeptAnswer(status=200, body=None)


@pytest.mark.parametrize("kind", ["item", "session", "wipe"])
async def test_every_way_to_forget_takes_answers(engine: Everfold, kind: str) -> None:
    """Erasing an item, erasing a session and wiping a user each take what answers quoted."""
    session = await engine.session()
    memory = await engine.memory()
    item = await memory.add("The gate code is 4711.")
    await engine.admin.requests.finish(await begin(engine), ANSWER)
    match kind:
        case "item":
            await memory.forget(item.id)
        case "session":
            await engine.erase_session(session.id)
        case _:
            await engine.wipe("default")
    answer = await engine.admin.requests.begin(DESK, "r1", HASH)
    assert isinstance(answer, KeptAnswer)
    assert (answer.status, answer.body, answer.location) == (ANSWER.status, None, ANSWER.location)


async def test_erased_words_leave_the_files_with_the_answers(file_url: str, tmp_path: Path) -> None:
    """A long answer that quoted what was erased is in no file of the store after the erase."""
    words = b"The gate code is 4711. "
    async with everfold.open(file_url) as engine:
        session = await engine.session()
        await session.append(user("Nothing of note."))
        await engine.admin.requests.finish(await begin(engine), KeptAnswer(status=200, body=words * 2000))
        assert list_holding(tmp_path, words)
        await session.erase(1)
        assert list_holding(tmp_path, words) == []
