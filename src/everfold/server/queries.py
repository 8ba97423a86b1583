"""What routes read from their paths and queries, each with the words that the reference says of it."""

from typing import Annotated, Literal

from fastapi import Path, Query

from everfold.core.memory.items import ItemKind, ItemStatus, Tier
from everfold.core.memory.records import AuditAction

ItemText = Annotated[str, Path(description="The item's id.", examples=["itm_01"])]
TopicText = Annotated[str, Path(description="The topic's name.", examples=["work"])]
KeyText = Annotated[str, Path(description="The API key's id.", examples=["key_01"])]
SourceText = Annotated[str, Path(description="The source's name in the settings.", examples=["calendar"])]
DreamText = Annotated[str, Path(description="The dream's id.", examples=["drm_01"])]

NameQuery = Annotated[
    str, Query(max_length=200, description="Only users whose name has this in it, in any case.", examples=["ad"])
]
TierQuery = Annotated[Tier | None, Query(description="Only this tier.", examples=["user"])]
AgentQuery = Annotated[
    str | None, Query(min_length=1, description="Only what this agent is given.", examples=["default"])
]
KindQuery = Annotated[ItemKind | None, Query(description="Only this kind.", examples=["fact"])]
StatusQuery = Annotated[ItemStatus | Literal["all"], Query(description="Only this status, or all of them.")]
TextQuery = Annotated[
    str,
    Query(
        max_length=4_000,
        description="Active items that answer it, best first and on one page; of another status those that have it in them.",
        examples=["berth"],
    ),
]
ActionQuery = Annotated[AuditAction | None, Query(description="Only this.", examples=["wipe"])]
Transcripts = Annotated[bool, Query(description="All of their sessions and messages too.")]
