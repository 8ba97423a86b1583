"""Operations: what a person or an agent asks to be done to the block, several at once, all or none.

A person may change everything. An agent may change what it noted itself; what stands on words of more authority it may
at most move out of the block, and what the user asked to remember not even that.

Source: DESIGN section 4; REQUIREMENTS HM-3, HM-4, U-101.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias

from everfold.core.extraction.candidates import clean_candidate
from everfold.core.memory.block import list_block, measure_item_lines, read_char_limit
from everfold.core.memory.items import Candidate, Item, ItemId, ItemKind, Tier
from everfold.core.memory.policy import MemoryPolicy
from everfold.core.merging.decisions import Author, Desk, Known, Merge, plan_merge, take_stepwise
from everfold.core.merging.edits import WRITER_ORIGINS, plan_edit, preview_statement
from everfold.core.primitives.choices import require_choice
from everfold.core.primitives.moments import require_aware
from everfold.core.primitives.origins import AUTHORITY
from everfold.core.primitives.stepwise import finish
from everfold.core.text.ends import find_end
from everfold.errors import ForbiddenError, InvalidInputError, LimitError, NotFoundError

_MOST_PREVIEWS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """Enter a statement."""

    statement: str
    tier: Tier
    item_kind: ItemKind = "fact"
    valid_to: datetime | None = None
    action: Literal["add"] = "add"

    def __post_init__(self) -> None:
        require_choice("tier", self.tier, Tier)
        require_choice("kind", self.item_kind, ItemKind)
        require_aware("valid_to", self.valid_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Give the one item of the block whose statement holds a text another statement."""

    old_text: str
    statement: str
    tier: Tier | None = None
    action: Literal["replace"] = "replace"

    def __post_init__(self) -> None:
        require_choice("tier", self.tier, Tier, or_none=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    """Take the one item of the block whose statement holds a text out of it."""

    old_text: str
    tier: Tier | None = None
    action: Literal["remove"] = "remove"

    def __post_init__(self) -> None:
        require_choice("tier", self.tier, Tier, or_none=True)


Operation: TypeAlias = Add | Replace | Remove


def enter_candidate(add: Add, author: Author) -> Candidate:
    """What an author enters, as a candidate without evidence."""
    return Candidate(
        kind=add.item_kind,
        tier=add.tier,
        statement=add.statement,
        evidence=(),
        origin=WRITER_ORIGINS.get(author.written_by, "assistant"),
        confidence=1.0,
        valid_from=author.now,
        valid_to=add.valid_to or find_end(add.statement, author.now),
        is_explicit=author.written_by == "user",
    )


def plan_add(
    candidate: Candidate, known: Known, *, policy: MemoryPolicy, author: Author, new_ids: Iterator[ItemId]
) -> Merge:
    """What becomes of a statement that a person entered. Over the budget the oldest items move to the archive.

    Raises:
        InvalidInputError: it cannot be taken; says why.
    """
    merge = plan_merge(
        [candidate],
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
    """What becomes of the items when all of the operations are done; the budget counts at the end.

    What is replaced and removed are entries of the block as its reader was shown it, in the order of the operations. Then
    everything is added, and held against what is left: what was removed comes back where it is added too. A text that no
    entry of the block has is looked for among those that were added.

    `known.same` and `known.like` are those of the statements that are added.

    Raises:
        NotFoundError: nothing in the block has a text that was named.
        InvalidInputError: more than one item has it, or a statement cannot be taken.
        ForbiddenError: an item stands on words of more authority than the author's.
        LimitError: the block would be over its budget, and more so than it is.
    """
    desk = Desk(known, author, new_ids)
    finish(desk.index_stepwise())
    named = [one for one in operations if not isinstance(one, Add)]
    later = [one for one in named if not _list_named(desk.items.values(), one, author)]
    changed = [_change_one(desk, one, author) for one in named if one not in later]
    adds = (clean_candidate(enter_candidate(one, author)) for one in operations if isinstance(one, Add))
    merge = finish(take_stepwise(adds, desk, author))
    _require_taken(merge)
    changed += [_change_one(desk, one, author) for one in later]
    _require_budget(known.block, desk.items.values(), policy, author)
    return replace(merge, items=desk.list_changed(), seen=tuple(dict.fromkeys((*merge.seen, *changed))))


def _change_one(desk: Desk, operation: Replace | Remove, author: Author) -> ItemId:
    item = _find_one(desk.items.values(), operation, author)
    desk.put(_change(item, operation, author))
    return item.id


def _find_one(items: Iterable[Item], operation: Replace | Remove, author: Author) -> Item:
    """The one item of the block that an operation names."""
    found = _list_named(items, operation, author)
    whole = [item for item in found if _fold(item.statement) == _fold(operation.old_text)]
    if len(found) > 1 and len(whole) == 1:
        return whole[0]
    if not found:
        raise NotFoundError("no entry contains this text; use words of one of the entries")
    if len(found) > 1:
        previews = "; ".join(f"{preview_statement(item)!r}" for item in found[:_MOST_PREVIEWS])
        raise InvalidInputError(
            f"{len(found)} entries contain this text; use a longer part of the intended one: {previews}"
        )
    return found[0]


def _list_named(items: Iterable[Item], operation: Replace | Remove, author: Author) -> list[Item]:
    """The items of the block whose statement holds the text, as it is written or else in any case."""
    shown = [
        item
        for tier in ("user", "agent")
        if operation.tier in (None, tier)
        for item in list_block(items, tier, now=author.now)
    ]
    wanted = operation.old_text.strip()
    exact = [item for item in shown if wanted and wanted in item.statement]
    return exact or [item for item in shown if wanted and _fold(wanted) in _fold(item.statement)]


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _change(item: Item, operation: Replace | Remove, author: Author) -> Item:
    if isinstance(operation, Replace):
        return plan_edit(item, operation.statement, now=author.now, written_by=author.written_by)
    if AUTHORITY[WRITER_ORIGINS.get(author.written_by, "assistant")] >= item.authority:
        return replace(item, status="expired", valid_to=author.now)
    if item.is_explicit:
        raise ForbiddenError(
            f"item {item.id} is what the user asked to remember; only the user can remove it", item=item.id
        )
    return replace(item, shelf="archive")


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


def _require_budget(before: Sequence[Item], after: Iterable[Item], policy: MemoryPolicy, author: Author) -> None:
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
