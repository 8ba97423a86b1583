"""The seeded logs are repeatable, valid, and hold the shares that they promise."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice, pairwise

import pytest
from bench.material.logs import LogEntry, chat_log, coding_log, endless_log, one_turn_of_steps
from bench.material.prose import ROW_TOKEN_CHARS, TOKEN_CHARS

from everfold.testing import check_openai_request

LOGS: dict[str, Callable[[int], Iterator[LogEntry]]] = {
    "endless": lambda seed: endless_log(seed, messages_count=400),
    "one turn": lambda seed: one_turn_of_steps(seed, steps_count=40),
    "chat": lambda seed: chat_log(seed, messages_count=100),
    "coding": lambda seed: coding_log(seed, turns_count=8),
}


@pytest.mark.parametrize("make", LOGS.values(), ids=LOGS.keys())
def test_the_same_seed_gives_the_same_log(make: Callable[[int], Iterator[LogEntry]]) -> None:
    """A seed decides a log whole, and another seed gives another log."""
    assert list(make(3)) == list(make(3))
    assert list(make(3)) != list(make(4))


@pytest.mark.parametrize("make", LOGS.values(), ids=LOGS.keys())
def test_logs_are_valid_requests_in_order_of_time(make: Callable[[int], Iterator[LogEntry]]) -> None:
    """A log is accepted by the provider as it is, starts with the user, and its times are aware and never fall."""
    entries = list(make(11))
    assert check_openai_request({"messages": [entry.wire for entry in entries]}) == []
    assert entries[0].wire["role"] == "user"
    assert all(entry.said_at.utcoffset() is not None for entry in entries)
    assert all(first.said_at <= second.said_at for first, second in pairwise(entries))


@pytest.mark.parametrize("messages_count", [*range(30), 997])
def test_an_endless_log_has_exactly_the_messages_asked_for(messages_count: int) -> None:
    """An endless log ends at the count that was asked for, without an open call."""
    messages = [entry.wire for entry in endless_log(5, messages_count=messages_count)]
    assert len(messages) == messages_count
    assert not messages or check_openai_request({"messages": messages}) == []


def test_an_endless_log_streams() -> None:
    """The first entries of a log of any length come without making the rest."""
    assert len(list(islice(endless_log(1, messages_count=10**12), 5))) == 5


@pytest.mark.slow
def test_an_endless_log_holds_its_shares() -> None:
    """Pastes, standing statements, tool turns and the sizes of messages are what the docstring promises."""
    entries = [entry for seed in range(4) for entry in endless_log(seed, messages_count=8_000)]
    labels = Counter(entry.label for entry in entries)
    said_count = labels["talk"] + labels["standing"] + labels["paste"]
    assert labels["paste"] / said_count == pytest.approx(0.01, abs=0.004)
    assert labels["standing"] / said_count == pytest.approx(0.05, abs=0.01)
    turns_with_tools = sum(
        second.label == "call" and first.label in {"talk", "standing", "paste"} for first, second in pairwise(entries)
    )
    assert turns_with_tools / said_count == pytest.approx(1 / 3, abs=0.03)
    bounds = {
        "talk": (5, 120),
        "answer": (50, 400),
        "result": (50, 1_200),
        "paste": (8_000, 8_050),
        "standing": (5, 60),
    }
    for entry in entries:
        if entry.label in bounds:
            low, high = bounds[entry.label]
            token_chars = ROW_TOKEN_CHARS if entry.label in {"result", "paste"} else TOKEN_CHARS
            # The cut falls on a word, so a text may stay a word below its size.
            assert low - 8 <= len(str(entry.wire["content"])) / token_chars <= high


def test_an_endless_log_reads_like_english_of_many_words() -> None:
    """A log of some thousand messages uses several thousand distinct words, and rare ids are mostly used once."""
    texts = " ".join(str(entry.wire["content"]) for entry in endless_log(8, messages_count=4_000))
    words = Counter(word.strip(".,;:?!") for word in texts.split())
    ids = [word for word in words if word.startswith(("ORD-", "INV-", "SN"))]
    assert len([word for word in words if word.isalpha()]) > 3_000
    assert len(ids) > 5_000
    assert words["the"] > 1_000


def test_steps_of_one_turn() -> None:
    """One turn holds exactly the steps that were asked for, between its user message and its answer."""
    entries = list(one_turn_of_steps(1, steps_count=600))
    labels = Counter(entry.label for entry in entries)
    assert (labels["talk"], labels["call"], labels["answer"]) == (1, 600, 1)
    assert labels["result"] > 900


def test_coding_logs_hold_what_coding_agents_say() -> None:
    """A coding log holds paths, an error, a diff and a test summary in every turn."""
    text = json.dumps([entry.wire for entry in coding_log(6, turns_count=5)])
    for mark, least_count in {"src/": 20, "Traceback": 5, "@@ -": 5, " passed": 15, "BUG-": 5}.items():
        assert text.count(mark) >= least_count, mark
