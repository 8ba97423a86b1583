"""Where clients' lists are kept: by them the gateway finds the session that a request goes on with."""

from collections.abc import Sequence
from typing import Protocol

from everfold.core.log.client_lists import ClientList, ClientListChange
from everfold.core.primitives.ids import AgentId, SessionId, UserId


class ConversationStore(Protocol):
    """Clients' lists, session by session. Erases, wipes and exports of a session take its list with them."""

    async def find_by_chain(self, user_id: UserId, agent_id: AgentId, chains: Sequence[bytes]) -> list[SessionId]:
        """The sessions of a user and an agent whose list has the last of these chains that any has; the newest first.

        At most 16 are given.
        """
        ...

    async def find_by_tail(self, user_id: UserId, agent_id: AgentId, tails: Sequence[bytes]) -> list[SessionId]:
        """The same by the tails of lists."""
        ...

    async def find_with_erased(self, user_id: UserId, agent_id: AgentId, key_prefix: str) -> list[SessionId]:
        """The sessions of a user and an agent whose list has an erased message, by what their session keys begin with.

        At most 16 are given, the newest first. O(all lists of these sessions).
        """
        ...

    async def read_client_list(self, session_id: SessionId) -> ClientList:
        """What the client of a session holds; empty for one without a client.

        Raises:
            NotFoundError: there is no such session.
        """
        ...

    async def write_client_list(self, session_id: SessionId, change: ClientListChange) -> None:
        """Replace a client's list from a place on. Of a message that is erased by then no hash is kept.

        Raises:
            ConflictError: the list has another number of messages than expected, or another chain before the place; nothing
                was written.
            NotFoundError: there is no such session.
        """
        ...
