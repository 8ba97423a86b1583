"""A replay plays one request after the other."""

import anyio

import everfold
from everfold.adapters.transcripts import parse_transcript
from everfold.cli.replays.replaying import play

TALK = '{"role": "user", "content": "How much?"}\n{"role": "assistant", "content": "As you say."}\n'


async def test_a_replay_can_be_broken_off() -> None:
    """A replay in memory ends at the request after which it was given up, not at its last."""
    conversation = parse_transcript((TALK * 50).encode(), name="talk").conversations[0]
    played: list[int] = []
    async with everfold.open("memory://") as engine:
        with anyio.CancelScope() as scope:

            def advance(count: int, _: str) -> None:
                played.append(count)
                scope.cancel()

            await play(await engine.session(limit=8000), conversation, provider="openai", advance=advance)
    assert scope.cancelled_caught
    assert len(played) == 1
