"""The audit and extractions over HTTP."""

from typing import NamedTuple

from everfold.core.memory.records import Extraction
from everfold.server.paging import write_place
from everfold.server.schemas.schema import many, project, wrap
from everfold.services.memory.read_audit import Audited, AuditPage


class ExtractionCounts(NamedTuple):
    """How many candidates of each kind."""

    facts: int
    preferences: int
    decisions: int
    tasks: int
    open_items: int


AuditEntrySchema = project(
    "AuditEntry",
    Audited,
    "at=entry.at actor=entry.actor action=entry.action agent=entry.agent_id about=entry.about counts "
    "session_deleted=is_session_gone",
    "One read, write or erase of memory: ids and counts, never what memory says.",
    words={
        "actor": "Who: `key:NAME`, `agent:NAME`, `dreamer`, `extraction`.",
        "agent": "Whose view or notes it was about.",
        "about": "Ids of items, topics, dreams or sessions; the path of a request that read.",
    },
    counts=(dict[str, int], lambda one: dict(one.entry.counts), "What it came to, by name."),
)
AuditPageSchema = project(
    "AuditPage",
    AuditPage,
    "entries next_cursor",
    "Entries from the newest on.",
    entries=AuditEntrySchema,
    next_cursor=(str | None, lambda page: None if page.next_place is None else write_place(page.next_place), ""),
)
ExtractionCountsSchema = project("ExtractionCounts", ExtractionCounts, "facts preferences decisions tasks open_items")
ExtractionSchema = project(
    "Extraction",
    Extraction,
    "id at=made_at agent=agent_id session_id session_deleted=is_session_gone compaction_id first_seq last_seq counts "
    "refused=refused_count items by=written_by",
    words={"by": "`heuristic` or `model`."},
    counts=(ExtractionCountsSchema, lambda one: ExtractionCounts(*one.counts), ""),
)
ExtractionPageSchema = wrap(
    "ExtractionPage", "Extractions from the newest on.", entries=many(ExtractionSchema), next_cursor=str | None
)
