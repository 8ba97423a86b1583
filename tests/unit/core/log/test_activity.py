"""Real activity: a person's own message, and nothing that a program put there."""

from collections.abc import Sequence

import pytest

from everfold.adapters.sqlite.connection import IN_MEMORY
from everfold.adapters.sqlite.store import SqliteStore
from everfold.core.log.activity import has_real_activity
from everfold.core.log.appending import Incoming
from everfold.core.log.messages import Message
from everfold.testing.kit.builders import append_wires, assistant, incoming, open_session, user

pytestmark = pytest.mark.anyio
REAL = incoming(user("The berth is free on Friday."))
AUTONOMOUS = incoming(user("[AUTONOMOUS TICK] Look at the harbour."))
SCHEDULED = incoming(user("[SCHEDULED TICK] 06:00"))
TICK = incoming(user("06:00"), origin="system", source="tick")
INJECTION = incoming(user("Today's calendar: nothing."), origin="external", source="injection")
PROGRAM = incoming(user("A program says good morning."), source="injection")
ANSWER = incoming(assistant("It is noted."))


async def _store(*wires: Incoming) -> list[Message]:
    store = SqliteStore(IN_MEMORY)
    record = await open_session(store)
    if wires:
        await append_wires(store, record.id, *wires)
    return await store.read_messages(record.id, range(1, len(wires) + 1))


@pytest.mark.parametrize(
    ("wires", "is_real"),
    [
        ([REAL, ANSWER], True),
        ([AUTONOMOUS, ANSWER], False),
        ([SCHEDULED, TICK, ANSWER], False),
        ([SCHEDULED, INJECTION, REAL, ANSWER], True),
        ([INJECTION, PROGRAM], False),
        ([], False),
        ([ANSWER], False),
        ([AUTONOMOUS, SCHEDULED, TICK, INJECTION, PROGRAM], False),
    ],
    ids=[
        "real",
        "autonomous tick",
        "scheduled tick",
        "mixed",
        "pure injections",
        "empty",
        "assistant only",
        "ticks and injections",
    ],
)
async def test_only_a_persons_own_message_is_real_activity(wires: Sequence[Incoming], *, is_real: bool) -> None:
    """Activity is real exactly where one message was said by the user, whatever else is in the log."""
    assert has_real_activity(await _store(*wires)) is is_real


async def test_one_rule_tells_turns_and_activity() -> None:
    """A message starts a turn exactly where it is real activity."""
    for message in await _store(REAL, AUTONOMOUS, SCHEDULED, TICK, INJECTION, PROGRAM, ANSWER):
        assert (message.kind == "user") is has_real_activity([message])
