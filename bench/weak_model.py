"""A real, weak model behind a real server: what becomes of its digests, and whether the replay stays whole.

`python -m bench.weak_model [conversations]`, in the project's environment; `make weak` does it with all it needs.
"""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import everfold
from bench.opening import temporary_folder
from bench.report import DATA, ROOT
from bench.transcripts.reading import read_transcript
from everfold.core.log.transcripts import TranscriptMessage
from everfold.engine import Everfold

SERVER = Path("bench") / ".venv-weak" / "bin" / "python"
LIMIT_TOKENS = 8_000
MESSAGES_COUNT = 200
"""So many of each conversation: some four digests; a digest takes this model a minute or two on two cores."""


@dataclass(slots=True)
class Tally:
    """What became of the events of one replay."""

    states: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    requests_count: int = 0
    over_budget_count: int = 0
    findings_count: int = 0


@contextmanager
def serving() -> Iterator[str]:
    """The address of the server, while it runs."""
    command = [str(ROOT / SERVER), str(ROOT / "bench" / "weak_server.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            if server.stdout is None or not (address := server.stdout.readline().strip()):
                raise SystemExit(f"the server did not start: {' '.join(command)}")
            yield address
        finally:
            server.kill()


async def play(address: str, messages: list[TranscriptMessage]) -> Tally:
    """Replay messages with the weak model writing the digests."""
    settings = {
        "model": {"name": "openai:smollm2", "base_url": f"{address}/v1"},
        "compaction": {"synchronous": True},
    }
    with temporary_folder() as folder:
        async with everfold.open(f"sqlite:///{folder}/log.db", settings=settings) as engine:
            return await _replay(engine, messages)


async def _replay(engine: Everfold, messages: list[TranscriptMessage]) -> Tally:
    tally = Tally()
    session = await engine.session(limit=LIMIT_TOKENS)
    replay = session.inspect.replay(messages)
    async for _ in replay.turns():
        print(".", end="", flush=True)
    report = await replay.report()
    tally.requests_count, tally.over_budget_count = report.requests_count, report.over_budget_count
    tally.findings_count = len(report.verification.problems)
    for event in await session.inspect.compactions(limit=1000):
        if event.plan.folded:
            tally.states[f"{event.state}, digest {event.digest}"] += 1
        tally.faults.update(part.partition(":")[0].strip() for part in event.problem.split(";") if part.strip())
    print()
    return tally


def main() -> None:
    """Play some conversations and print what became of their digests."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    places = [("locomo-dev.json", index) for index in range(count)] + [("coding-dev.json", 0)]
    with serving() as address:
        for name, index in places:
            conversation = read_transcript(DATA / name).conversations[index]
            tally = asyncio.run(play(address, list(conversation.messages[:MESSAGES_COUNT])))
            print(f"{name} {index}: {tally.requests_count} requests, {tally.over_budget_count} windows over budget, "
                  f"{tally.findings_count} problems of verify")  # fmt: skip
            for state, number in sorted(tally.states.items()):
                print(f"  {number:3} {state}")
            print(f"  faults: {dict(tally.faults.most_common())}")


if __name__ == "__main__":
    main()
