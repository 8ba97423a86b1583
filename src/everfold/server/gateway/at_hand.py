"""At hand: the conversations that a gateway need not open again, found by what their clients hold."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from everfold.core.primitives.ids import SessionId
from everfold.server.gateway.callers import Caller
from everfold.server.gateway.conversation import Conversation

MOST_CONVERSATIONS: Final = 1_000
"""So many conversations are kept at hand; another one is opened again when it goes on."""

Tip = tuple[str, str, bytes]
"""A user, an agent, and the chain of a client's whole list: conversations are at hand for their own user only."""


@dataclass(slots=True, kw_only=True)
class AtHand:
    """The conversations of all clients that are open."""

    _open: OrderedDict[SessionId, Conversation] = field(default_factory=OrderedDict, init=False)
    _tips: dict[Tip, Conversation] = field(default_factory=dict, init=False)

    def get(self, session_id: SessionId) -> Conversation | None:
        """The conversation of a session; None where it is not open."""
        return self._open.get(session_id)

    def find(self, tip: Tip) -> Conversation | None:
        """The conversation whose client holds just this list; None where it is not open."""
        return self._tips.get(tip)

    def add(self, conversation: Conversation) -> Conversation:
        """Keep a conversation that was opened; gives the one that was kept first, where two were opened at once."""
        held = self._open.setdefault(conversation.session.id, conversation)
        held.held_as = conversation.session.id
        return held

    def has_locked(self) -> bool:
        """Whether a turn is on its way."""
        return any(conversation.lock.locked() for conversation in self._open.values())

    def remember(self, conversation: Conversation, caller: Caller | None = None) -> None:
        """Keep a conversation at hand, where it is found again by its tips; the caller is that of its request."""
        if caller is not None:
            conversation.owner = (caller.user, caller.agent)
        self.forget(conversation)
        conversation.held_as = conversation.session.id
        self._open[conversation.held_as] = conversation
        self._open.move_to_end(conversation.held_as)
        conversation.tips = [(*conversation.owner, chain) for chain in conversation.list_tips()]
        self._tips.update(dict.fromkeys(conversation.tips, conversation))
        while len(self._open) > MOST_CONVERSATIONS:
            session_id, oldest = next(iter(self._open.items()))
            if oldest.lock.locked():
                self._open.move_to_end(session_id)
                return
            self.forget(oldest)

    def forget(self, conversation: Conversation) -> None:
        """Keep a conversation no longer; it is read from the store when it goes on."""
        if conversation.held_as is not None and self._open.get(conversation.held_as) is conversation:
            del self._open[conversation.held_as]
        self._drop_tips(conversation)

    def _drop_tips(self, conversation: Conversation) -> None:
        for tip in conversation.tips:
            if self._tips.get(tip) is conversation:
                del self._tips[tip]
