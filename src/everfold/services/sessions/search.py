"""Search: the messages that answer a question, best first, each with the place where it says so."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from everfold.core.log.messages import Message, Role
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.primitives.choices import require_choices
from everfold.core.primitives.ids import AgentId, SessionId, UserId
from everfold.core.primitives.origins import AUTHORITY, Origin
from everfold.core.text.excerpts import make_excerpt
from everfold.core.text.searching import SearchQuery, plan_query
from everfold.errors import InvalidInputError
from everfold.ports.stores import Hit, Store

MOST_HITS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One message that a search found.

    Attributes:
        excerpt: An exact slice of the message's own text.
        matches: Start and end of each matching word, in code points of the excerpt.
        score: Positive; higher is better; comparable within one search only. 0 from a search that gives the newest.
        authority: How much its origin may decide; see `everfold.core.primitives.origins`.
    """

    session: SessionId
    seq: int
    role: Role
    speaker: str | None
    origin: Origin
    authority: int
    said_at: datetime
    score: float
    excerpt: str
    matches: tuple[tuple[int, int], ...]


def choose_filter(
    *, roles: Collection[Role] = (), since: datetime | None = None, until: datetime | None = None
) -> SearchFilter:
    """The filter of these arguments; nothing given lets every message through.

    Raises:
        InvalidInputError: there is no such role, a time has no zone, or the span holds no moment.
    """
    require_choices("roles", roles, Role)
    return SearchFilter(roles=frozenset(roles), since=since, until=until)


async def search_messages(
    store: Store,
    question: str,
    *,
    user_id: UserId,
    agent_id: AgentId | None = None,
    session_id: SessionId | None = None,
    limit_count: int = 10,
    only: SearchFilter = ANY_MESSAGE,
) -> list[SearchHit]:
    """The best messages of one user for a question that a filter admits, best first.

    Raises:
        InvalidInputError: the count is not between 1 and `MOST_HITS`.
    """
    if not 1 <= limit_count <= MOST_HITS:
        raise InvalidInputError(f"a search gives 1 to {MOST_HITS} hits, got {limit_count}")
    query = plan_query(question)
    hits = await store.search(
        query, user_id=user_id, agent_id=agent_id, session_id=session_id, limit_count=limit_count, only=only
    )
    return await show_hits(store, hits, query)


async def show_hits(store: Store, hits: Sequence[Hit], query: SearchQuery) -> list[SearchHit]:
    """Hits with their excerpts, in their order; those whose message is gone are left out."""
    messages = await _read_hits(store, hits)
    return [
        _to_hit(hit, messages[hit.session_id, hit.seq], query) for hit in hits if (hit.session_id, hit.seq) in messages
    ]


async def _read_hits(store: Store, hits: Sequence[Hit]) -> dict[tuple[SessionId, int], Message]:
    """The messages of the hits, with one read a session."""
    seqs: dict[SessionId, list[int]] = {}
    for hit in hits:
        seqs.setdefault(hit.session_id, []).append(hit.seq)
    return {
        (session_id, message.seq): message
        for session_id, found in seqs.items()
        for message in await store.read_messages(session_id, sorted(found))
    }


def _to_hit(hit: Hit, message: Message, query: SearchQuery) -> SearchHit:
    excerpt = make_excerpt(message.view.text, query)
    return SearchHit(
        session=hit.session_id,
        seq=hit.seq,
        role=message.view.role,
        speaker=message.view.name,
        origin=message.origin,
        authority=AUTHORITY[message.origin],
        said_at=message.said_at,
        score=hit.score,
        excerpt=excerpt.text,
        matches=tuple((start - excerpt.start, end - excerpt.start) for start, end in excerpt.matches),
    )
