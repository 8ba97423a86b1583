"""Context sources: what happened elsewhere since the last exchange. Only configured sources are asked."""

from datetime import datetime
from typing import Protocol


class ContextSource(Protocol):
    """One configured source."""

    @property
    def name(self) -> str:
        """What its fence says: `calendar://work`, `mail://inbox`, `http://weather`, `hand://NAME`, `call://NAME`."""
        ...

    async def summary(self, prompt: str, *, from_at: datetime, to_at: datetime, budget_tokens: int) -> str:
        """What happened within a window of time, in plain text without a fence; empty where nothing did.

        All dates that the source writes are absolute. What it quotes is cleaned of control, bidirectional and invisible
        characters. It is still text from outside: the caller fences it, and truncates it to be sure. No retry and no
        time limit of the whole. A source may refuse a question while it still works on an older one.

        Args:
            prompt: What is wanted, for a source that can read it; the others ignore it.
            from_at: The beginning of the window of time, aware.
            to_at: Its end, aware and not before the beginning: the time of asking.
            budget_tokens: About how long the text may be by the fixed estimate; 0 for no bound.

        Raises:
            SourceUnavailableError: it could not be reached, is overloaded or too slow; `retryable`.
            SourceError: it is set wrongly, refused us, or what it gave cannot be read.
        """
        ...

    async def close(self) -> None:
        """Let go of connections. Closing again does nothing."""
        ...
