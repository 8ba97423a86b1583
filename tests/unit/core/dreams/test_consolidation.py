"""Consolidation without a model: topics by subject, from which no item is lost."""

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.dreams import day, note, scene
from tests.support.sizes import examples

from everfold.core.dreams.consolidation import OUTSIDE, plan_stepwise, rebuild_topic
from everfold.core.dreams.scenes import (
    LEAST_TOPICS,
    MOST_TOPICS,
    TOPIC_CHARS,
    Proposal,
    Scene,
    TopicProposal,
    is_closed,
)
from everfold.core.dreams.subjects import ENOUGH_ITEMS
from everfold.core.dreams.topic_lines import read_topic_text
from everfold.core.memory.items import Item, ItemId, ItemKind, Tier
from everfold.core.memory.topics import Topic, TopicId
from everfold.core.primitives.stepwise import finish

HARBOUR = [
    note("itm_1", "The harbour berth costs 17 euros a night.", on_day=1),
    note("itm_2", "My harbour berth is number 42.", on_day=2),
]
MUSIC = [
    note("itm_3", "I play the violin in an orchestra.", on_day=3),
    note("itm_4", "The orchestra meets on Tuesdays.", on_day=4),
]
SUBJECTS = ("harbour", "orchestra", "garden", "invoice", "marathon", "library", "kitchen", "bicycle", "telescope")


def _no_threats(_text: str) -> tuple[str, ...]:
    return ()


def _plan(given_scene: Scene, *proposals: Proposal) -> tuple[Topic, ...]:
    return finish(plan_stepwise(given_scene, scan=_no_threats, proposals=proposals)).topics


def _list_told(topics: tuple[Topic, ...]) -> set[str]:
    return {id_ for topic in topics if topic.status == "active" for id_ in topic.sources}


def _merge(before: tuple[Topic, ...], written: tuple[Topic, ...]) -> tuple[Topic, ...]:
    held = {topic.id: topic for topic in (*before, *written)}
    return tuple(topic for topic in held.values() if topic.status == "active")


@st.composite
def _items(draw: st.DrawFn, prefix: str = "itm", most: int = 30) -> list[Item]:
    found: list[Item] = []
    for number in range(draw(st.integers(0, most))):
        words = " ".join(draw(st.lists(st.sampled_from(SUBJECTS), min_size=0, max_size=3)))
        tier: Tier = draw(st.sampled_from(["user", "agent"]))
        kind: ItemKind = draw(st.sampled_from(["fact", "preference", "decision", "task", "open_item"]))
        until: datetime | None = draw(st.sampled_from([None, None, None, day(90), day(10)]))
        found.append(
            replace(
                note(
                    f"{prefix}_{number}",
                    f"Number {number} {words}",
                    on_day=draw(st.integers(0, 20)),
                    tier=tier,
                    kind=kind,
                    until=until,
                    status=draw(st.sampled_from(["active", "active", "active", "superseded"])),
                ),
                origin=draw(st.sampled_from(["user", "user", "assistant", "external"])),
            )
        )
    return found


@settings(max_examples=examples(40))
@given(_items(), _items(prefix="more"))
def test_no_item_is_lost_by_a_deterministic_consolidation(first: list[Item], second: list[Item]) -> None:
    """After each of two dreams every current item is a source of an active topic, and on a line of its own."""
    topics = _merge((), _plan(scene(*first)))
    again = scene(*second, topics=topics, sources=first, dream_id="drm_2")
    for held, items in ((topics, first), (_merge(topics, _plan(again)), [*first, *second])):
        current = {item.id for item in items if item.is_current(day(30))}
        assert sorted(_list_told(held)) == sorted(current)
        assert len({(topic.tier, topic.name) for topic in held}) == len(held)
        lines = [id_ for topic in held for id_ in read_topic_text(topic.content).items]
        assert sorted(lines) == sorted(current)


@settings(max_examples=examples(40))
@given(_items(most=60), _items(prefix="more"))
def test_a_tier_has_three_to_seven_topics(first: list[Item], second: list[Item]) -> None:
    """No tier has more than seven open topics, or, for so many items, fewer than three or its kinds, also after a second dream."""
    topics = _merge((), _plan(scene(*first)))
    merged = _merge(topics, _plan(scene(*second, topics=topics, sources=first, dream_id="drm_2")))
    for held, items in ((topics, first), (merged, [*first, *second])):
        for tier in ("user", "agent"):
            own = [topic for topic in held if topic.tier == tier]
            trusted = [
                item
                for item in items
                if item.tier == tier and item.is_current(day(30)) and item.origin in ("user", "assistant")
            ]
            assert len(own) <= MOST_TOPICS
            kinds = {item.kind for item in trusted}
            assert len(own) >= min(LEAST_TOPICS, len(kinds)) or len(trusted) < ENOUGH_ITEMS


@settings(max_examples=examples(40))
@given(_items())
def test_what_memory_says_already_is_no_change(items: list[Item]) -> None:
    """A second dream over the same items writes nothing."""
    topics = _merge((), _plan(scene(*items)))
    again = _plan(scene(*items, topics=topics, sources=items, dream_id="drm_2"))
    assert [topic.content for topic in again] == []


@settings(max_examples=examples(40))
@given(_items(), st.randoms())
def test_the_order_in_which_items_come_changes_nothing(items: list[Item], chance: object) -> None:
    """The same items in another order make the same topics with the same text."""
    shuffled = list(items)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random, which the strategy does not say
    assert [(topic.name, topic.content) for topic in _plan(scene(*items))] == [
        (topic.name, topic.content) for topic in _plan(scene(*shuffled))
    ]


def test_a_tier_never_has_more_than_seven_topics() -> None:
    """However much is said, and wherever it comes from: dream after dream every item is told, by seven topics at most."""
    held: tuple[Topic, ...] = ()
    items: list[Item] = []
    for dream in range(6):
        new = [
            replace(
                note(
                    f"itm_{dream}_{number}",
                    f"The {SUBJECTS[(number + dream) % len(SUBJECTS)]} of house {number}. {'It is quiet there. ' * 30}",
                    on_day=dream,
                ),
                origin="external" if dream > 2 and number % 9 == 0 else "user",
            )
            for number in range(27)
        ]
        items += new
        held = _merge(held, _plan(scene(*new, topics=held, sources=items, dream_id=f"drm_{dream}")))
        assert LEAST_TOPICS <= len(held) <= MOST_TOPICS
        assert sorted(_list_told(held)) == sorted(item.id for item in items)
        assert not [topic.name for topic in held if topic.name.startswith(("later_", "more_", "further_", "newer_"))]


def test_topics_keep_their_names() -> None:
    """What is said later about the same matters changes no name."""
    said = [*HARBOUR, *MUSIC, note("itm_5", "My sister lives in Leeds."), note("itm_6", "My brother is a baker.")]
    topics = _plan(scene(*said))
    new = [note(f"new_{number}", f"{item.statement} Still.", on_day=9) for number, item in enumerate(said)]
    merged = _merge(topics, _plan(scene(*new, topics=topics, sources=said, dream_id="drm_2")))
    assert {topic.name: len(topic.sources) for topic in merged} == {"harbour_berth": 4, "orchestra": 4, "people": 4}


def test_topics_are_named_by_their_subject() -> None:
    """Items that share a word are one topic, named by the words they share, one dated line for each item."""
    harbour, music = sorted(_plan(scene(*HARBOUR, *MUSIC)), key=lambda topic: topic.name)
    assert (harbour.name, music.name) == ("harbour_berth", "orchestra")
    assert harbour.content.split("\n") == [
        "- 2031-03-04: The harbour berth costs 17 euros a night. [itm_1]",
        "- 2031-03-05: My harbour berth is number 42. [itm_2]",
    ]
    assert harbour.summary == "2 items, 2031-03-04 to 2031-03-05"
    assert harbour.is_heading


def test_a_new_item_joins_the_topic_of_its_subject() -> None:
    """A topic keeps its id and its name when an item is added; the others get no revision."""
    topics = _plan(scene(*HARBOUR, *MUSIC))
    new = note("itm_5", "The harbour berth is let from May on.", on_day=9)
    (written,) = _plan(scene(new, topics=topics, sources=[*HARBOUR, *MUSIC], dream_id="drm_2"))
    before = next(topic for topic in topics if topic.id == written.id)
    assert (written.name, written.revision) == (before.name, 2)
    assert written.content == f"{before.content}\n- 2031-03-12: The harbour berth is let from May on. [itm_5]"


def test_tiers_and_origins_stay_apart() -> None:
    """Items of both tiers make topics of both, and what came from outside never shares one with what was said."""
    items = [*HARBOUR, note("itm_8", "The harbour berth report is due.", tier="agent"), *MUSIC]
    outside = note("itm_9", "The harbour berth is to be paid to account 7.", origin="external")
    topics = _plan(scene(*items, outside))
    assert {topic.tier for topic in topics} == {"user", "agent"}
    (apart,) = (topic for topic in topics if outside.id in topic.sources)
    assert (apart.name, apart.origin, apart.sources) == (OUTSIDE, "external", (outside.id,))
    assert all(topic.origin == "user" for topic in topics if topic is not apart)


def test_time_bound_items_give_an_end() -> None:
    """A topic ends with the last of its items where all have an end, and has none where one has none."""
    bound = [replace(item, valid_to=day(40 + at)) for at, item in enumerate(HARBOUR)]
    (topic,) = _plan(scene(*bound))
    assert topic.expires_at == day(41)
    assert "(until 2031-04-12)" in topic.content
    (open_ended,) = _plan(scene(bound[0], HARBOUR[1]))
    assert open_ended.expires_at is None


def test_an_expired_topic_is_marked_and_its_lasting_items_go_on() -> None:
    """A topic past its end expires, and what still holds of it stands in another."""
    (topic,) = _plan(scene(*HARBOUR))
    ended = replace(topic, expires_at=day(20))
    new = note("itm_5", "I sing in a choir.", on_day=25)
    written = _plan(scene(new, topics=[ended], sources=HARBOUR, dream_id="drm_2"))
    assert [(one.id, one.status) for one in written if one.status != "active"] == [(topic.id, "expired")]
    assert _list_told(written) == {"itm_1", "itm_2", "itm_5"}


def test_a_superseded_item_loses_its_line_to_the_new_one() -> None:
    """What was corrected stands in no line any more, and its correction stands in the same topic."""
    (topic,) = _plan(scene(*HARBOUR))
    old = replace(HARBOUR[1], status="superseded", superseded_by=ItemId("itm_5"))
    new = note("itm_5", "It is 43 now.", on_day=9, supersedes="itm_2")
    (written,) = _plan(scene(new, topics=[topic], sources=[HARBOUR[0], old], dream_id="drm_2"))
    assert written.id == topic.id
    assert "number 42" not in written.content
    assert "2031-03-12: It is 43 now. [itm_5]" in written.content


def test_a_closed_topic_goes_on_in_a_next_volume() -> None:
    """A topic that is long enough takes no more items: the next of its subject begin another one, numbered."""
    items = [note(f"itm_{n:03}", f"Harbour berth {n} " + "is let by the day. " * 6, on_day=n) for n in range(120)]
    topics = _plan(scene(*items, on_day=200))
    assert all(len(topic.content) < TOPIC_CHARS + 200 for topic in topics)
    assert any(is_closed(topic) for topic in topics)
    assert _list_told(topics) == {item.id for item in items}
    assert len({topic.name for topic in topics}) == len(topics)


def test_a_held_back_statement_keeps_its_line_without_its_words() -> None:
    """A statement that the scan names is told by its item alone."""
    plan = finish(plan_stepwise(scene(*HARBOUR), scan=lambda text: ("override",) if "42" in text else ()))
    (topic,) = plan.topics
    assert "- 2031-03-05: [held back: override] [itm_2]" in topic.content
    assert "42" not in topic.content + topic.summary
    assert topic.status == "active"


def test_secrets_stand_in_no_topic() -> None:
    """A password in a statement is not in the topic's text."""
    (topic,) = _plan(scene(note("itm_1", "The harbour password is hunter2-berth!9")))
    assert "hunter2" not in topic.content + topic.summary


# --- a model's text


def _propose(content: str, *items: str, name: str = "harbour", **other: object) -> Proposal:
    topic = TopicProposal(name=name, summary="Berths.", content=content, expires_at=None, items=items)  # type: ignore[arg-type]  # ids are texts
    return Proposal(tier="user", topics=(topic,), supersedes=(), seen=(), **other)  # type: ignore[arg-type]  # given by name


def test_what_a_text_loses_is_noted_again() -> None:
    """An item whose words are not in the new text gets a line behind it; one whose words are, gets none."""
    (topic,) = _plan(scene(*HARBOUR), _propose("The harbour berth costs 17 euros a night.", "itm_1", "itm_2"))
    assert topic.content.split("\n") == [
        "The harbour berth costs 17 euros a night.",
        "- Also noted: 2031-03-05: My harbour berth is number 42. [itm_2]",
    ]
    assert set(topic.sources) == {"itm_1", "itm_2"}


def test_a_no_and_a_wish_to_remember_are_kept_word_for_word() -> None:
    """What denies something, or was asked to be remembered, is told only by its own words."""
    items = [
        note("itm_1", "I do not eat fish from the harbour."),
        note("itm_2", "The harbour gate code is 4711.", is_explicit=True),
    ]
    text = "They eat fish from the harbour. The code of the harbour gate is 4711."
    (topic,) = _plan(scene(*items), _propose(text, "itm_1", "itm_2"))
    assert len(read_topic_text(topic.content).items) == 2


def test_an_unmentioned_item_is_not_lost() -> None:
    """An item that the model names nowhere is placed by its subject."""
    topics = _plan(scene(*HARBOUR, *MUSIC), _propose("The harbour berth costs 17 euros a night.", "itm_1"))
    assert _list_told(topics) == {"itm_1", "itm_2", "itm_3", "itm_4"}


def test_a_superseded_topics_items_go_on_elsewhere() -> None:
    """A topic that the model supersedes is marked so, and its items stand in others."""
    topics = _plan(scene(*HARBOUR))
    seen = tuple((topic.id, topic.revision) for topic in topics)
    new = note("itm_5", "The harbour berth is let from May on.", on_day=9)
    proposal = replace(
        _propose("The harbour berth is let from May on.", "itm_5"), supersedes=("harbour_berth",), seen=seen
    )
    written = _plan(scene(new, topics=topics, sources=HARBOUR, dream_id="drm_2"), proposal)
    assert [one.name for one in written if one.status == "superseded"] == ["harbour_berth"]
    assert _list_told(written) == {"itm_1", "itm_2", "itm_5"}


def test_a_topic_that_changed_meanwhile_is_not_overwritten() -> None:
    """A model's text for a revision that is not the newest any more is left out; its items are added."""
    (topic,) = _plan(scene(*HARBOUR), _propose("The harbour berth costs 17 euros.", "itm_1", "itm_2"))
    newer = replace(topic, revision=2, content="A person wrote this. The harbour berth costs 17 euros. Number 42.")
    new = note("itm_5", "The harbour berth is let from May on.", on_day=9)
    proposal = replace(_propose("Only May.", "itm_5"), seen=((topic.id, 1),))
    plan = finish(
        plan_stepwise(
            scene(new, topics=[newer], sources=HARBOUR, dream_id="drm_2"), scan=_no_threats, proposals=[proposal]
        )
    )
    (written,) = plan.topics
    assert written.content.startswith("A person wrote this.")
    assert "itm_5" in written.sources
    assert "changed meanwhile" in " ".join(plan.notes)


def test_a_correction_stands_beside_prose_that_tells_the_old() -> None:
    """Without a model the prose stays, and what has replaced a thing it tells says so."""
    (topic,) = _plan(
        scene(*HARBOUR), _propose("Berth number 42 in the harbour costs 17 euros a night.", "itm_1", "itm_2")
    )
    old = replace(HARBOUR[1], status="superseded", superseded_by=ItemId("itm_5"))
    new = note("itm_5", "It is 43 now.", on_day=9, supersedes="itm_2")
    (written,) = _plan(scene(new, topics=[topic], sources=[HARBOUR[0], old], dream_id="drm_2"))
    assert written.content.startswith(topic.content.split("\n")[0])
    assert "It is 43 now. (instead of: My harbour berth is number 42.) [itm_5]" in written.content
    again = scene(topics=[written], sources=[HARBOUR[0], old, new], dream_id="drm_3")
    assert _plan(again) == ()


def test_a_correction_during_the_call_stands_beside_the_text() -> None:
    """What was corrected while the model wrote is told by its text as it was; the correction says what it replaces."""
    old = replace(HARBOUR[1], status="superseded", superseded_by=ItemId("itm_5"))
    new = note("itm_5", "It is 43 now.", on_day=9, supersedes="itm_2")
    text = "The harbour berth is number 42 and costs 17 euros a night."
    (topic,) = _plan(scene(HARBOUR[0], old, new), _propose(text, "itm_1", "itm_2"))
    assert "It is 43 now. (instead of: My harbour berth is number 42.) [itm_5]" in topic.content


def test_a_text_on_what_was_quarantined_meanwhile_is_left_out() -> None:
    """Where an item that the model names may not be shown any more, its topic's text is not stored."""
    bad = replace(HARBOUR[1], status="quarantined")
    plan = finish(
        plan_stepwise(
            scene(HARBOUR[0], bad), scan=_no_threats, proposals=[_propose("Berth number 42.", "itm_1", "itm_2")]
        )
    )
    assert ["42" in topic.content for topic in plan.topics] == [False]
    assert "quarantined meanwhile" in " ".join(plan.notes)


def test_prose_goes_with_a_source_that_was_erased() -> None:
    """Where a source of prose is erased, nothing of the prose stays; the items that are left have lines."""
    (topic,) = _plan(
        scene(*HARBOUR), _propose("Berth number 42 in the harbour costs 17 euros a night.", "itm_1", "itm_2")
    )
    gone = replace(HARBOUR[1], status="erased", statement="", evidence=())
    (written,) = _plan(scene(topics=[topic], sources=[HARBOUR[0], gone], dream_id="drm_2"))
    assert "42" not in written.content
    assert written.sources == ("itm_1",)


def test_a_rebuilt_topic_holds_only_what_is_left() -> None:
    """Rebuilt from some of its items, a topic says these and nothing else; from none, it is erased and empty."""
    (topic,) = _plan(scene(*HARBOUR))
    rebuilt = rebuild_topic(topic, HARBOUR[:1], now=day(40), scan=_no_threats)
    assert (rebuilt.revision, rebuilt.sources) == (2, ("itm_1",))
    assert "42" not in rebuilt.content + rebuilt.summary
    erased = rebuild_topic(topic, [], now=day(40), scan=_no_threats)
    assert (erased.status, erased.content, erased.summary, erased.sources) == ("erased", "", "", ())


def test_a_name_that_a_closed_topic_has_is_not_given_twice() -> None:
    """A proposed topic with the name of a closed one that it did not see gets the month of its items."""
    closed = Topic(
        id=TopicId("top_1"),
        user_id=HARBOUR[0].user_id,
        agent_id=HARBOUR[0].agent_id,
        tier="user",
        name="harbour",
        summary="Old.",
        content="x" * TOPIC_CHARS,
        sources=(),
        origin="user",
        updated_at=day(1),
    )
    (written,) = _plan(
        scene(*HARBOUR, topics=[closed], dream_id="drm_2"), _propose("The harbour berth costs 17 euros.", "itm_1")
    )
    assert written.name == "harbour_2031_03"


@pytest.mark.parametrize("length", [100, TOPIC_CHARS])
def test_a_name_of_old_is_given_up(length: int) -> None:
    """A heading whose name told its place among others is named by its subject at the next dream, open or closed."""
    (first,) = _plan(scene(*HARBOUR))
    lines = first.content + "\n- 2031-03-03: " + "x" * length + " [itm_gone]"
    old = replace(first, name="later_harbour_berth", content=lines)
    held = _merge((old,), _plan(scene(*MUSIC, topics=[old], sources=HARBOUR, dream_id="drm_2")))
    assert "harbour_berth" in {topic.name for topic in held}
    assert not [topic.name for topic in held if topic.name.startswith("later_")]
