"""Items over HTTP."""

from collections.abc import Sequence

from pydantic import Field

from everfold.core.items import Evidence, Item, ItemKind, ItemStatus, Tier, Writer
from everfold.core.messages import Role
from everfold.core.origins import Origin
from everfold.memory import Because
from everfold.server.shapes.shape import Given, GivenName, GivenTime, NextCursor, Shape, Time
from everfold.services.list_items import ItemPage

_STATEMENT = "The berth costs 17 euros."


class EvidenceShape(Shape):
    """Where something was said: a slice of the text of one message."""

    session_id: str = Field(examples=["ses_01"])
    seq: int = Field(examples=[4])
    start: int = Field(description="In code points.", examples=[0])
    end: int = Field(description="Exclusive.", examples=[25])
    quote: str = Field(description="Exactly what stands there.", examples=[_STATEMENT])
    said_at: Time


class ItemShape(Shape):
    """One statement that memory keeps."""

    id: str = Field(examples=["itm_01"])
    revision: int = Field(description="1 for the first; name it in `If-Match`.", examples=[1])
    kind: ItemKind = Field(examples=["fact"])
    tier: Tier = Field(
        description="`user`: shared by all their agents; `agent`: what one agent noted.", examples=["user"]
    )
    agent: str = Field(description="Who noted it.", examples=["default"])
    statement: str = Field(description="Empty where it is erased.", examples=[_STATEMENT])
    quote: str = Field(description="The newest quote behind it; empty for what was entered by hand.", examples=[""])
    status: ItemStatus = Field(description="Only active ones are ever shown to a model.", examples=["active"])
    origin: Origin = Field(description="The lowest of whatever it was made of.", examples=["user"])
    authority: int = Field(description="How much it may decide: 0 from outside to 4 the operator.", examples=[3])
    confidence: float = Field(examples=[0.9])
    valid_from: Time
    valid_to: Time | None = Field(description="Until when it is so; null where no end is known.")
    recorded_at: Time = Field(description="When memory first had it.")
    last_seen_at: Time = Field(description="When it was last said, or entered.")
    changed_at: Time = Field(description="When this revision was made.")
    written_by: Writer = Field(description="Who made this revision.", examples=["user"])
    is_block: bool = Field(description="In the text that is always injected; else reached by recall.", examples=[True])
    is_explicit: bool = Field(description="The person asked to remember it.", examples=[False])
    supersedes: str | None = Field(description="The item that it replaced.", examples=[None])
    superseded_by: str | None = Field(description="The item that replaced it.", examples=[None])
    evidence: list[EvidenceShape] = Field(description="Where it was said, oldest first.")
    threats: list[str] = Field(description="What a scan found; it is quarantined then.", examples=[[]])


class ItemHistory(ItemShape):
    """An item with what it was before."""

    revisions: list[ItemShape] = Field(description="All there were, oldest first; the last is what it is now.")


class ItemPageShape(Shape):
    """Items in the order in which memory first had them; of a search the best first."""

    items: list[ItemShape]
    next_cursor: NextCursor


class Items(Shape):
    """Some items."""

    items: list[ItemShape]


class NewItem(Given):
    """Something to be remembered, word for word."""

    statement: str = Field(
        min_length=1, description="One or two sentences that can be understood alone.", examples=[_STATEMENT]
    )
    kind: ItemKind = Field(default="fact", examples=["fact"])
    tier: Tier = Field(default="user", examples=["user"])
    agent: GivenName | None = Field(
        default=None, description="Whose note it is, of the tier `agent`.", examples=["default"]
    )
    valid_to: GivenTime | None = Field(
        default=None, description="When it ceases to be so.", examples=["2031-05-01T00:00:00Z"]
    )


class ItemChange(Given):
    """What an item is to say from now on."""

    statement: str = Field(min_length=1, examples=["The berth costs 19 euros."])


class BecauseMessage(Shape):
    """The message that something was said in."""

    seq: int = Field(examples=[4])
    role: Role = Field(examples=["user"])
    text: str = Field(examples=[f"Remember: {_STATEMENT}"])


class BecauseShape(EvidenceShape):
    """One place where an item was said."""

    message: BecauseMessage | None = Field(
        description="Null where it was erased, or is of another agent than the one that asks."
    )


class Reasons(Shape):
    """Every place where an item was said, oldest first; of what it replaced too."""

    because: list[BecauseShape]


def show_item(item: Item) -> ItemShape:
    """An item as it is in one revision."""
    return ItemShape(
        id=item.id,
        revision=item.revision,
        kind=item.kind,
        tier=item.tier,
        agent=item.agent_id,
        statement=item.statement,
        quote=item.evidence[-1].quote if item.evidence else "",
        status=item.status,
        origin=item.origin,
        authority=item.authority,
        confidence=item.confidence,
        valid_from=item.valid_from,
        valid_to=item.valid_to,
        recorded_at=item.recorded_at,
        last_seen_at=item.last_seen_at,
        changed_at=item.changed_at,
        written_by=item.written_by,
        is_block=item.shelf == "block",
        is_explicit=item.is_explicit,
        supersedes=item.supersedes,
        superseded_by=item.superseded_by,
        evidence=[_show_evidence(one) for one in item.evidence],
        threats=list(item.threats),
    )


def show_history(revisions: Sequence[Item]) -> ItemHistory:
    """An item from all its revisions, oldest first."""
    shown = [show_item(item) for item in revisions]
    return ItemHistory(**dict(shown[-1]), revisions=shown)


def show_items(items: Sequence[Item]) -> Items:
    """Items in their order."""
    return Items(items=[show_item(item) for item in items])


def show_page(page: ItemPage) -> ItemPageShape:
    """A page of items."""
    return ItemPageShape(items=[show_item(item) for item in page.items], next_cursor=page.next_id)


def show_reasons(found: Sequence[Because]) -> Reasons:
    """The places where an item was said."""
    return Reasons(because=[_show_because(because) for because in found])


def _show_because(because: Because) -> BecauseShape:
    message = because.message
    return BecauseShape(
        **dict(_show_evidence(because.evidence)),
        message=None
        if message is None
        else BecauseMessage(seq=message.seq, role=message.view.role, text=message.view.text),
    )


def _show_evidence(one: Evidence) -> EvidenceShape:
    return EvidenceShape(
        session_id=one.session_id,
        seq=one.seq,
        start=one.start,
        end=one.start + len(one.quote),
        quote=one.quote,
        said_at=one.said_at,
    )
