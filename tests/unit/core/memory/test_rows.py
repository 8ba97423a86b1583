"""Memory as bytes."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from everfold.core.memory.items import Evidence, Item, ItemId, ItemKind, ItemStatus, Shelf, Tier, Writer
from everfold.core.memory.records import AuditAction, AuditEntry, Extraction
from everfold.core.memory.rows import (
    audit_from_bytes,
    audit_to_bytes,
    dream_from_bytes,
    dream_to_bytes,
    extraction_from_bytes,
    extraction_to_bytes,
    item_from_bytes,
    item_to_bytes,
    topic_from_bytes,
    topic_to_bytes,
)
from everfold.core.memory.topics import Dream, DreamId, DreamState, Topic, TopicId, TopicStatus
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.origins import Origin
from everfold.testing.kit.memory_builders import dream, extraction, item, topic

TEXTS = st.one_of(st.text(st.characters(), max_size=12), st.sampled_from(["", "\ud83d alone", "tail \udc00", "\x00"]))
IDS = st.text("abc_0123", min_size=1, max_size=8)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1), timezones=st.one_of(st.just(UTC), ZONES))  # noqa: DTZ001  # bounds are naive by contract
SHARES = st.floats(0, 1)


def one_of(literal: object) -> st.SearchStrategy[str]:
    """Any value of a literal."""
    return st.sampled_from(get_args(literal))


def tuples(values: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    """A few of them."""
    return st.lists(values, max_size=3).map(tuple)


EVIDENCE = st.builds(
    Evidence,
    session_id=IDS.map(SessionId),
    seq=st.integers(1),
    start=st.integers(0),
    quote=TEXTS,
    content_hash=TEXTS,
    origin=one_of(Origin),
    said_at=MOMENTS,
)
ITEMS = st.builds(
    Item,
    id=IDS.map(ItemId),
    user_id=IDS.map(UserId),
    agent_id=IDS.map(AgentId),
    tier=one_of(Tier),
    kind=one_of(ItemKind),
    statement=TEXTS,
    evidence=tuples(EVIDENCE),
    origin=one_of(Origin),
    confidence=SHARES,
    valid_from=MOMENTS,
    valid_to=st.none() | MOMENTS,
    recorded_at=MOMENTS,
    last_seen_at=MOMENTS,
    changed_at=MOMENTS,
    identity=TEXTS,
    written_by=one_of(Writer),
    status=one_of(ItemStatus),
    shelf=one_of(Shelf),
    supersedes=st.none() | IDS,
    threats=tuples(TEXTS),
)
TOPICS = st.builds(
    Topic,
    id=IDS.map(TopicId),
    tier=one_of(Tier),
    name=TEXTS,
    content=TEXTS,
    sources=tuples(IDS),
    origin=one_of(Origin),
    updated_at=MOMENTS,
    expires_at=st.none() | MOMENTS,
    status=one_of(TopicStatus),
    threats=tuples(TEXTS),
)
DREAMS = st.builds(
    Dream,
    id=IDS.map(DreamId),
    state=one_of(DreamState),
    begun_at=MOMENTS,
    ended_at=st.none() | MOMENTS,
    topics=tuples(TOPICS),
    items=tuples(IDS),
    cost_usd=st.none() | SHARES,
    problem=TEXTS,
)
EXTRACTIONS = st.builds(
    Extraction,
    made_at=MOMENTS,
    items=tuples(IDS),
    counts=st.tuples(*[st.integers(0)] * 5),
    written_by=one_of(Writer),
    is_session_gone=st.booleans(),
)
ENTRIES = st.builds(
    AuditEntry,
    at=MOMENTS,
    agent_id=st.none() | IDS,
    actor=TEXTS,
    action=one_of(AuditAction),
    about=tuples(TEXTS),
    counts=tuples(st.tuples(TEXTS, st.integers())),
)


@given(one=ITEMS)
def test_an_item_survives(one: Item) -> None:
    """Any revision of an item reads back equal, code point for code point and to the microsecond."""
    assert item_from_bytes(item_to_bytes(one)) == one


def test_an_items_row_from_an_older_release_is_read() -> None:
    """A row without the fields that came later reads as an item that has none of them."""
    value = json.loads(item_to_bytes(item("itm_1")))
    del value["released"], value["is_by_hand"]
    assert item_from_bytes(json.dumps(value).encode()) == item("itm_1")


@given(one=TOPICS)
def test_a_topic_survives(one: Topic) -> None:
    """Any revision of a topic reads back equal."""
    assert topic_from_bytes(topic_to_bytes(one)) == one


@given(one=DREAMS)
def test_a_dream_survives(one: Dream) -> None:
    """Any dream reads back equal, with the topics that it is given."""
    assert dream_from_bytes(dream_to_bytes(one), one.topics) == one


@given(one=EXTRACTIONS, ordinal=st.integers(), is_gone=st.booleans())
def test_an_extraction_survives(one: Extraction, ordinal: int, *, is_gone: bool) -> None:
    """Any extraction reads back equal, but for what the store says of it."""
    read = extraction_from_bytes(extraction_to_bytes(one), ordinal=ordinal, is_session_gone=is_gone)
    assert read == replace(one, ordinal=ordinal, is_session_gone=is_gone)


@given(one=ENTRIES)
def test_an_audit_entry_survives(one: AuditEntry) -> None:
    """Any audit entry reads back equal."""
    assert audit_from_bytes(audit_to_bytes(one)) == one


def test_a_dream_does_not_hold_its_topics() -> None:
    """What a dream's bytes hold says nothing of its topics, so that they can be forgotten."""
    assert b"alibi" not in dream_to_bytes(dream("drm_1", topic("top_1", "alibi", content="alibi")))


def test_moments_keep_their_offset() -> None:
    """A moment is read with the offset that it was written with."""
    moment = datetime(2031, 3, 3, 8, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    read = item_from_bytes(item_to_bytes(replace(item("itm_1"), valid_from=moment)))
    assert read.valid_from.utcoffset() == timedelta(hours=5, minutes=30)


def test_what_the_store_says_is_not_written() -> None:
    """Ordinal and the loss of a session are the store's own to say."""
    value = json.loads(extraction_to_bytes(replace(extraction("ext_1"), ordinal=7, is_session_gone=True)))
    assert not {"ordinal", "is_session_gone"} & value.keys()
