"""Importing: what of a document becomes memory only as it would be written today.

A document may have been written by hand, or by a release that knew fewer secrets and threats. Its statements lose their
secrets, and what a scan finds in them is held back until the owner has looked at it; of files such lines are left out.

Source: DESIGN section 4, "Threats": every write is scanned, secrets are redacted before long-term memory.
"""

from collections.abc import Sequence
from dataclasses import replace

from everfold.core.extraction.candidates import cut_secret
from everfold.core.memory.files import FileEntry, MemoryFile
from everfold.core.memory.items import Evidence, Item, ItemId, identify
from everfold.core.memory.topics import ITEM_LINE, Topic
from everfold.core.merging.file_edits import hold_back_lines, require_room
from everfold.core.merging.releasing import list_open_threats
from everfold.core.portability.documents import PortableMemory
from everfold.core.primitives.ids import AgentId
from everfold.core.threats.redaction import redact_secrets
from everfold.core.threats.scanning import scan_memory


def clean_imported(memory: PortableMemory) -> PortableMemory:
    """A document's memory as it may be stored. One that was exported by this release stays as it is. O(its text).

    Raises:
        LimitError: its files are more than an agent may have.
    """
    known = frozenset(item.id for revisions in memory.items for item in revisions)
    return replace(
        memory,
        items=tuple(tuple(map(_clean_item, revisions)) for revisions in memory.items),
        topics=tuple(tuple(_clean_topic(topic, known) for topic in revisions) for revisions in memory.topics),
        files=_clean_files(memory.files),
    )


def _clean_files(files: Sequence[MemoryFile]) -> tuple[MemoryFile, ...]:
    """Files with what may be stored of them.

    Raises:
        LimitError: an agent would have too many, or too much text.
    """
    cleaned = [replace(file, content=hold_back_lines(file.content)) for file in files]
    sizes: dict[AgentId, list[FileEntry]] = {}
    for file in cleaned:
        entries = sizes.setdefault(file.agent_id, [])
        require_room(entries, file.path, file.content)
        entries.append(FileEntry(file.path, len(file.content)))
    return tuple(cleaned)


def _clean_item(item: Item) -> Item:
    statement = redact_secrets(item.statement)
    evidence = tuple(one._replace(quote=cut_secret(one.quote)) for one in item.evidence)
    if item.identity:  # never as the document has it: under another one the item would stand for what it does not say
        item = replace(item, identity=identify(statement, tier=item.tier, agent_id=item.agent_id))
    threats = _scan_item(item, statement, evidence) if item.status == "active" else ()
    item = replace(item, statement=statement, evidence=evidence)
    return replace(item, status="quarantined", shelf="archive", threats=threats) if threats else item


def _scan_item(item: Item, statement: str, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    return list_open_threats(statement, evidence, item.released, origin=item.origin)


def _clean_topic(topic: Topic, known: frozenset[ItemId]) -> Topic:
    topic = replace(topic, summary=redact_secrets(topic.summary), content=redact_secrets(topic.content))
    threats = _scan_topic(topic, known) if topic.status == "active" else ()
    return replace(topic, status="quarantined", threats=threats) if threats else topic


def _scan_topic(topic: Topic, known: frozenset[ItemId]) -> tuple[str, ...]:
    """What a scan finds in a topic: a model wrote its prose, its lines of items that the document has are what they say."""
    lines = topic.content.split("\n")
    prose = "\n".join(line for line in lines if (named := ITEM_LINE.fullmatch(line)) is None or named[2] not in known)
    found = (*scan_memory(f"{topic.summary}\n{topic.content}"), *scan_memory(f"{topic.summary}\n{prose}", is_note=True))
    return tuple(dict.fromkeys(threat.rule for threat in found))
