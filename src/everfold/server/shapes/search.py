"""Search over HTTP."""

from typing import get_args

from pydantic import Field

from everfold.core.messages import Role
from everfold.core.origins import Origin
from everfold.server.shapes.items import ItemShape, show_item
from everfold.server.shapes.shape import Shape, Time
from everfold.server.shapes.topics import TopicLine, show_topic_line
from everfold.services.search import SearchHit
from everfold.services.search_all import Found, Place

_SCORE = "Higher is better; comparable within one list of one search."


class MessageHit(Shape):
    """A message that answers."""

    session_id: str = Field(examples=["ses_01"])
    seq: int = Field(examples=[4])
    role: Role = Field(examples=["user"])
    speaker: str | None = Field(description="The name that was sent with it.", examples=[None])
    origin: Origin = Field(examples=["user"])
    excerpt: str = Field(description="An exact slice of its text.", examples=["The berth costs 17 euros."])
    matches: list[tuple[int, int]] = Field(
        description="Start and end of each matching word, in code points of the excerpt.", examples=[[[4, 9]]]
    )
    score: float = Field(description=_SCORE, examples=[3.1])
    said_at: Time


class ItemHit(ItemShape):
    """An item that answers."""

    score: float = Field(description=_SCORE, examples=[3.1])


class TopicHit(TopicLine):
    """A topic that answers."""

    score: float = Field(description=_SCORE, examples=[3.1])


class Hits(Shape):
    """What answers a question, each list best first; empty where it was not asked for."""

    messages: list[MessageHit]
    items: list[ItemHit]
    topics: list[TopicHit]


def read_places(text: str) -> frozenset[Place]:
    """The places that a text names with commas between."""
    return frozenset(place for place in get_args(Place) if place in text.split(","))


def show_hits(found: Found) -> Hits:
    """What a search found."""
    return Hits(
        messages=[_show_message(hit) for hit in found.messages],
        items=[ItemHit(**dict(show_item(item)), score=score) for item, score in found.items],
        topics=[TopicHit(**dict(show_topic_line(topic)), score=score) for topic, score in found.topics],
    )


def _show_message(hit: SearchHit) -> MessageHit:
    return MessageHit(
        session_id=hit.session,
        seq=hit.seq,
        role=hit.role,
        speaker=hit.speaker,
        origin=hit.origin,
        excerpt=hit.excerpt,
        matches=list(hit.matches),
        score=hit.score,
        said_at=hit.said_at,
    )
