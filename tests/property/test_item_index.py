"""The index over items gives every decision that a look at all pairs of items would give.

Where more than `NEAR_COUNT` items have a key, it is the decision over the nearest of them in time.
"""

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.test_ledger import FINDINGS, OTHER, SUBJECTS
from tests.support.candidates import Ledger, candidate
from tests.support.sizes import examples

from everfold.core.memory.items import Candidate, Item
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.merging import decisions, item_index
from everfold.core.merging.decisions import Desk
from everfold.core.merging.item_subjects import is_of_one_place, list_subject_keys, may_replace
from everfold.testing.kit.builders import minute

THINGS = st.sampled_from(["locker", "berth", "boat of oak", "server in Oslo", "sister's flat"])
NUMBERED = st.builds(
    lambda thing, one, two: f"The {thing} {one} has code {two}.", THINGS, st.integers(1, 3), st.integers(1, 3)
)
VALUED = st.builds(
    lambda head, value: f"{head} {value}.",
    st.sampled_from(
        ["My name is", "Call me", "I live in", "We just moved to", "My favourite colour is", "My room number is"]
    ),
    st.sampled_from(["Ada", "Bergen", "Oslo", "red", "12", "17"]),
)
MARKED = st.builds(
    lambda mark, subject, value: f"{mark} my {subject} is {value} euros{' now' if value % 2 else ''}.",
    st.sampled_from(
        ["Actually,", "Correction:", "From now on", "I changed my mind:", "No, I meant", "I no longer think"]
    ),
    SUBJECTS,
    st.integers(1, 5),
)
REJECTED = st.builds(lambda one, other: f"It is {one} euros, not {other} euros.", st.integers(1, 5), st.integers(1, 5))
MOVED = st.builds(
    lambda thing, day: f"The {thing} has been moved to {day}.", THINGS, st.sampled_from(["Friday", "12 March", "14:30"])
)
TASKS = st.builds(
    lambda thing, end: f"{end} the {thing} {thing} report.",
    THINGS,
    st.sampled_from(["We finished", "Please write", "Status: passed"]),
)
PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/supersession/own.jsonl").read_text("utf-8").splitlines()
]
LABELLED = st.sampled_from(PAIRS).flatmap(lambda pair: st.sampled_from([pair["before"], pair["after"]]))
SAID = st.one_of(NUMBERED, VALUED, MARKED, REJECTED, MOVED, TASKS, OTHER, LABELLED)
KINDS = st.sampled_from(["fact", "preference", "decision", "task", "open_item"])
ORIGINS = st.sampled_from(["user", "user", "assistant", "external"])
MANY = st.builds(
    candidate, SAID, seq=st.integers(1, 40), kind=KINDS, tier=st.sampled_from(["user", "agent"]), origin=ORIGINS
)


@st.composite
def at_once(draw: st.DrawFn) -> list[Candidate]:
    """What one batch says at one moment, each in a message of its own or several in one."""
    found = draw(st.lists(MANY, max_size=6))
    said_at = minute(draw(st.integers(1, 40)))
    return [
        replace(one, valid_from=said_at, evidence=tuple(quote._replace(said_at=said_at) for quote in one.evidence))
        for one in found
    ]


@st.composite
def pairs(draw: st.DrawFn) -> list[Candidate]:
    """Labelled pairs, the older one before the newer one."""
    found = draw(st.lists(st.sampled_from(PAIRS), min_size=1, max_size=3))
    texts = [text for pair in found for text in (pair["before"], pair["after"])]
    return [draw(st.builds(candidate, st.just(text), seq=st.just(at), kind=KINDS)) for at, text in enumerate(texts, 1)]


PASSES = st.lists(st.one_of(st.lists(st.one_of(MANY, FINDINGS), max_size=6), at_once(), pairs()), max_size=4)


CROWDED = st.lists(st.one_of(st.lists(st.one_of(MANY, FINDINGS), max_size=12), at_once(), pairs()), max_size=4)


class AllPairs(Desk):
    """A desk that looks at every item for every other one."""

    def list_same(self, identity: str) -> list[Item]:
        """Every item, asked for its identity."""
        return [item for item in self.items.values() if item.identity == identity]

    def list_quoting(self, new: Item) -> list[Item]:
        """Every active item of its place."""
        return [item for item in self.items.values() if item.status == "active" and is_of_one_place(item, new)]

    def list_older(self, newer: Item) -> list[Item]:
        """Every rival."""
        return self.list_rivals(newer)

    def list_later(self, older: Item) -> list[Item]:
        """Every rival that was said later."""
        return [item for item in self.list_rivals(older) if item.last_seen_at > older.last_seen_at]

    def list_rivals(self, item: Item) -> list[Item]:
        """Every rival, in the order in which the items came."""
        return [one for one in self.items.values() if self.is_rival(one, item)]


class NearPairs(AllPairs):
    """A desk that looks at every item, and keeps those that are among the nearest of a key that both have.

    Items are ordered by when they were last said, those of one moment by when they came.
    """

    def list_older(self, newer: Item) -> list[Item]:
        """The last rivals of each key that were said before it."""
        ordered = sorted(super().list_older(newer), key=lambda one: one.last_seen_at)
        return self._list_near(newer, [one for one in reversed(ordered) if may_replace(newer, one)])

    def list_later(self, older: Item) -> list[Item]:
        """The first rivals of each key that were said after it."""
        ordered = sorted(super().list_later(older), key=lambda one: one.last_seen_at)
        return self._list_near(older, [one for one in ordered if may_replace(one, older)])

    def _list_near(self, item: Item, rivals: list[Item]) -> list[Item]:
        """Those of the rivals, which are given from the nearest on, that are near by a key."""
        near = {
            one.id
            for key in list_subject_keys(item.statement)
            for one in [one for one in rivals if key in list_subject_keys(one.statement)][: item_index.NEAR_COUNT]
        }
        return [one for one in self.items.values() if one.id in near]


def _run(passes: list[list[Candidate]]) -> tuple[list[object], list[Item]]:
    ledger = Ledger(policy=MemoryPolicy(system="structured", user_char_limit=400))
    merges: list[object] = [
        ledger.merge(*candidates, now=minute(100 + place)) for place, candidates in enumerate(passes)
    ]
    return merges, list(ledger.items.values())


@settings(max_examples=examples(300), deadline=None)
@given(PASSES)
def test_the_index_decides_as_all_pairs_do(passes: list[list[Candidate]]) -> None:
    """Whatever is said, in whatever order and at whatever times, the index finds all that the rules say yes to."""
    indexed = _run(passes)
    with patch.object(decisions, "Desk", AllPairs):
        assert _run(passes) == indexed


@settings(max_examples=examples(300), deadline=None)
@given(CROWDED, st.integers(1, 3))
def test_the_index_decides_as_the_nearest_pairs_do(passes: list[list[Candidate]], near_count: int) -> None:
    """Of more items with one key than the bound, exactly the nearest in time count, as many for each key."""
    with patch.object(item_index, "NEAR_COUNT", near_count):
        indexed = _run(passes)
        with patch.object(decisions, "Desk", NearPairs):
            assert _run(passes) == indexed


def test_the_model_looks_at_what_was_said_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The desk that the index is held against finds a later rival too: what comes in late stands behind what holds."""
    monkeypatch.setattr(decisions, "Desk", NearPairs)
    passes = [[candidate("The locker 1 has code 1.", seq=2)], [candidate("The locker 1 has code 3.", seq=1)]]
    items = _run(passes)[1]
    assert [(item.statement, item.status) for item in items] == [
        ("The locker 1 has code 1.", "active"),
        ("The locker 1 has code 3.", "superseded"),
    ]
