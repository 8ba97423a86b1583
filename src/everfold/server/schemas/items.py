"""Items over HTTP."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from everfold.core.log.messages import Message
from everfold.core.memory.items import Evidence, Item, ItemKind, Tier
from everfold.memory import Because
from everfold.server.schemas.schema import Given, GivenName, GivenTime, many, project, wrap
from everfold.services.memory.list_items import ItemPage

_STATEMENT = "The berth costs 17 euros."


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


EvidenceSchema = project(
    "Evidence",
    Evidence,
    "session_id seq start end quote said_at",
    "Where something was said: a slice of the text of one message.",
    words={"start": "In code points.", "quote": "Exactly what stands there."},
    end=(int, lambda one: one.start + len(one.quote), "Exclusive."),
)
ItemSchema = project(
    "Item",
    Item,
    "id revision kind tier agent=agent_id statement quote status origin authority confidence valid_from valid_to "
    "recorded_at last_seen_at changed_at written_by is_block is_explicit supersedes superseded_by evidence threats",
    "One statement that memory keeps.",
    words={
        "revision": "1 for the first; name it in `If-Match`.",
        "statement": "Empty where it is erased.",
        "authority": "How much it may decide: 0 from outside to 4 the operator.",
    },
    evidence=EvidenceSchema,
    quote=(
        str,
        lambda item: item.evidence[-1].quote if item.evidence else "",
        "The newest quote behind it; empty for what was entered by hand.",
    ),
    is_block=(bool, lambda item: item.shelf == "block", "In the text that is always injected; else reached by recall."),
)


class ItemRevisions(NamedTuple):
    """An item with what it was before."""

    item: Item
    revisions: Sequence[Item]


ItemHistorySchema = project(
    "ItemHistory",
    ItemRevisions,
    "revisions",
    base=ItemSchema,
    at="item",
    revisions=ItemSchema,
    words={"revisions": "All there were, oldest first; the last is what it is now."},
)
ItemPageSchema = project(
    "ItemPage",
    ItemPage,
    "items next_cursor=next_id",
    "Items in the order in which memory first had them; of a search the best first.",
    items=ItemSchema,
)
ItemsSchema = wrap("Items", "Some items.", items=many(ItemSchema))
BecauseMessageSchema = project(
    "BecauseMessage", Message, "seq role=view.role text=view.text", "The message that something was said in."
)
BecauseSchema = project(
    "Because",
    Because,
    "message",
    "One place where an item was said.",
    base=EvidenceSchema,
    at="evidence",
    words={"message": "Null where it was erased, or is of another agent than the one that asks."},
    message=BecauseMessageSchema,
)
ReasonsSchema = wrap(
    "Reasons", "Every place where an item was said, oldest first; of what it replaced too.", because=many(BecauseSchema)
)
