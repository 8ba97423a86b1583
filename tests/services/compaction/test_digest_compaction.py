"""The digest of an event is written from exactly the messages that it folds."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from bench.material.demo import demo_log
from bench.material.logs import coding_log, endless_log
from bench.transcripts.reading import read_transcript
from tests.support.proofs import list_all_compactions
from tests.support.sizes import matrix, some

from everfold import Everfold, Session
from everfold.adapters.models.scripted import ScriptedModel, Step
from everfold.core.digests.requests import split_record, to_folded
from everfold.core.primitives.json_values import clean_text
from everfold.core.threats.redaction import redact_secrets
from everfold.ports.models import ModelRequest
from everfold.testing.kit.builders import assistant, user

Wires = Sequence[Mapping[str, object]]
Opening = Callable[..., AbstractAsyncContextManager[Everfold]]
OWN: dict[str, Wires] = {
    "coding": [entry.wire for entry in coding_log(11, turns_count=12)],
    "demo": demo_log().messages[: some(160, 120)],
    "endless": [entry.wire for entry in endless_log(11, messages_count=some(160, 100))],
}
REAL = ("locomo-dev.json", "tau-airline-dev.jsonl")
GAP = re.compile(r"\[\.\.\. ([\d,]+) characters of [a-z ]+ (\d+) left out \.\.\.\]")
RECORD = re.compile(r"<<<messages \w+: .*?>>>\n(.*)\n<<<end messages", re.DOTALL)


def log_of(name: str, request: pytest.FixtureRequest) -> Wires:
    """A generated log, or the beginning of real conversations."""
    if name in OWN:
        return OWN[name]
    path: Path = request.getfixturevalue("real_data") / name
    if not path.is_file():
        pytest.skip(f"{name} is not in the folder of real conversations")
    found = [message.wire for it in read_transcript(path).conversations[:8] for message in it.messages]
    return [wire for wire in found if wire["role"] != "system"][: some(420, 240)]


def read_entries(requests: Sequence[ModelRequest]) -> dict[int, list[str]]:
    """What the model read of each message, by number, as often as it read it."""
    found: dict[int, list[str]] = {}
    for request in requests:
        record = RECORD.search(request.prompt)
        assert record is not None
        for spoken in split_record(record[1]):
            found.setdefault(spoken.seq, []).append(spoken.text)
    return found


async def play(session: Session, wires: Wires) -> None:
    """A window after every third message."""
    for first in range(0, len(wires), 3):
        await session.append(list(wires[first : first + 3]))
        await session.window()


def is_whole(shown: str, text: str) -> bool:
    """Whether a text was read as it was said, but for secrets and the marks that it may not hold."""
    said = clean_text(redact_secrets(text)).replace("<<<", "<\u200b<<").replace(">>>", ">\u200b>>")
    return shown.split() == said.split()


@pytest.mark.parametrize(("name", "limit"), matrix([*OWN, *REAL], [8_000, 16_000]))
async def test_every_folded_message_is_read(
    name: str, limit: int, request: pytest.FixtureRequest, open_with_model: Opening
) -> None:
    """Each message that an event folds reaches the model once, whole or with the size of its gap named; no other does."""
    model = ScriptedModel((Step(digest="echo"),))
    async with open_with_model("memory://", model) as engine:
        session = await engine.session(limit=limit)
        await play(session, log_of(name, request))
        compactions = [
            compaction
            for compaction in await list_all_compactions(session)
            if compaction.digest == "done" and not compaction.revises
        ]
        folded = [seq for compaction in compactions for seq in compaction.plan.folded]
        assert len(folded) > 20
        entries = read_entries([asked for asked in model.requests if "could not be used" not in asked.instructions])
        assert set(folded) <= entries.keys()
        elided_count = 0
        for message in await session.messages(1, (await session.inspect.state()).last_seq):
            text = to_folded(message).text
            for shown in entries.get(message.seq, ()):
                gap = GAP.search(shown)
                if gap is None:
                    assert is_whole(shown, text), message.seq
                    continue
                elided_count += 1
                assert int(gap[2]) == message.seq
                left_count = len(GAP.sub("", shown))
                assert left_count + int(gap[1].replace(",", "")) >= len(text) * 0.98
        assert elided_count <= len(entries) / 3


async def test_too_small_for_a_model(open_with_model: Opening) -> None:
    """A range that leaves no room for a model's text is no failure: the event is done, says so, and no model is called."""
    model = ScriptedModel((Step(digest="echo"),))
    async with open_with_model("memory://", model) as engine:
        session = await engine.session(limit=8_000)
        await session.append([user("Hello, how are you?"), assistant("Fine. " * 20), user("Good."), assistant("Yes.")])
        await session.compact(keep_recent=1)
        (compaction,) = await list_all_compactions(session)
        assert (compaction.state, compaction.digest, model.requests) == ("done", "off", [])
        assert "no room" in compaction.problem or "no_room" in compaction.problem
        assert (await session.verify()).is_sound


async def test_what_was_refused_is_told(open_with_model: Opening) -> None:
    """A good digest after a refused reply ends the event as done, and its record names what was wrong before."""
    model = ScriptedModel((Step(fault="refusal"), Step(digest="echo")))
    async with open_with_model("memory://", model) as engine:
        session = await engine.session(limit=8_000)
        await play(session, OWN["coding"])
        first, *others = [
            compaction for compaction in await list_all_compactions(session) if compaction.digest == "done"
        ]
        assert (first.state, first.problem.startswith("refusal")) == ("done", True)
        assert {compaction.problem for compaction in others} == {""}
