"""Importing: what of a document becomes memory only as it would be written today.

A document may have been written by hand, or by a release that knew fewer secrets and threats. Its statements lose their
secrets, and what a scan finds in them is held back until the owner has looked at it.

Source: DESIGN section 4, "Threats": every write is scanned, secrets are redacted before long-term memory.
"""

from dataclasses import replace

from everfold.core.extraction.candidates import cut_secret
from everfold.core.memory.items import Item, identify
from everfold.core.memory.topics import Topic
from everfold.core.merging.releasing import list_open_threats
from everfold.core.portability.documents import PortableMemory
from everfold.core.threats.redaction import redact_secrets
from everfold.core.threats.scanning import scan_memory


def clean_imported(memory: PortableMemory) -> PortableMemory:
    """A document's memory as it may be stored. One that was exported by this release stays as it is. O(its text)."""
    return replace(
        memory,
        items=tuple(tuple(map(_clean_item, revisions)) for revisions in memory.items),
        topics=tuple(tuple(map(_clean_topic, revisions)) for revisions in memory.topics),
    )


def _clean_item(item: Item) -> Item:
    statement = redact_secrets(item.statement)
    evidence = tuple(one._replace(quote=cut_secret(one.quote)) for one in item.evidence)
    if statement != item.statement and item.identity:
        item = replace(item, identity=identify(statement, tier=item.tier, agent_id=item.agent_id))
    threats = list_open_threats(statement, evidence, item.released) if item.status == "active" else ()
    item = replace(item, statement=statement, evidence=evidence)
    return replace(item, status="quarantined", shelf="archive", threats=threats) if threats else item


def _clean_topic(topic: Topic) -> Topic:
    topic = replace(topic, summary=redact_secrets(topic.summary), content=redact_secrets(topic.content))
    found = scan_memory(f"{topic.summary}\n{topic.content}") if topic.status == "active" else ()
    threats = tuple(dict.fromkeys(threat.rule for threat in found))
    return replace(topic, status="quarantined", threats=threats) if threats else topic
