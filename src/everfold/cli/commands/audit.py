"""`everfold audit`: who read, wrote and erased memory, and which messages were looked at."""

from typing import Annotated

import typer

from everfold.cli.opening.engine import open_memory, run_async
from everfold.cli.opening.options import MOST_DIGITS, Db, Json, Owner, parse_moment
from everfold.cli.tables.output import print_json, print_table
from everfold.core.memory.records import AuditEntry, Extraction
from everfold.core.primitives.field_types import MOST_WHOLE
from everfold.core.primitives.ids import UserId

NAME = "audit"
_KINDS = ("facts", "preferences", "decisions", "tasks", "open items")


def run(
    context: typer.Context,
    user: Owner = "default",
    before: Annotated[
        str | None,
        typer.Option(
            metavar="DATE|PLACE",
            help="Only entries before this date (2031-05-01), or before the `place` of a page's last entry.",
        ),
    ] = None,
    after: Annotated[
        int, typer.Option(metavar="ORDINAL", min=0, help="With --extractions: continue after this ordinal.")
    ] = 0,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, max=1000, help="How many.")] = 100,
    db: Db = None,
    *,
    extractions: Annotated[
        bool, typer.Option("--extractions", help="List the extractions instead, oldest first.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List reads and changes of a user's memory, newest first: when, by whom, what, and which ids.

    The audit contains ids and counts, never the content of memory. Extractions stay listed after their session is erased.

    Examples:
    - `everfold audit --user ilse --db everfold.db`
    - `everfold audit --before 2031-05-01 -n 20 --json`
    - `everfold audit --extractions --user ilse`
    """
    before_entry = _find_place(before)
    before_at = None if before_entry else parse_moment("--before", before)

    async def act() -> tuple[list[AuditEntry], list[Extraction]]:
        async with open_memory(context, db, user) as memory:
            if extractions:
                return [], await memory.extractions(after=after, limit=count)
            return await memory.audit(before=before_entry or before_at, limit=count), []

    entries, passes = run_async(act)
    if as_json:
        print_json({"extractions": [_to_pass(it) for it in passes]} if extractions else {"audit": _list(entries)})
    elif extractions:
        _print_passes(passes)
    else:
        _print_entries(entries)


def _find_place(text: str | None) -> AuditEntry | None:
    """The entry that a place names, which only its time and its ordinal are known of; None for what is no place."""
    moment, slash, ordinal = (text or "").rpartition("/")
    if not slash or not (ordinal.isascii() and ordinal.isdigit()):
        return None
    at = parse_moment("--before", moment)
    if at is None:
        return None
    place = int(ordinal) if len(ordinal) <= MOST_DIGITS else MOST_WHOLE
    return AuditEntry(at=at, user_id=UserId(""), agent_id=None, actor="", action="read", ordinal=min(place, MOST_WHOLE))


def _list(entries: list[AuditEntry]) -> list[dict[str, object]]:
    return [
        {
            "at": it.at,
            "place": f"{it.at.isoformat()}/{it.ordinal}",
            "actor": it.actor,
            "action": it.action,
            "agent": it.agent_id,
            "about": it.about,
            "counts": dict(it.counts),
        }
        for it in entries
    ]


def _to_pass(extraction: Extraction) -> dict[str, object]:
    return {
        "ordinal": extraction.ordinal,
        "id": extraction.id,
        "made_at": extraction.made_at,
        "agent": extraction.agent_id,
        "session": extraction.session_id,
        "is_session_gone": extraction.is_session_gone,
        "first_seq": extraction.first_seq,
        "last_seq": extraction.last_seq,
        "written_by": extraction.written_by,
        "counts": dict(zip(_KINDS, extraction.counts, strict=True)),
        "refused_count": extraction.refused_count,
        "items": extraction.items,
    }


def _print_entries(entries: list[AuditEntry]) -> None:
    print_table(
        ("at", "actor", "action", "agent", "counts", "about"),
        [
            (
                f"{it.at:%Y-%m-%d %H:%M}",
                it.actor,
                it.action,
                it.agent_id or "",
                _tell(it.counts),
                "\n".join(it.about),
            )
            for it in entries
        ],
    )


def _print_passes(passes: list[Extraction]) -> None:
    print_table(
        ("nr", "at", "agent", "session", "messages", "by", "found"),
        [
            (
                it.ordinal,
                f"{it.made_at:%Y-%m-%d %H:%M}",
                it.agent_id,
                f"{it.session_id} (gone)" if it.is_session_gone else it.session_id,
                f"{it.first_seq}-{it.last_seq}",
                it.written_by,
                _tell([*zip(_KINDS, it.counts, strict=True), ("refused", it.refused_count)]),
            )
            for it in passes
        ],
    )


def _tell(counts: list[tuple[str, int]] | tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts if number)
