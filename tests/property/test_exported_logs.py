"""Logs in a user's export, with messages that were retracted or erased and steps that ended early: they come back as they were."""

import contextlib
import json
from random import Random

import pytest
from tests.support.sizes import examples

import everfold
from everfold import Everfold, Session
from everfold.core.primitives.json_values import JsonObject
from everfold.errors import EverfoldError, InvalidInputError
from everfold.testing.kit.builders import assistant, calls, result, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

IDS = ("a", "b", "c")
APPENDS = ("user", "reply", "calls", "calls", "result", "result", "results")
DOINGS = (*APPENDS, "retract", "retract", "branch", "rewind", "erase")

pytestmark = [pytest.mark.anyio, pytest.mark.moves_prefix]


class Doings:
    """What a user's sessions do, drawn at random. What does not fit a log is refused, and changes nothing."""

    def __init__(self, first: Session, draw: Random) -> None:
        self.sessions = [first]
        self.draw = draw
        self.count = 0

    async def do(self, name: str) -> None:
        """Do one thing in one of the sessions."""
        session = self.draw.choice(self.sessions)
        last_seq = (await session.inspect.state()).last_seq
        self.count += 1
        with contextlib.suppress(EverfoldError):
            match name:
                case "retract":
                    await session.retract(self.draw.randint(1, 3))
                case "branch":
                    self.sessions.append(await session.branch(self.draw.randint(1, last_seq + 1)))
                case "rewind":
                    self.sessions.append(await session.rewind(self.draw.randint(1, last_seq + 1)))
                case "erase":
                    await session.erase(self.draw.randint(1, last_seq + 1))
                case _:
                    await session.append(self.write(name))

    def write(self, name: str) -> JsonObject | list[JsonObject]:
        """A message, or a batch of two results."""
        ids = self.draw.sample(IDS, self.draw.randint(1, len(IDS)))
        match name:
            case "calls":
                return calls(*ids)
            case "result":
                return result(ids[0], f"Result {self.count}.")
            case "results":
                return {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": id_, "content": f"{self.count}"} for id_ in ids],
                }
            case "reply":
                return assistant(f"Answer {self.count}.")
            case _:
                return user(f"Question {self.count}.")


async def read_place(session: Session) -> tuple[object, ...]:
    """Where a session's log is: what it waits for, which results can still come late, and its next request."""
    state = await session.inspect.state()
    shown = (await session.window()).render("openai")
    return (state.open_step, state.closed_calls, state.safe_seq, state.turn_seq, state.turns_count, shown)


async def append_results(session: Session) -> list[str]:
    """What a result of each call is taken for."""
    found: list[str] = []
    for id_ in IDS:
        try:
            (seq,) = await session.append(result(id_, "Late."))
            found += [message.kind for message in await session.messages(seq, seq)]
        except InvalidInputError:
            found.append("refused")
    return found


async def check_export(there: Everfold, sessions: list[Session], name: str, other: Everfold) -> None:
    """Import a user's export into another store, and compare the sessions."""
    document = json.loads(json.dumps(await there.export_user(name, transcripts=True)))
    user_id = document["user_id"]
    await other.import_user(document, user=user_id)
    again = json.loads(json.dumps(await other.export_user(user_id, transcripts=True)))
    assert again["transcripts"] == document["transcripts"]
    for session in sessions:
        then, now = await there.session(id=session.id), await other.session(id=session.id)
        assert (await now.verify()).is_sound
        assert await read_place(now) == await read_place(then)
        assert await append_results(now) == await append_results(then)


async def test_any_log_comes_back_as_it_was() -> None:
    """Whatever is appended, retracted, branched off and erased: an imported export has the same logs, and they go on alike."""
    async with (
        everfold.open("memory://", clock=FakeClock(), ids=CountingIds()) as engine,
        everfold.open("memory://", clock=FakeClock()) as other,
    ):
        for number in range(examples(120)):
            name, draw = f"user {number}", Random(number)
            doings = Doings(await engine.session(user=name, limit=8_000), draw)
            for _ in range(draw.randint(4, 16)):
                await doings.do(draw.choice(DOINGS))
            await check_export(engine, doings.sessions, name, other)
