"""Search over HTTP."""

from typing import get_args

from everfold.core.log.messages import Role
from everfold.server.schemas.items import ItemSchema
from everfold.server.schemas.schema import many, project, wrap
from everfold.server.schemas.topics import TopicLineSchema
from everfold.services.memory.explain_recall import RecallExplained, RecallReason
from everfold.services.sessions.search import SearchHit
from everfold.services.sessions.search_all import Found, ItemHit, Place, TopicHit
from everfold.services.sessions.search_users import SearchedUsers, UserHit

ROLES: tuple[Role, ...] = get_args(Role)


def read_places(text: str) -> frozenset[Place]:
    """The places that a text names with commas between."""
    return frozenset(place for place in get_args(Place) if place in text.split(","))


def read_roles(text: str | None) -> frozenset[Role]:
    """The roles that a text names with commas between; none, which means any, where there is no text."""
    return frozenset(role for role in ROLES if role in (text or "").split(","))


FoundMessageSchema = project(
    "FoundMessage",
    SearchHit,
    "session_id=session seq role speaker origin excerpt matches said_at",
    "A message that a search found.",
    words={"speaker": "The name that was sent with it."},
)
MessageHitSchema = project(
    "MessageHit",
    SearchHit,
    "score",
    base=FoundMessageSchema,
    words={"score": "Positive; higher is better; comparable within one search only."},
)
SessionHitsSchema = wrap(
    "SessionHits", "Messages of one session that answer a question, best first.", messages=many(MessageHitSchema)
)
ItemHitSchema = project("ItemHit", ItemHit, "score", base=ItemSchema, at="item")
TopicHitSchema = project("TopicHit", TopicHit, "score", base=TopicLineSchema, at="topic")
HitsSchema = project(
    "Hits",
    Found,
    "messages items topics",
    messages=MessageHitSchema,
    items=ItemHitSchema,
    topics=TopicHitSchema,
)
UserHitSchema = project(
    "UserHit",
    UserHit,
    "user_id=user.id user_name=user.name",
    "A message that was found, and whose it is.",
    base=FoundMessageSchema,
    at="hit",
    words={"user_id": "Whose it is.", "user_name": "Their display name."},
)
SearchedUsersSchema = project(
    "SearchedUsers",
    SearchedUsers,
    "messages=hits users_count next_cursor=next_id",
    "Messages of many users: those of each 500 users newest first.",
    messages=UserHitSchema,
)
RecallReasonSchema = project(
    "RecallReason",
    RecallReason,
    "session_id=session seq role said_at excerpt place share missing verdict",
    "What became of one message that words find.",
    words={
        "place": "Its place in the search, from 1.",
        "share": "Its score beside that of the best one.",
        "missing": "Words of the question that it does not have.",
        "verdict": "`recalled`: the request has it. Else why not: `no_room` is left for it; it is `in_window` already; a "
        "newer refresh `replaced` it; it says nothing by itself (`no_matter`); a digest or standing instruction has the "
        "words that match (`quoted`); it has too `few_words` of the question; better ones took its place (`outranked`).",
    },
)
RecallExplainedSchema = project(
    "RecallExplained",
    RecallExplained,
    "state reasons",
    "What recall makes of a question.",
    words={
        "state": "`on`, or why a turn recalls nothing: recall is `off`, the question `asks_nothing`, or `nothing_folded`.",
    },
    reasons=(many(RecallReasonSchema), lambda told: told.reasons, "The messages that words find, best first."),
)
