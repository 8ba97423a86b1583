"""Memory as bytes: one JSON value for each revision, dream, extraction and audit entry.

Strings keep every code point, lone surrogates too; moments keep their microseconds and their offset.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from everfold.core.memory.items import Evidence, Item
from everfold.core.memory.records import AuditEntry, Extraction, RecallShown, TurnMoment, TurnRecall
from everfold.core.memory.topics import Dream, Topic


def item_to_bytes(item: Item) -> bytes:
    """One revision of an item as JSON."""
    return _to_bytes(asdict(item))


def item_from_bytes(content: bytes) -> Item:
    """The revision that `item_to_bytes` wrote."""
    value = json.loads(_to_text(content))
    for name in ("valid_from", "recorded_at", "last_seen_at", "changed_at"):
        value[name] = datetime.fromisoformat(value[name])
    value["valid_to"] = _find_moment(value["valid_to"])
    value["evidence"] = tuple(
        Evidence(*row)._replace(said_at=datetime.fromisoformat(row[-1])) for row in value["evidence"]
    )
    value["threats"] = tuple(value["threats"])
    value["released"] = tuple(value.get("released", ()))
    return Item(**value)


def topic_to_bytes(topic: Topic) -> bytes:
    """One revision of a topic as JSON."""
    return _to_bytes(asdict(topic))


def topic_from_bytes(content: bytes) -> Topic:
    """The revision that `topic_to_bytes` wrote."""
    value = json.loads(_to_text(content))
    value["updated_at"] = datetime.fromisoformat(value["updated_at"])
    value["expires_at"] = _find_moment(value["expires_at"])
    value["sources"] = tuple(value["sources"])
    value["threats"] = tuple(value["threats"])
    return Topic(**value)


def dream_to_bytes(dream: Dream) -> bytes:
    """A dream as JSON, without its topics: they are stored apart, so that one of them can be forgotten."""
    value = asdict(dream)
    del value["topics"]
    return _to_bytes(value)


def dream_from_bytes(content: bytes, topics: Sequence[Topic]) -> Dream:
    """The dream that `dream_to_bytes` wrote, with the topics that are left of it."""
    value = json.loads(_to_text(content))
    value["begun_at"] = datetime.fromisoformat(value["begun_at"])
    value["ended_at"] = _find_moment(value["ended_at"])
    value["items"] = tuple(value["items"])
    return Dream(topics=tuple(topics), **value)


def extraction_to_bytes(extraction: Extraction) -> bytes:
    """An extraction as JSON, without the store's own fields: its ordinal, and whether its session was erased."""
    value = asdict(extraction)
    del value["ordinal"], value["is_session_gone"]
    return _to_bytes(value)


def extraction_from_bytes(content: bytes, *, ordinal: int, is_session_gone: bool) -> Extraction:
    """The extraction that `extraction_to_bytes` wrote."""
    value = json.loads(_to_text(content))
    value["made_at"] = datetime.fromisoformat(value["made_at"])
    value["items"] = tuple(value["items"])
    value["counts"] = tuple(value["counts"])
    return Extraction(ordinal=ordinal, is_session_gone=is_session_gone, **value)


def turn_recall_to_bytes(shown: TurnRecall) -> bytes:
    """What a turn shows beside the log, as JSON."""
    return _to_bytes({"turn": list(shown.turn), "delta": shown.delta, **asdict(shown.recalled)})


def turn_recall_from_bytes(content: bytes) -> TurnRecall:
    """What `turn_recall_to_bytes` wrote."""
    value = json.loads(_to_text(content))
    recalled = RecallShown(text=value["text"], entries=tuple(value["entries"]))
    return TurnRecall(TurnMoment(*value["turn"]), value["delta"], recalled)


def audit_to_bytes(entry: AuditEntry) -> bytes:
    """An audit entry as JSON, without its ordinal, which the store gives."""
    value = asdict(entry)
    del value["ordinal"]
    return _to_bytes(value)


def audit_from_bytes(content: bytes, *, ordinal: int = 0) -> AuditEntry:
    """The entry that `audit_to_bytes` wrote."""
    value = json.loads(_to_text(content))
    value["at"] = datetime.fromisoformat(value["at"])
    value["about"] = tuple(value["about"])
    value["counts"] = tuple((name, count) for name, count in value["counts"])
    return AuditEntry(ordinal=ordinal, **value)


def _to_bytes(value: dict[str, object]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_write_moment)
    return text.encode("utf-8", "surrogatepass")


def _to_text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _write_moment(moment: datetime) -> str:
    return moment.isoformat()


def _find_moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
