"""A memory as a document: it comes back equal, and what is broken is refused with its place."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfold.core.memory.items import Item, ItemStatus
from everfold.core.portability.documents import (
    FORMAT,
    VERSION,
    PortableMemory,
    give_memory,
    read_document,
    write_document,
)
from everfold.core.primitives.ids import AgentId
from everfold.core.primitives.json_values import JsonObject
from everfold.errors import InvalidInputError
from everfold.testing.kit.builders import ADA, BEN, GUIDE
from everfold.testing.kit.memory_builders import audit, dream, evidence, extraction, item, topic

TEXTS = st.text(st.characters(codec=None), max_size=12).filter(
    lambda text: json.loads(json.dumps(text)) == text and ADA not in text
)
"""Any code points, lone surrogates too; two of them that make a pair are one character in JSON. None says whose it is."""
STATUSES: st.SearchStrategy[ItemStatus] = st.sampled_from(["active", "superseded", "erased", "quarantined"])


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
    topics = [topic(f"top_{number}", draw(TEXTS), content=draw(TEXTS)) for number in range(draw(st.integers(0, 2)))]
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
    ],
)
def test_what_does_not_fit_together_is_refused(memory: PortableMemory, where: str) -> None:
    """Ids, revisions, ordinals and owners are checked against each other, and the error names the place."""
    with pytest.raises(InvalidInputError, match=where):
        read_document(write_document(memory))
