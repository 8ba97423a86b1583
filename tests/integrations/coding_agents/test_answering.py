"""Events of coding agents are answered over one store, here without a daemon."""

import json
from pathlib import Path

import everfold
from everfold import Everfold
from everfold.integrations.coding_agents.answering import Answering
from everfold.integrations.coding_agents.connection import Connection

TALK = "8ab0a1f2"


def say(path: Path, *texts: str) -> None:
    """Add what the user says to a transcript."""
    with path.open("a") as file:
        for text in texts:
            message = {"role": "user", "content": text}
            file.write(json.dumps({"type": "user", "sessionId": TALK, "uuid": text, "message": message}) + "\n")


async def list_texts(engine: Everfold) -> list[str]:
    """What is stored of it."""
    session = await engine.session(agent="claude-code", session_key=f"claude-code:{TALK}", create=False)
    return [message.view.text for message in await session.messages()]


async def test_a_file_that_was_shortened_meanwhile_is_caught_up(tmp_path: Path) -> None:
    """Where a client took lines out of its file and wrote others while no daemon ran, the next one stores these."""
    path = tmp_path / "talk.jsonl"
    say(path, "First.", "This is taken out again.")
    connection = Connection(
        client="claude-code",
        user="default",
        agent="claude-code",
        url="memory://",
        config=None,
        python="",
        socket="",
    )
    async with everfold.open(connection.url) as engine:
        answering = Answering(engine=engine)
        await answering.answer(
            connection, {"hook_event_name": "Stop", "session_id": TALK, "transcript_path": str(path)}
        )
        await answering.drain()
        with path.open("r+b") as file:
            file.truncate(len(file.readline()))
        say(path, "Second.")
        await answering.catch_up(connection)
        await answering.drain()
        assert (await list_texts(engine))[-1] == "Second."
