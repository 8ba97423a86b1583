"""Turn: one request of a client on its way to the provider, and what was done with it."""

from dataclasses import dataclass
from typing import Literal

from everfold.core.conversations.alignment import Alignment
from everfold.core.conversations.requests import ClientRequest, ReadList
from everfold.core.windows.window import Window
from everfold.server.gateway.conversation import Conversation
from everfold.server.gateway.history import History

Context = Literal["unchanged", "extended", "folded", "passed", "unfolded", "replayed"]
"""What was done with a request: unchanged: the client's own bytes, stored. extended: its own messages, stored, with the history
tools. folded: its messages replaced by a window. passed: nothing was stored. unfolded: Everfold failed, and it was passed on.
replayed: it is a retry, answered with the reply that was stored for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacting:
    """The list that a provider is to compact, and where its messages stand in what its client was known to hold."""

    read: ReadList
    alignment: Alignment


@dataclass(slots=True, kw_only=True)
class Turn:
    """One request on its way.

    Attributes:
        body: What goes to the provider.
        context: What was done with it.
        reason: Why, where it was passed on.
        conversation: Where its reply is stored; None for nowhere.
        is_named: The request named its session, and may carry only what is new.
        compacting: The list that the provider is to compact; None where a model answers.
        history: The history tools that are offered; None for none.
    """

    request: ClientRequest | None
    body: bytes
    context: Context
    reason: str = ""
    conversation: Conversation | None = None
    window: Window | None = None
    is_named: bool = False
    compacting: Compacting | None = None
    history: History | None = None

    @property
    def session_id(self) -> str:
        """The session; empty for none."""
        return "" if self.conversation is None else self.conversation.session.id
