"""What becomes of one item that is known: it is edited, forgotten, at its end, or its last change is taken back.

Nothing but an erase removes anything: every other change is a revision that can be taken back.

Source: DESIGN section 4; ADR 21.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from everfold.core.memory.items import Item, ItemId, Writer, identify
from everfold.core.merging.releasing import let_pass, list_open_threats
from everfold.core.primitives.ids import AgentId
from everfold.core.primitives.origins import AUTHORITY, Origin
from everfold.core.text.ends import find_end
from everfold.core.text.words import read_words
from everfold.core.threats.redaction import redact_secrets
from everfold.errors import ConflictError, ForbiddenError, InvalidInputError

WRITER_ORIGINS: Final[dict[Writer, Origin]] = {"user": "user", "agent": "assistant", "import": "user"}
"""Whose words a writer enters. A writer that is missing enters none of its own."""
_PREVIEW_CHARS: Final = 60


def plan_edit(item: Item, statement: str, *, now: datetime, written_by: Writer) -> Item:
    """The item with another statement. Its evidence stays, and so does its authority, or sinks to the writer's.

    What was quarantined for its words is active again where the new ones are clean.

    Raises:
        InvalidInputError: the statement is empty or holds a threat, or the item is no more.
        ForbiddenError: it stands on words of more authority than the writer's.
    """
    if item.status not in ("active", "quarantined"):
        raise InvalidInputError(f"item {item.id} is {item.status}; only an active one can be edited", item=item.id)
    require_authority(item, written_by)
    text = redact_secrets(statement.strip())
    if not read_words(text):
        raise InvalidInputError(f"item {item.id}: the new statement is empty; forget the item instead", item=item.id)
    writer = WRITER_ORIGINS.get(written_by, "assistant")
    _require_clean(text, item.released, writer)
    origin = min(item.origin, writer, key=AUTHORITY.__getitem__)
    released = let_pass(item.released, text, origin=origin) if writer == "user" else item.released
    threats = list_open_threats(text, item.evidence, released, origin=origin)
    edited = replace(
        item,
        statement=text,
        identity=identify(text, tier=item.tier, agent_id=item.agent_id),
        origin=origin,
        last_seen_at=max(now, item.last_seen_at),
        valid_to=find_end(text, now) or (None if _told_its_end(item) else item.valid_to),
        status="quarantined" if threats else "active",
        threats=threats,
        released=released,
    )
    return _revise(edited, item, now=now, written_by=written_by)


def _told_its_end(item: Item) -> bool:
    """Whether the end of an item follows from its words, so that it goes with them."""
    told = [find_end(item.statement, item.last_seen_at), *(find_end(one.quote, one.said_at) for one in item.evidence)]
    return item.valid_to in told


def plan_forget(item: Item, *, now: datetime, written_by: Writer, keeps_identity: bool = True) -> Item:
    """The item without anything that it said. What it had superseded stays superseded.

    Args:
        item: Of any status.
        now: The present moment.
        written_by: Who.
        keeps_identity: A hash of its words stays, and blanks of the length of its quotes at their places, so that a pass
            over the messages in which they still stand does not bring it back; said anew it is a new item. Not when those
            messages are erased.
    """
    places = tuple(one._replace(quote=" " * len(one.quote)) for one in item.evidence)
    gone = replace(
        item,
        statement="",
        evidence=places if keeps_identity else (),
        confidence=0.0,
        status="erased",
        shelf="archive",
        threats=(),
        released=(),
        identity=item.identity if keeps_identity else "",
    )
    return _revise(gone, item, now=now, written_by=written_by)


def plan_undo(
    revisions: Sequence[Item], linked: Sequence[Sequence[Item]] = (), *, now: datetime, written_by: Writer
) -> tuple[Item, ...]:
    """What takes back the last change of an item, the item first; undone twice it is as it was.

    A change is what alters what memory says: that an item was seen again or moved to the archive is none. With it goes
    what the same change did to linked items: what it superseded holds again. An item that was new is superseded by what
    holds again in its place, or is expired where nothing does.

    Args:
        revisions: Every revision of the item, oldest first.
        linked: The same of each item that it superseded, or that superseded it.
        now: The present moment.
        written_by: Who.

    Raises:
        InvalidInputError: the item is erased: there is nothing to bring back.
        ConflictError: what superseded it was changed since; that is to be undone first.
        ForbiddenError: an agent undoes what stands on words of more authority, or what such words replaced.
    """
    last = revisions[-1]
    if last.status == "erased":
        raise InvalidInputError(f"item {last.id} was erased and cannot be restored", item=last.id)
    moment = _changed_at(revisions)
    beside = [rows for rows in linked if _is_linked(rows, last.id) and _changed_at(rows) == moment]
    _require_last(last, linked, beside)
    back = [_bring_back(rows) for rows in beside]
    holds = next((item.id for item in back if item is not None and item.status == "active"), None)
    undone = [_bring_back(revisions) or _retire(last, holds, now)]
    undone += [item or _retire(rows[-1], undone[0].id, now) for rows, item in zip(beside, back, strict=True)]
    newest = [last, *(rows[-1] for rows in beside)]
    if written_by == "agent":
        for item in newest:
            require_authority(item, written_by)
    return tuple(
        _revise(_hold_back(item), was, now=now, written_by=written_by) for item, was in zip(undone, newest, strict=True)
    )


def plan_unsaid(
    unsaid: Sequence[Item], superseded: Sequence[Sequence[Item]], *, now: datetime, written_by: Writer
) -> tuple[Item, ...]:
    """What becomes of items that nothing says any more: they expire, and what they had superseded holds as before.

    Args:
        unsaid: These items, also those that are superseded: what one of them superseded holds again through it.
        superseded: Every revision of each item that one of them superseded and that is still said, oldest first.
        now: The present moment.
        written_by: Who.
    """
    ended = [item for item in unsaid if item.status in ("active", "quarantined")]
    gone = {item.id for item in ended}
    while more := {item.id for item in unsaid if item.superseded_by in gone} - gone:
        gone |= more
    back = [
        (item, rows[-1])
        for rows in superseded
        if rows[-1].superseded_by in gone and (item := _bring_back(rows)) is not None
    ]
    return tuple(
        _revise(_hold_back(item), was, now=now, written_by=written_by)
        for item, was in (*((_retire(item, None, now), item) for item in ended), *back)
    )


def _revise(item: Item, was: Item, *, now: datetime, written_by: Writer) -> Item:
    return replace(item, revision=was.revision + 1, changed_at=now, written_by=written_by)


def require_authority(item: Item, written_by: Writer) -> None:
    """Check that a writer may change an item.

    Raises:
        ForbiddenError: it stands on words of more authority than the writer's.
    """
    if AUTHORITY[WRITER_ORIGINS.get(written_by, "assistant")] < item.authority:
        raise ForbiddenError(
            f"item {item.id} quotes the user, and only the user may change it; add a note instead",
            item=item.id,
        )


def _require_clean(text: str, released: Sequence[str], writer: Origin) -> None:
    if threats := list_open_threats(text, (), released, origin=writer):
        raise InvalidInputError(
            f"the statement was not stored, because the scan found: {', '.join(threats)}; reword it"
        )


# --- undo


def _require_last(item: Item, linked: Sequence[Sequence[Item]], beside: Sequence[Sequence[Item]]) -> None:
    """Check that what superseded an item goes with it, so that not both hold in the end."""
    taken = {rows[-1].id for rows in beside}
    for rows in linked:
        other = rows[-1]
        if item.superseded_by == other.id and other.id not in taken and other.status in ("active", "superseded"):
            raise ConflictError(
                f"item {item.id} was superseded by {other.id}, which was changed since; undo that one first",
                item=item.id,
                superseded_by=other.id,
            )


def _says(item: Item) -> tuple[object, ...]:
    """What memory says by an item."""
    return (
        item.statement,
        item.kind,
        item.tier,
        item.status,
        item.valid_to,
        item.supersedes if item.status == "superseded" else None,
        item.superseded_by,
        item.is_explicit,
    )


def _find_change(revisions: Sequence[Item]) -> int:
    """The newest revision that altered what memory says; 0, where the item was added, when none did since."""
    changes = (at for at in range(len(revisions) - 1, 0, -1) if _says(revisions[at]) != _says(revisions[at - 1]))
    return next(changes, 0)


def _changed_at(revisions: Sequence[Item]) -> datetime:
    return revisions[_find_change(revisions)].changed_at


def _is_linked(revisions: Sequence[Item], item_id: ItemId) -> bool:
    return any(item_id in (item.supersedes, item.superseded_by) for item in revisions) and (
        revisions[-1].status != "erased"
    )


def _bring_back(revisions: Sequence[Item]) -> Item | None:
    """What an item said before its last change, with all the evidence that it has; None where there was nothing.

    What is superseded said something before it was, also where no revision tells of it.
    """
    at, last = _find_change(revisions), revisions[-1]
    if at == 0 and last.status == "superseded":
        return replace(last, status="active", superseded_by=None, valid_to=find_end(last.statement, last.last_seen_at))
    if at == 0:
        return None
    before = revisions[at - 1]
    return replace(before, evidence=last.evidence or before.evidence, last_seen_at=last.last_seen_at, shelf=last.shelf)


def _retire(item: Item, holds: ItemId | None, now: datetime) -> Item:
    """An item that is taken back: superseded by what it had superseded and what holds again, or expired."""
    if holds is None:
        return replace(item, status="expired", valid_to=now)
    return replace(item, status="superseded", supersedes=holds, superseded_by=holds, valid_to=now)


def _hold_back(item: Item) -> Item:
    """An item that holds again is scanned as if it were new."""
    if item.status != "active":
        return item
    threats = list_open_threats(item.statement, item.evidence, item.released, origin=item.origin)
    return replace(item, status="quarantined", threats=threats) if threats else item


def list_links(item: Item) -> tuple[ItemId, ...]:
    """The items that an item names."""
    return tuple(filter(None, (item.supersedes, item.superseded_by)))


def preview_statement(item: Item) -> str:
    """The beginning of a statement, on one line."""
    text = " ".join(item.statement.split())
    return text if len(text) <= _PREVIEW_CHARS else f"{text[: _PREVIEW_CHARS - 1]}…"


def require_revision(item: Item, expected_revision: int | None) -> None:
    """Check that an item is as its reader knew it.

    Raises:
        ConflictError: it is at another revision; says what it says now.
    """
    if expected_revision is not None and item.revision != expected_revision:
        raise ConflictError(
            f"item {item.id} is at revision {item.revision}, expected {expected_revision}; {item.written_by} changed it at "
            f"{item.changed_at:%Y-%m-%d %H:%M}. It is {item.status}: {preview_statement(item)!r}; read it, then decide",
            item=item.id,
            revision=item.revision,
        )


def is_visible(item: Item, agent_id: AgentId | None) -> bool:
    """Whether an agent is given an item; the owner (None) is given all."""
    return agent_id is None or item.tier == "user" or item.agent_id == agent_id
