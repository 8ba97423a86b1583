"""A memory as a document: it comes back equal, and what is broken is refused with its place."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.log.following import FollowedTranscript
from everfold.core.memory.items import Item, ItemStatus
from everfold.core.portability.documents import (
    FORMAT,
    VERSION,
    PortableMemory,
    give_memory,
    read_document,
    rename_sessions,
    write_document,
)
from everfold.core.primitives.ids import AgentId, SessionId
from everfold.core.primitives.json_values import JsonObject
from everfold.errors import InvalidInputError
from everfold.testing.kit.builders import ADA, BEN, GUIDE
from everfold.testing.kit.memory_builders import audit, dream, evidence, extraction, item, topic

TEXTS = st.text(st.characters(codec=None), max_size=12).filter(
    lambda text: json.loads(json.dumps(text)) == text and ADA not in text
)
"""Any code points, lone surrogates too; two of them that make a pair are one character in JSON. None says whose it is."""
NAMES = st.from_regex(r"[a-z]{1,8}(?:_[a-z0-9]{1,8}){0,2}", fullmatch=True).filter(lambda name: ADA not in name)
STATUSES: st.SearchStrategy[ItemStatus] = st.sampled_from(["active", "superseded", "erased", "quarantined"])

FOLLOWED = FollowedTranscript(user_id=ADA, agent_id=GUIDE, name="a", session_id=None, read_bytes=70)


@st.composite
def st_memories(draw: st.DrawFn) -> PortableMemory:
    """Some ledger: items and topics with revisions whose numbers have gaps, dreams, extractions and an audit."""
    items: list[tuple[Item, ...]] = []
    for number in range(draw(st.integers(0, 3))):
        quotes = [evidence(draw(TEXTS), seq=seq) for seq in range(1, draw(st.integers(1, 3)))]
        first = replace(item(f"itm_{number}", draw(TEXTS), *quotes), confidence=draw(st.floats(0, 1)))
        status = draw(STATUSES)
        later = replace(first, revision=draw(st.integers(2, 9)), statement=draw(TEXTS), status=status)
        items.append((first, later)[: draw(st.integers(1, 2))])
    topics = [topic(f"top_{number}", draw(NAMES), content=draw(TEXTS)) for number in range(draw(st.integers(0, 2)))]
    ordinals = sorted(draw(st.sets(st.integers(1, 99), max_size=3)))
    return PortableMemory(
        user_id=ADA,
        items=tuple(items),
        topics=tuple((one, replace(one, revision=3, summary=draw(TEXTS))) for one in topics),
        dreams=tuple(
            replace(dream(f"drm_{at}", *topics), problem=draw(TEXTS)) for at in range(draw(st.integers(0, 2)))
        ),
        extractions=tuple(replace(extraction(f"ext_{one}"), ordinal=one) for one in ordinals),
        cursors=draw(st.sampled_from([(), ((GUIDE, 3),), ((GUIDE, 3), (AgentId("clerk"), 4))])),
        audit=tuple(audit(at=at) for at in range(draw(st.integers(0, 2)))),
        followed=draw(st.sampled_from([(), (FOLLOWED,), (FOLLOWED, replace(FOLLOWED, name="b", read_bytes=0))])),
    )


@given(st_memories())
def test_a_document_reads_back_equal(memory: PortableMemory) -> None:
    """A memory survives its document, also through JSON text, code point for code point."""
    document = write_document(memory)
    assert read_document(document) == memory
    assert read_document(json.loads(json.dumps(document))) == memory


@given(st_memories())
def test_a_memory_is_given_whole(memory: PortableMemory) -> None:
    """Given to another user it differs in whose it is only, and given back it is equal."""
    given_away = give_memory(memory, BEN)
    assert give_memory(given_away, ADA) == memory
    assert read_document(write_document(given_away)) == given_away
    assert ADA not in json.dumps(write_document(given_away))


def test_the_audit_names_renamed_sessions() -> None:
    """Where sessions get other ids, audit entries name them by these, also where they are about one of their messages."""
    about = ("ses_1", "ses_1:12", "ses_12:1", "itm_1", "/api/users")
    memory = PortableMemory(user_id=ADA, audit=(replace(audit(), about=about),))
    (entry,) = rename_sessions(memory, {SessionId("ses_1"): SessionId("ses_9")}).audit
    assert entry.about == ("ses_9", "ses_9:12", "ses_12:1", "itm_1", "/api/users")


@given(st_memories(), st.data())
def test_any_broken_value_is_refused_or_harmless(memory: PortableMemory, data: st.DataObject) -> None:
    """Whatever stands in the place of any value of a document, reading it is refused by us, or gives what it says."""
    document = json.loads(json.dumps(write_document(memory)))
    at, value = document, data.draw(st.sampled_from([None, True, 7, -1, 1.5, "x", "", [], {}, [1], {"a": 1}, 2**70]))
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.booleans()):
            at[key] = value
            break
        at = at[key]
    try:
        read = read_document(document)
    except InvalidInputError:
        return
    assert read_document(write_document(read)) == read


@pytest.mark.parametrize("document", [None, 5, "x", [], {}, {"format": "other"}, {"format": FORMAT}])
def test_what_is_no_document_is_refused(document: object) -> None:
    """Anything else is refused as such."""
    with pytest.raises(InvalidInputError):
        read_document(document)


@pytest.mark.parametrize("version", [0, VERSION + 1, "1", True, None, 1.0])
def test_another_version_is_refused(version: object) -> None:
    """A version that this release does not know is refused, a newer one too."""
    document: JsonObject = {**write_document(PortableMemory(user_id=ADA)), "version": version}  # type: ignore[dict-item]
    with pytest.raises(InvalidInputError, match="version"):
        read_document(document)


@pytest.mark.parametrize(
    ("memory", "where"),
    [
        (PortableMemory(user_id=ADA, items=((item("a"),), (item("a"),))), "items"),
        (PortableMemory(user_id=ADA, items=((item("a", revision=2), item("a")),)), r"items\[0\]\[1\]"),
        (PortableMemory(user_id=ADA, items=((item("a"), item("b", revision=2)),)), r"items\[0\]\[1\]"),
        (PortableMemory(user_id=ADA, items=((item("\ud83d"),),)), r"items\[0\]\[0\]: id"),
        (PortableMemory(user_id=ADA, items=((item(""),),)), r"items\[0\]\[0\]: id"),
        (PortableMemory(user_id=ADA, items=((item("a", user_id=BEN),),)), r"items\[0\]"),
        (PortableMemory(user_id=ADA, extractions=(extraction("e"),)), "extractions"),
        (PortableMemory(user_id=ADA, cursors=((AgentId("\ud83d"), 1),)), "cursors"),
        (PortableMemory(user_id=ADA, cursors=((GUIDE, -1),)), "cursors"),
        (PortableMemory(user_id=ADA, followed=(FOLLOWED, FOLLOWED)), "followed"),
        (PortableMemory(user_id=ADA, followed=(replace(FOLLOWED, name="\ud83d"),)), r"followed\[0\].name"),
    ],
)
def test_what_does_not_fit_together_is_refused(memory: PortableMemory, where: str) -> None:
    """Ids, revisions, ordinals and owners are checked against each other, and the error names the place."""
    with pytest.raises(InvalidInputError, match=where):
        read_document(write_document(memory))


def _dump() -> JsonObject:
    """A document with one row of everything that has numbers or names."""
    memory = PortableMemory(
        user_id=ADA,
        items=((item("itm_1", "A crane.", evidence("A crane.")),),),
        topics=((topic("top_1"),),),
        dreams=(dream("drm_1", topic("top_1")),),
        extractions=(replace(extraction("ext_1"), ordinal=1),),
        cursors=((GUIDE, 3),),
        audit=(replace(audit(), agent_id=GUIDE, counts=(("items", 2),)),),
        followed=(FOLLOWED,),
    )
    document: JsonObject = json.loads(json.dumps(write_document(memory)))
    return document


def _at(document: object, path: str) -> tuple[Any, Any]:
    """What holds a value of a document, and under which key."""
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    held: Any = document
    for key in way:
        held = held[key]
    return held, last


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("items.0.0.confidence", 1e30, r"items\[0\]\[0\]: confidence of itm_1 is 1e\+30, expected from 0 to 1"),
        ("items.0.0.confidence", -0.1, "confidence of itm_1 is -0.1"),
        ("items.0.0.confidence", float("nan"), r"items\[0\]\[0\]"),
        ("items.0.0.confidence", float("inf"), r"items\[0\]\[0\]"),
        ("items.0.0.evidence.0.1", 0, "seq of the quote of ses_1 is 0, expected 1 or more"),
        ("items.0.0.evidence.0.2", -1, "start of the quote of ses_1 is -1, expected 0 or more"),
        ("items.0.0.revision", 0, "revision of itm_1 is 0, expected 1 or more"),
        ("topics.0.0.revision", -1, "revision of top_1 is -1"),
        ("dreams.0.topics.0.revision", -1, r"dreams\[0\].topics\[0\]: revision of top_1 is -1"),
        ("dreams.0.epoch", -1, r"dreams\[0\]: epoch of drm_1 is -1, expected 0 or more"),
        ("dreams.0.read_through", -1, "read_through of drm_1 is -1"),
        ("dreams.0.cost_usd", -0.5, "cost_usd of drm_1 is -0.5"),
        ("extractions.0.first_seq", -1, r"extractions\[0\]: first_seq of ext_1 is -1, expected 1 or more"),
        ("extractions.0.first_seq", 9, "last_seq of ext_1 is 2, expected first_seq, 9, or more"),
        ("extractions.0.counts.2", -1, "counts of ext_1 is -1"),
        ("extractions.0.refused_count", -1, "refused_count of ext_1 is -1"),
        ("followed.0.read_bytes", -1, r"followed\[0\]: read_bytes of it is -1, expected 0 or more"),
        ("audit.0.counts.0.1", -5, r"audit\[0\]: counts of the entry of 20.* is -5, expected 0 or more; correct it"),
    ],
)
def test_impossible_numbers_are_refused(path: str, value: float, told: str) -> None:
    """A number that memory cannot have written is refused; the error names the place, the id, the field and the bounds."""
    document = _dump()
    held, key = _at(document, path)
    held[key] = value
    with pytest.raises(InvalidInputError, match=told):
        read_document(document)


@pytest.mark.parametrize("name", ["../../x", "a\nb", "a/../b", "..\\x", "..", " ", "a\x7f", "a\x85b", "x" * 513])
@pytest.mark.parametrize(
    "path",
    [
        "items.0.0.agent_id",
        "topics.0.0.agent_id",
        "dreams.0.agent_id",
        "extractions.0.agent_id",
        "audit.0.agent_id",
        "followed.0.agent_id",
    ],
)
def test_names_of_agents_are_no_paths(path: str, name: str) -> None:
    """An agent's name that climbs out of a folder, or does not stand on one line, is refused with what it may be."""
    document = _dump()
    held, key = _at(document, path)
    held[key] = name
    with pytest.raises(InvalidInputError, match=r"agent_id is .*, expected a name without .*; correct it") as refusal:
        read_document(document)
    assert len(str(refusal.value)) < 250


@pytest.mark.parametrize("value", ["../../etc/passwd", "/x", "a\nb", "..", "", "x" * 201])
@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("items.0.0.evidence.0.0", "session_id of the quote of "),
        ("items.0.0.supersedes", "supersedes of itm_1"),
        ("items.0.0.superseded_by", "superseded_by of itm_1"),
        ("topics.0.0.id", "id of "),
        ("topics.0.0.sources", "sources of top_1"),
        ("topics.0.0.dream_id", "dream_id of top_1"),
        ("dreams.0.items", "items of drm_1"),
        ("extractions.0.session_id", "session_id of ext_1"),
        ("extractions.0.compaction_id", "compaction_id of ext_1"),
        ("extractions.0.items", "items of ext_1"),
    ],
)
def test_ids_are_no_paths(path: str, named: str, value: str) -> None:
    """Whatever names something by an id that is a path, or does not stand on one line, is refused; the error names the field."""
    document = _dump()
    held, key = _at(document, path)
    held[key] = [value] if key in ("sources", "items") else value
    with pytest.raises(InvalidInputError, match=rf"\[0\]: ({named}|id).*") as refusal:
        read_document(document)
    assert len(str(refusal.value)) < 250


@pytest.mark.parametrize("value", ["../../etc/passwd", "", "0" * 63, "0" * 65, "G" * 64, "0" * 63 + "\n"])
def test_a_hash_of_a_quote_is_one(value: str) -> None:
    """A quote of which the hash cannot be one of a message is refused."""
    document = _dump()
    held, key = _at(document, "items.0.0.evidence.0.4")
    held[key] = value
    told = r"items\[0\]\[0\]: content_hash of the quote of ses_1 is .*, expected the 64 hex digits of a SHA-256; correct it"
    with pytest.raises(InvalidInputError, match=told):
        read_document(document)


@pytest.mark.parametrize("name", ["supersedes", "superseded_by"])
@pytest.mark.parametrize("other", ["x", "itm_1"])
def test_an_item_names_other_items_of_the_document(name: str, other: str) -> None:
    """An item that has replaced, or is replaced by, what the document does not have, or itself, is refused."""
    document = _dump()
    held, key = _at(document, f"items.0.0.{name}")
    held[key] = other
    told = rf"items\[0\]\[0\]: {name} of itm_1 is '{other}', expected another item of the document; correct it"
    with pytest.raises(InvalidInputError, match=told):
        read_document(document)


@pytest.mark.parametrize("name", ["../../x", "a\nb", "..", "\x1b[2J"])
def test_a_cursor_is_of_an_agent_with_a_name(name: str) -> None:
    """What is no name of an agent has no cursor either."""
    document = {**_dump(), "cursors": {name: 3}}
    with pytest.raises(InvalidInputError, match="expected a name without control characters"):
        read_document(document)


@pytest.mark.parametrize("name", ["../../x", "a\nb", "a/b", "..", ".", "", "a\\b"])
@pytest.mark.parametrize("path", ["topics.0.0.name", "dreams.0.topics.0.name"])
def test_names_of_topics_are_names_of_files(path: str, name: str) -> None:
    """A topic is read as a file: a name of it that is a path, or does not stand on one line, is refused."""
    document = _dump()
    held, key = _at(document, path)
    held[key] = name
    with pytest.raises(InvalidInputError, match=r"name of top_1 is .*, expected a name without control .*; correct it"):
        read_document(document)


@pytest.mark.parametrize(
    "name", ["default", "team/reviewer", "Ada's helper", "agent:1", "\u52a9\u624b", "a..b", "v1.2"]
)
def test_other_names_of_agents_come_back(name: str) -> None:
    """Whatever else an agent may be called comes back; so do shares at their bounds."""
    one = replace(item("itm_1", agent_id=AgentId(name)), confidence=1)
    other = replace(item("itm_2", agent_id=AgentId(name)), confidence=0.0)
    memory = PortableMemory(user_id=ADA, items=((one,), (other,)), cursors=((AgentId(name), 0),))
    assert read_document(write_document(memory)) == memory


def test_an_erased_topic_has_no_name() -> None:
    """The tombstone of a topic, which has lost its name, comes back."""
    gone = replace(topic("top_1", ""), status="erased", summary="", content="", sources=())
    memory = PortableMemory(user_id=ADA, topics=((gone,),))
    assert read_document(write_document(memory)) == memory
