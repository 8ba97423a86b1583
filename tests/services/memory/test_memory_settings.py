"""Every setting of memory, dreams and vectors changes what the engine does."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

import everfold
from everfold import Everfold, Session
from everfold.core.windows.entries import TextEntry
from everfold.errors import InvalidInputError
from everfold.testing.kit.builders import assistant, calls, result, user
from everfold.testing.kit.fakes import CountingIds, FakeClock

pytestmark = pytest.mark.anyio
FACTS = ("The ferry to Trieste leaves from pier seven.", "The ferry to Pula leaves from pier nine.", "I live in Graz.")
OTHERS = ("The kiln is at nine hundred degrees.", "Otto is a hamster.", "Tea is fine.")
ANSWERS = (
    "It leaves from pier seven, not from pier eight.",
    "The Pula ferry: pier nine.",
    "Graz is nice in May.",
    "Nine hundred?",
    "A hamster?",
    "Ferryboats, pierside cafes.",
)
BASE: Mapping[str, Mapping[str, object]] = {
    "memory": {"system": "structured"},
    "compaction": {"synchronous": True},
    "sessions": {"gap_secs": 0},
}
Changes = Mapping[str, Mapping[str, object] | Sequence[Mapping[str, object]]]


def join(changes: Changes) -> dict[str, Mapping[str, object] | Sequence[Mapping[str, object]]]:
    """The base with changes; a list stands as it is given."""
    joined = dict[str, Mapping[str, object] | Sequence[Mapping[str, object]]](BASE)
    for name, section in changes.items():
        joined[name] = {**BASE.get(name, {}), **section} if isinstance(section, Mapping) else section
    return joined


async def say(session: Session, *texts: str) -> None:
    """Turns of the user, each answered."""
    for text in texts:
        await session.append([user(text), assistant("I see.")])


async def recalled(engine: Everfold) -> int:
    """How many lines the report gives for what was recalled of an earlier session."""
    first = await engine.session(user="ann")
    for fact, answer in zip((*FACTS, *OTHERS), ANSWERS, strict=True):
        await first.append([user(fact), assistant(answer)])
    second = await first.new()
    await second.append(user("Which pier does the ferry to Trieste leave from?"))
    window = await second.window()
    text = "".join(it.text for it in window.entries if isinstance(it, TextEntry) and it.slice == "suffix")
    lines = [line for line in window.report.memory if line.startswith("recall: ")]
    assert bool(lines) == ("pier seven" in text)
    return len(lines)


@pytest.mark.parametrize(
    ("plain", "changed"),
    [
        ({}, {"recall": {"enabled": False}}),
        ({}, {"recall": {"entries": 1}}),
        ({}, {"embed": {"model": "hash:384"}}),
        ({"embed": {"model": "hash:384"}}, {"agents": {"default": {"recall_enabled": False}}}),
    ],
    ids=["recall.enabled", "recall.entries", "embed.model", "agents.recall_enabled"],
)
async def test_recall_follows_its_settings(url: str, plain: Changes, changed: Changes) -> None:
    """Whether, how much and by what is recalled changes with each of its keys."""
    counts: list[int] = []
    for store, settings in ((url, plain), ("memory://", changed)):
        async with everfold.open(store, settings=join(settings), clock=FakeClock(), ids=CountingIds()) as engine:
            counts.append(await recalled(engine))
    assert counts[0] != counts[1]


@pytest.mark.parametrize("changes", [{"memory": {"review": True}}, {"agents": {"default": {"memory_review": True}}}])
async def test_review_holds_a_dream(changes: Changes) -> None:
    """With review a dream changes no topic until it is approved."""
    async with everfold.open("memory://", settings=join(changes), clock=FakeClock(), ids=CountingIds()) as engine:
        await say(await engine.session(user="ann"), *FACTS)
        memory = await engine.memory(user="ann", agent="default")
        dream = await memory.dream()
        assert dream is not None
        assert (dream.state, await memory.topics()) == ("proposed", [])
        await memory.approve(dream.id)
        assert await memory.topics() != []


async def test_dreams_wait_for_the_gap() -> None:
    """A shorter gap is met by a shorter absence, at the next look."""
    for gap_secs, is_dreamed in ((300.0, False), (60.0, True), (0.0, False)):
        clock = FakeClock()
        settings = join({"sessions": {"gap_secs": gap_secs, "poll_secs": 0.01}, "compaction": {"synchronous": False}})
        async with everfold.open("memory://", settings=settings, clock=clock, ids=CountingIds()) as engine:
            await say(await engine.session(user="ann"), *FACTS)
            clock.advance(timedelta(seconds=200))
            memory = await engine.memory(user="ann")
            with anyio.move_on_after(60 if is_dreamed else 0.2):
                while not await memory.topics():  # noqa: ASYNC110 - the loop that dreams tells no test
                    await anyio.sleep(0.01)
            assert bool(await memory.topics()) == is_dreamed


async def test_dreams_wait_for_the_next_look() -> None:
    """Before a look that comes late, no user is found to dream for."""
    clock = FakeClock()
    settings = join({"sessions": {"gap_secs": 60.0, "poll_secs": 60.0}, "compaction": {"synchronous": False}})
    async with everfold.open("memory://", settings=settings, clock=clock, ids=CountingIds()) as engine:
        await anyio.sleep(0.05)  # the first look
        await say(await engine.session(user="ann"), *FACTS)
        clock.advance(timedelta(seconds=200))
        await anyio.sleep(0.2)
        assert await (await engine.memory(user="ann")).topics() == []


async def count_extractions(folder: Path, memory: Mapping[str, object]) -> int:
    """How often a model was asked what to remember of a few turns and tool calls."""
    script = folder / "model.jsonl"
    script.write_text('{"text": "{}"}\n', "utf-8")
    settings = join({"memory": memory, "model": {"name": f"script:{script}"}})
    async with everfold.open("memory://", settings=settings, clock=FakeClock(), ids=CountingIds()) as engine:
        session = await engine.session(user="ann", limit=8000)
        for number in range(6):
            await say(session, f"We look at berth {number} " + "and at what it is like " * 20)
            call = calls(f"call_{number}", name="look") if number < 4 else None
            if call is not None:
                await session.append([call, result(f"call_{number}", "fine"), assistant("Done.")])
        return sum(call.purpose == "extraction" for call in await session.inspect.calls())


async def test_extraction_follows_its_settings(tmp_path: Path) -> None:
    """A model is asked earlier where less has to be said, or fewer tools have to be called, since the last time."""
    plain = await count_extractions(tmp_path, {})
    assert await count_extractions(tmp_path, {"extract_ratio": 0.02}) > plain
    assert await count_extractions(tmp_path, {"extract_tool_calls": 1}) > plain


@pytest.mark.parametrize(
    "embed", [{"api_key_env": "NO_SUCH_KEY"}, {"base_url": "http://127.0.0.1:9"}, {"dimensions": 7}]
)
async def test_an_embedder_is_asked_as_it_is_set(embed: Mapping[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Key, server and size reach the embedder: a key that is not there is refused at opening, the others are handed on."""
    opened: list[dict[str, object]] = []

    def open_silent(name: str, **given: object) -> _Silent:
        opened.append({"name": name, **given})
        return _Silent()

    monkeypatch.setenv("OPENAI_API_KEY", "sk-usual")
    monkeypatch.setattr("everfold.adapters.models.embedders.open_embedder", open_silent)
    settings = join({"embed": {"model": "openai:small", **embed}})
    if "api_key_env" in embed:
        with pytest.raises(InvalidInputError, match="NO_SUCH_KEY"):
            async with everfold.open("memory://", settings=settings):
                pass
        return
    async with everfold.open("memory://", settings=settings):
        pass
    expected = {"name": "openai:small", "base_url": None, "api_key": "sk-usual", "dimensions": None, **embed}
    if "base_url" in embed:
        expected["api_key"] = None
    assert opened == [expected]


class _Silent:
    """An embedder that is only closed."""

    async def close(self) -> None:
        """Nothing to let go of."""
