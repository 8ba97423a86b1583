"""Read the audit: its entries from the newest on, each with whether a session that it names is gone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from everfold.core.memory.records import AuditAction, AuditEntry, AuditPlace
from everfold.core.primitives.choices import require_choice
from everfold.core.primitives.ids import SessionId, UserId
from everfold.core.primitives.moments import require_aware
from everfold.ports.stores import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """One entry.

    Attributes:
        is_session_gone: Whether a session that it names was erased; None where it names none.
    """

    entry: AuditEntry
    is_session_gone: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """Entries, and the place that the next page goes on from; None where there is none."""

    entries: tuple[Audited, ...]
    next_place: AuditPlace | None = None


async def read_audit(
    store: Store,
    user_id: UserId,
    *,
    action: AuditAction | None,
    before: AuditPlace | None,
    limit_count: int,
    since: datetime | None = None,
) -> AuditPage:
    """Entries of a user from the newest on, of one action and not before a moment where these are given.

    Raises:
        InvalidInputError: there is no such action, or a moment has no time zone.
    """
    require_choice("action", action, AuditAction, or_none=True)
    require_aware("since", since)
    require_aware("until", before.at if before else None)
    entries = await store.list_audit(user_id, action=action, before=before, limit_count=limit_count)
    wanted = [entry for entry in entries if since is None or entry.at >= since]
    has_more = len(entries) == limit_count == len(wanted)
    return AuditPage(
        entries=await _tell_sessions(store, wanted),
        next_place=AuditPlace(wanted[-1].at, wanted[-1].ordinal) if has_more else None,
    )


async def _tell_sessions(store: Store, entries: Sequence[AuditEntry]) -> tuple[Audited, ...]:
    named = dict.fromkeys(SessionId(id_) for entry in entries for id_ in entry.about)
    used = await store.list_used(list(named)) if named else {}
    told: list[Audited] = []
    for entry in entries:
        is_there = [used[SessionId(id_)] for id_ in entry.about if id_ in used]
        told.append(Audited(entry=entry, is_session_gone=not all(is_there) if is_there else None))
    return tuple(told)
