"""What a person, an agent or the passing of time does to items that are known.

A person may change everything. An agent may change what it noted itself; what stands on words of more authority it may
at most move out of the block, and what the user asked to remember not even that. Nothing but an erase removes anything:
every other change is a revision that can be taken back.

Source: DESIGN section 4; REQUIREMENTS HM-3, HM-4, U-101.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

from everfold.core.findings import clean_finding, list_item_threats
from everfold.core.items import Finding, Item, ItemId, ItemKind, Tier, Writer, identify
from everfold.core.ledger import Author, Desk, Known, Merge, plan_merge
from everfold.core.memory_block import list_block, measure_item_lines, read_char_limit
from everfold.core.memory_policy import MemoryPolicy
from everfold.core.origins import AUTHORITY, Origin
from everfold.core.redaction import redact_secrets
from everfold.core.sessions import AgentId
from everfold.core.words import read_words
from everfold.errors import ConflictError, ForbiddenError, InvalidInputError, LimitError, NotFoundError

WRITER_ORIGINS: Final[dict[Writer, Origin]] = {"user": "user", "agent": "assistant", "import": "user"}
"""Whose words a writer enters. A writer that is missing enters none of its own."""
_MOST_PREVIEWS: Final = 6
_PREVIEW_CHARS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Enter a statement."""

    statement: str
    tier: Tier
    item_kind: ItemKind = "fact"
    valid_to: datetime | None = None
    action: Literal["add"] = "add"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Give the one item of the block whose statement holds a text another statement."""

    old_text: str
    statement: str
    tier: Tier | None = None
    action: Literal["replace"] = "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Take the one item of the block whose statement holds a text out of it."""

    old_text: str
    tier: Tier | None = None
    action: Literal["remove"] = "remove"


Operation: TypeAlias = Add | Replace | Remove


def enter_finding(add: Add, author: Author) -> Finding:
    """What an author enters, as a finding without evidence."""
    return Finding(
        kind=add.item_kind,
        tier=add.tier,
        statement=add.statement,
        evidence=(),
        origin=WRITER_ORIGINS.get(author.written_by, "assistant"),
        confidence=1.0,
        valid_from=author.now,
        valid_to=add.valid_to,
        is_explicit=author.written_by == "user",
    )


def plan_add(
    finding: Finding, known: Known, *, policy: MemoryPolicy, author: Author, new_ids: Iterator[ItemId]
) -> Merge:
    """What becomes of a statement that somebody entered. Over the budget the oldest items move to the archive.

    Raises:
        InvalidInputError: it cannot be taken; says why.
    """
    merge = plan_merge(
        [finding],
        known,
        policy=policy,
        user_id=author.user_id,
        agent_id=author.agent_id,
        now=author.now,
        new_ids=new_ids,
        written_by=author.written_by,
    )
    _require_taken(merge)
    return merge


def plan_operations(
    operations: Sequence[Operation], known: Known, *, policy: MemoryPolicy, author: Author, new_ids: Iterator[ItemId]
) -> Merge:
    """What becomes of the items when all of the operations are done in their order; the budget counts at the end.

    `known.same` and `known.like` are those of the statements that are added.

    Raises:
        NotFoundError: nothing in the block has a text that was named.
        InvalidInputError: more than one item has it, or a statement cannot be taken.
        ForbiddenError: an item stands on words of more authority than the author's.
        LimitError: the block would be over its budget, and more so than it is.
    """
    merge = _add_all([one for one in operations if isinstance(one, Add)], known, author, new_ids)
    desk = Desk(known, author, iter(()))
    for item in merge.items:
        desk.put(item)
    changed: list[ItemId] = []
    for operation in operations:
        if not isinstance(operation, Add):
            item = _find_one(desk.items.values(), operation, author)
            desk.put(_change(item, operation, author))
            changed.append(item.id)
    _require_room(known.block, desk.items.values(), policy, author)
    return replace(merge, items=desk.list_changed(), seen=tuple(dict.fromkeys((*merge.seen, *changed))))


def plan_edit(item: Item, statement: str, *, now: datetime, written_by: Writer) -> Item:
    """The item with another statement. Its evidence stays, and so does its authority, or sinks to the writer's.

    What was quarantined for its words is active again where the new ones are clean.

    Raises:
        InvalidInputError: the statement is empty or holds a threat, or the item is no more.
        ForbiddenError: it stands on words of more authority than the writer's.
    """
    if item.status not in ("active", "quarantined"):
        raise InvalidInputError(f"item {item.id} is {item.status}; only an active one can be edited", item=item.id)
    _require_authority(item, written_by)
    text = redact_secrets(statement.strip())
    if not read_words(text):
        raise InvalidInputError(f"item {item.id}: the new statement is empty; forget the item instead", item=item.id)
    _require_clean(text)
    threats = list_item_threats(text, item.evidence)
    origin = min(item.origin, WRITER_ORIGINS.get(written_by, "assistant"), key=AUTHORITY.__getitem__)
    edited = replace(
        item,
        statement=text,
        identity=identify(text, tier=item.tier, agent_id=item.agent_id),
        origin=origin,
        last_seen_at=max(now, item.last_seen_at),
        status="quarantined" if threats else "active",
        threats=threats,
    )
    return _revise(edited, item, now=now, written_by=written_by)


def plan_forget(item: Item, *, now: datetime, written_by: Writer, keeps_identity: bool = True) -> Item:
    """The item without anything that it said. What it had superseded stays superseded.

    Args:
        item: Of any status.
        now: The present moment.
        written_by: Who.
        keeps_identity: A hash of its words stays, so that a pass over the messages in which they still stand does not
            bring it back; said anew it is a new item. Not when those messages are erased.
    """
    gone = replace(
        item,
        statement="",
        evidence=(),
        confidence=0.0,
        status="erased",
        shelf="archive",
        threats=(),
        identity=item.identity if keeps_identity else "",
    )
    return _revise(gone, item, now=now, written_by=written_by)


def plan_expiry(items: Iterable[Item], *, now: datetime, written_by: Writer) -> tuple[Item, ...]:
    """The revisions of those of the items that are active and past their end: they expire."""
    return tuple(
        _revise(replace(item, status="expired"), item, now=now, written_by=written_by)
        for item in items
        if item.status == "active" and not item.is_current(now)
    )


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
    """
    last = revisions[-1]
    if last.status == "erased":
        raise InvalidInputError(f"item {last.id} is erased, and nothing of it is left to bring back", item=last.id)
    at = _find_change(revisions)
    moment = revisions[at].changed_at
    beside = [rows for rows in linked if _is_linked(rows, last.id) and _changed_at(rows) == moment]
    back = [_bring_back(rows) for rows in beside]
    holds = next((item.id for item in back if item is not None and item.status == "active"), None)
    undone = [_bring_back(revisions) or _retire(last, holds, now)]
    undone += [item or _retire(rows[-1], undone[0].id, now) for rows, item in zip(beside, back, strict=True)]
    newest = [last, *(rows[-1] for rows in beside)]
    return tuple(
        _revise(_hold_back(item), was, now=now, written_by=written_by) for item, was in zip(undone, newest, strict=True)
    )


def _revise(item: Item, was: Item, *, now: datetime, written_by: Writer) -> Item:
    return replace(item, revision=was.revision + 1, changed_at=now, written_by=written_by)


# --- operations


def _add_all(adds: Sequence[Add], known: Known, author: Author, new_ids: Iterator[ItemId]) -> Merge:
    """All that is added, as if there were no budget."""
    unbounded = MemoryPolicy(user_char_limit=_UNBOUNDED, agent_char_limit=_UNBOUNDED)
    merge = plan_merge(
        [clean_finding(enter_finding(one, author)) for one in adds],
        known,
        policy=unbounded,
        user_id=author.user_id,
        agent_id=author.agent_id,
        now=author.now,
        new_ids=new_ids,
        written_by=author.written_by,
    )
    _require_taken(merge)
    return merge


_UNBOUNDED: Final = 2**62


def _find_one(items: Iterable[Item], operation: Replace | Remove, author: Author) -> Item:
    """The one item of the block whose statement holds the text, as it is written or else in any case."""
    shown = [
        item
        for tier in ("user", "agent")
        if operation.tier in (None, tier)
        for item in list_block(items, tier, now=author.now)
    ]
    wanted = operation.old_text.strip()
    exact = [item for item in shown if wanted and wanted in item.statement]
    found = exact or [item for item in shown if wanted and _fold(wanted) in _fold(item.statement)]
    whole = [item for item in found if _fold(item.statement) == _fold(wanted)]
    if len(found) > 1 and len(whole) == 1:
        return whole[0]
    if not found:
        raise NotFoundError("no entry has this text; use words that stand in one of the entries")
    if len(found) > 1:
        previews = "; ".join(f"{preview_statement(item)!r}" for item in found[:_MOST_PREVIEWS])
        raise InvalidInputError(f"{len(found)} entries have this text; use more of the one that is meant: {previews}")
    return found[0]


def preview_statement(item: Item) -> str:
    """The beginning of a statement, on one line."""
    text = " ".join(item.statement.split())
    return text if len(text) <= _PREVIEW_CHARS else f"{text[: _PREVIEW_CHARS - 1]}…"


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _change(item: Item, operation: Replace | Remove, author: Author) -> Item:
    if isinstance(operation, Replace):
        return plan_edit(item, operation.statement, now=author.now, written_by=author.written_by)
    if AUTHORITY[WRITER_ORIGINS.get(author.written_by, "assistant")] >= item.authority:
        return replace(item, status="expired", valid_to=author.now)
    if item.is_explicit:
        raise ForbiddenError(
            f"item {item.id} is what the user asked to remember; only the user can take it out", item=item.id
        )
    return replace(item, shelf="archive")


def _require_authority(item: Item, written_by: Writer) -> None:
    if AUTHORITY[WRITER_ORIGINS.get(written_by, "assistant")] < item.authority:
        raise ForbiddenError(
            f"item {item.id} stands on the user's own words, which only the user changes; add a note beside it",
            item=item.id,
        )


def _require_clean(text: str) -> None:
    if threats := list_item_threats(text):
        raise InvalidInputError(
            f"the statement was not stored, since a scan found in it: {', '.join(threats)}; say it in other words"
        )


_WHY: Final = {
    "empty": "it says nothing",
    "unquoted": "no message says it",
    "machine_word": "what the user prefers and decides is taken from the user's own words only",
    "outranked": "it is known already, from the user",
    "forgotten": "it was erased",
    "threat": "a scan held it back",
}


def _require_taken(merge: Merge) -> None:
    for refusal in merge.refusals:
        if refusal.reason != "outranked":
            raise InvalidInputError(f"the statement was not stored: {_WHY[refusal.reason]}")


def _require_room(before: Sequence[Item], after: Iterable[Item], policy: MemoryPolicy, author: Author) -> None:
    own = [item for item in after if item.tier == "user" or item.agent_id == author.agent_id]
    for tier in ("user", "agent"):
        had_chars = measure_item_lines(list_block(before, tier, now=author.now))
        needed_chars = measure_item_lines(list_block(own, tier, now=author.now))
        limit_chars = read_char_limit(policy, tier)
        if needed_chars > limit_chars and needed_chars > had_chars:
            raise LimitError(
                f"the {tier} memory would have {needed_chars} of {limit_chars} characters; replace or remove entries "
                f"of at least {needed_chars - limit_chars} characters in the same batch, or before",
                needed_chars=needed_chars,
                limit_chars=limit_chars,
            )


# --- undo


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
    """What an item said before its last change, with all the evidence that it has; None where there was nothing."""
    at = _find_change(revisions)
    if at == 0:
        return None
    last, before = revisions[-1], revisions[at - 1]
    return replace(before, evidence=last.evidence or before.evidence, last_seen_at=last.last_seen_at, shelf=last.shelf)


def _retire(item: Item, holds: ItemId | None, now: datetime) -> Item:
    if holds is None:
        return replace(item, status="expired", valid_to=now)
    return replace(item, status="superseded", superseded_by=holds, valid_to=now)


def _hold_back(item: Item) -> Item:
    """An item that holds again is scanned as if it were new."""
    threats = list_item_threats(item.statement, item.evidence) if item.status == "active" else item.threats
    return replace(item, status="quarantined", threats=threats) if threats and item.status == "active" else item


def list_links(item: Item) -> tuple[ItemId, ...]:
    """The items that an item names."""
    return tuple(filter(None, (item.supersedes, item.superseded_by)))


def require_revision(item: Item, expected_revision: int | None) -> None:
    """Check that an item is as its reader knew it.

    Raises:
        ConflictError: it is at another revision; says what it says now.
    """
    if expected_revision is not None and item.revision != expected_revision:
        raise ConflictError(
            f"item {item.id} is at revision {item.revision}, expected {expected_revision}: it was changed elsewhere "
            f"({item.written_by}, {item.changed_at:%Y-%m-%d %H:%M}) and is {item.status} now: "
            f"{preview_statement(item)!r}; look at it again, then decide",
            item=item.id,
            revision=item.revision,
        )


def is_visible(item: Item, agent_id: AgentId | None) -> bool:
    """Whether an agent is given an item; the owner (None) is given all."""
    return agent_id is None or item.tier == "user" or item.agent_id == agent_id
