"""The audit and extractions over HTTP."""

from collections.abc import Sequence

from pydantic import Field

from everfold.core.items import Writer
from everfold.core.memory import AuditAction, Extraction
from everfold.server.paging import next_cursor, write_place
from everfold.server.shapes.shape import NextCursor, Shape, Time
from everfold.services.read_audit import Audited, AuditPage


class AuditShape(Shape):
    """One read, write or erase of memory: ids and counts, never what memory says."""

    at: Time
    actor: str = Field(description="Who: `key:NAME`, `agent:NAME`, `dreamer`, `extraction`.", examples=["key:ops"])
    action: AuditAction = Field(examples=["write"])
    agent: str | None = Field(description="Whose view or notes it was about.", examples=[None])
    about: list[str] = Field(
        description="Ids of items, topics, dreams or sessions; the path of a request that read.", examples=[["itm_01"]]
    )
    counts: dict[str, int] = Field(description="What it came to, by name.", examples=[{"added": 1}])
    session_deleted: bool | None = Field(
        description="Whether a session that it names was erased; null where it names none.", examples=[None]
    )


class AuditPageShape(Shape):
    """Entries from the newest on."""

    entries: list[AuditShape]
    next_cursor: NextCursor


class ExtractionCounts(Shape):
    """How many findings of each kind."""

    facts: int = Field(examples=[1])
    preferences: int = Field(examples=[0])
    decisions: int = Field(examples=[0])
    tasks: int = Field(examples=[0])
    open_items: int = Field(examples=[0])


class ExtractionShape(Shape):
    """One pass over messages, and what it found."""

    id: str = Field(examples=["ext_01"])
    at: Time
    agent: str = Field(examples=["default"])
    session_id: str = Field(examples=["ses_01"])
    session_deleted: bool = Field(description="The session was erased; what was found in it stays told.")
    event_id: str | None = Field(description="The compaction that it belongs to.", examples=[None])
    first_seq: int = Field(examples=[1])
    last_seq: int = Field(examples=[2])
    counts: ExtractionCounts
    refused: int = Field(description="Findings that were not taken.", examples=[0])
    items: list[str] = Field(description="What it added, or saw again.", examples=[["itm_01"]])
    by: Writer = Field(description="`heuristic` or `model`.", examples=["heuristic"])


class ExtractionPage(Shape):
    """Extractions from the newest on."""

    entries: list[ExtractionShape]
    next_cursor: NextCursor


def show_audit(page: AuditPage) -> AuditPageShape:
    """A page of the audit."""
    place = page.next_place
    return AuditPageShape(
        entries=[_show_entry(one) for one in page.entries], next_cursor=None if place is None else write_place(place)
    )


def _show_entry(audited: Audited) -> AuditShape:
    entry = audited.entry
    return AuditShape(
        at=entry.at,
        actor=entry.actor,
        action=entry.action,
        agent=entry.agent_id,
        about=list(entry.about),
        counts=dict(entry.counts),
        session_deleted=audited.is_session_gone,
    )


def show_extractions(page: Sequence[Extraction], limit: int) -> ExtractionPage:
    """A page of extractions; `limit` is what was asked for."""
    cursor = next_cursor(page, limit, str(page[-1].ordinal)) if page else None
    return ExtractionPage(entries=[_show_extraction(one) for one in page], next_cursor=cursor)


def _show_extraction(one: Extraction) -> ExtractionShape:
    facts, preferences, decisions, tasks, open_items = one.counts
    return ExtractionShape(
        id=one.id,
        at=one.made_at,
        agent=one.agent_id,
        session_id=one.session_id,
        session_deleted=one.is_session_gone,
        event_id=one.event_id,
        first_seq=one.first_seq,
        last_seq=one.last_seq,
        counts=ExtractionCounts(
            facts=facts, preferences=preferences, decisions=decisions, tasks=tasks, open_items=open_items
        ),
        refused=one.refused_count,
        items=list(one.items),
        by=one.written_by,
    )
