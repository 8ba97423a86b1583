"""Search users: the messages of many users that answer a question, for operators. Each user is searched apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

from everfold.core.access.users import User
from everfold.core.log.search_filters import ANY_MESSAGE, SearchFilter
from everfold.core.primitives.ids import AgentId
from everfold.core.text.searching import plan_query
from everfold.ports.stores import Hit, Store
from everfold.services.sessions.search import SearchHit, show_hits

USERS_PER_PAGE = 50
"""How many users one search looks through: some milliseconds for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserHit:
    """A message that was found, and whose it is."""

    user: User
    hit: SearchHit


async def search_users(
    store: Store,
    question: str,
    users: Sequence[User],
    *,
    agent_id: AgentId | None,
    limit_count: int,
    only: SearchFilter = ANY_MESSAGE,
) -> list[UserHit]:
    """The best messages of these users that a filter admits, best first. Scores of two users compare roughly: each has words of their own.

    O(one search a user).
    """
    query = plan_query(question)
    owners: dict[str, User] = {}
    found: list[Hit] = []
    for user in users:
        hits = await store.search(
            query, user_id=user.id, agent_id=agent_id, session_id=None, limit_count=limit_count, only=only
        )
        owners.update((hit.session_id, user) for hit in hits)
        found += hits
    best = nlargest(limit_count, found, key=lambda hit: hit.score)
    return [UserHit(user=owners[hit.session], hit=hit) for hit in await show_hits(store, best, query)]
