"""The demo's conversation is valid, repeatable, of the promised size, and says what it claims to have planted."""

from collections import Counter
from itertools import pairwise

import pytest
from bench import pack_demo
from bench.material.demo import demo_log
from bench.material.demo_script import DemoLog

import everfold
from everfold.demo.reading import read_demo
from everfold.testing import check_openai_request, check_window_rules

SEEDS = [0, 7, 2_031]


@pytest.fixture(params=SEEDS)
def demo(request: pytest.FixtureRequest) -> DemoLog:
    """One telling of the story."""
    return demo_log(request.param)


def test_the_demo_is_a_valid_request(demo: DemoLog) -> None:
    """The whole conversation is accepted by the provider as it is, and keeps the window rules."""
    assert check_openai_request({"messages": demo.messages}) == []
    assert check_window_rules({"messages": demo.messages}, kind="openai") == []


def test_the_demo_has_its_size(demo: DemoLog) -> None:
    """The conversation has 400 to 520 messages and 160,000 to 200,000 characters, which are some 60,000 tokens."""
    chars_count = sum(len(str(m["content"] or "")) + len(str(m.get("tool_calls", ""))) for m in demo.messages)
    assert 400 <= len(demo.messages) <= 520
    assert 160_000 <= chars_count <= 200_000


def test_planted_facts_are_said_where_they_claim(demo: DemoLog) -> None:
    """Every needle stands in the text of its message, and each kind of fact was planted."""
    for fact in demo.facts:
        assert fact.needle in str(demo.messages[fact.seq - 1]["content"])
    kinds = Counter(fact.kind for fact in demo.facts)
    assert set(kinds) == {"standing", "decision", "correction", "identifier", "in_paste", "tool"}
    assert [fact.seq for fact in demo.facts] == sorted(fact.seq for fact in demo.facts)


def test_corrections_supersede(demo: DemoLog) -> None:
    """A corrected fact names its correction, which comes later under the same label."""
    corrected = [fact for fact in demo.facts if fact.superseded_by is not None]
    assert len(corrected) == 2
    for fact in corrected:
        (newer,) = [other for other in demo.facts if other.seq == fact.superseded_by]
        assert (newer.kind, newer.label) == ("correction", fact.label)
        assert newer.seq > fact.seq


def test_the_demo_has_parallel_calls_and_a_paste(demo: DemoLog) -> None:
    """The conversation holds parallel calls, one paste of about 8,000 tokens, and times that never fall."""
    calls = [m["tool_calls"] for m in demo.messages if "tool_calls" in m]
    assert any(isinstance(call, list) and len(call) == 3 for call in calls)
    (paste,) = [entry for entry in demo.entries if entry.label == "paste"]
    assert 6_000 <= len(str(paste.wire["content"])) / 4 <= 10_000
    assert all(first.said_at <= second.said_at for first, second in pairwise(demo.entries))


def test_the_seed_changes_the_telling() -> None:
    """The same seed tells the same story, another seed tells it otherwise with the same facts."""
    assert demo_log(1) == demo_log(1)
    assert demo_log(1).messages != demo_log(2).messages
    assert [fact.needle for fact in demo_log(1).facts] == [fact.needle for fact in demo_log(2).facts]


def test_the_package_has_the_demo_as_it_is_told() -> None:
    """The file in the package is what `python -m bench.pack_demo` writes, and reads back as the story with its facts."""
    log, packed = demo_log(), read_demo()
    assert pack_demo.PATH.read_text("utf-8") == pack_demo.write_rows()
    assert [(it.wire, it.said_at) for it in packed.messages] == [(it.wire, it.said_at) for it in log.entries]
    assert list(packed.facts) == log.facts


async def test_memory_and_a_dream_come_of_the_demo() -> None:
    """The file alone, without a model, gives memory what a dream makes topics of."""
    async with everfold.open("memory://", settings={"memory": {"system": "structured"}}) as engine:
        session = await engine.session(user="ilse", agent="shop")
        await session.append([it.wire for it in read_demo().messages], said_at=read_demo().messages[-1].said_at)
        memory = await engine.memory(user="ilse", agent="shop")
        dream = await memory.dream()
        assert dream is not None
        assert await memory.search("packaging without wool felt")
        assert len(await memory.topics()) > 1
