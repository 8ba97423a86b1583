"""Search users: the messages of many users that hold every word of a question, for operators."""

from collections.abc import Sequence
from dataclasses import dataclass

from everfold.core.access.users import User
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.primitives.ids import AgentId, UserId
from everfold.core.text.searching import SearchQuery, plan_every_query
from everfold.ports.stores import FoundMessage, Hit, Store
from everfold.services.access.users import Users
from everfold.services.sessions.search import SearchHit, show_hits

USERS_PER_LOOK = 500
"""How many users one query of the store looks through: some 30 ms on SQLite and 60 on PostgreSQL for a word that was never said.

Source: own measurement, docs/reference/scaling.md, with all pages in memory.
"""

LOOKS_PER_SEARCH = 4
"""How many such queries one search makes, unless it has found enough before. Source: own choice, a quarter of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserHit:
    """A message that was found, and whose it is."""

    user: User
    hit: SearchHit


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedUsers:
    """What a search over all users found among the next of them.

    Attributes:
        hits: Those of each 500 users newest first.
        users_count: How many users were looked through.
        next_id: The user after whom to go on; None where all were looked through.
    """

    hits: tuple[UserHit, ...]
    users_count: int
    next_id: str | None


async def search_users(
    store: Store,
    users: Users,
    question: str,
    *,
    after: UserId | None,
    agent_id: AgentId | None,
    limit_count: int,
    only: SearchFilter = ANY_MESSAGE,
) -> SearchedUsers:
    """Look through the next users for messages that hold every word, until enough are found or enough users looked through."""
    query = plan_every_query(question)
    hits, users_count = list[UserHit](), 0
    for _ in range(LOOKS_PER_SEARCH):
        page = await users.list_page("", after=after, limit_count=USERS_PER_LOOK)
        users_count += len(page)
        found = await store.search_users(
            query,
            user_ids=[user.id for user in page],
            agent_id=agent_id,
            limit_count=limit_count - len(hits),
            only=only,
        )
        hits += await _show(store, query, page, found)
        after = page[-1].id if len(page) == USERS_PER_LOOK else None
        if after is None or len(hits) == limit_count:
            break
    return SearchedUsers(hits=tuple(hits), users_count=users_count, next_id=after)


async def _show(
    store: Store, query: SearchQuery, users: Sequence[User], found: Sequence[FoundMessage]
) -> list[UserHit]:
    """The messages with their users and excerpts, newest first. Scores would not compare: each user has words of their own."""
    by_id = {user.id: user for user in users}
    owners = {one.session_id: by_id[one.user_id] for one in found}
    places = [Hit(session_id=one.session_id, seq=one.seq, score=0.0) for one in found]
    newest = sorted(await show_hits(store, places, query), key=lambda hit: hit.said_at, reverse=True)
    return [UserHit(user=owners[hit.session], hit=hit) for hit in newest]
