"""What the requests of one talk cost in input tokens: sent whole, cut to a tail, and folded.

Each way is a row of requests at the same moments. Of each request the tokens count, and those of them that a provider's
prompt cache can have from the request before: the common beginning. Nothing is charged for writing to the cache, and it
is taken to hold until the next request.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

_PER_PRICE_TOKENS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of a million input tokens, in any one currency.

    Attributes:
        input: Of those that are read anew.
        cached: Of those that the provider's prompt cache has.
    """

    input: float
    cached: float


UNIT_PRICES: Final = Prices(input=1.0, cached=0.1)
"""One for a million tokens, and a tenth of it where they are cached: a unit to compare by, and no provider's prices.

Source: the tenth is what Anthropic documents for cache reads ("Prompt caching", pricing: 0.1 times the base input price).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputTokens:
    """The input tokens of some requests, and those of them that a prompt cache has."""

    tokens: int = 0
    cached_tokens: int = 0

    @property
    def uncached_tokens(self) -> int:
        """Those that are read anew."""
        return self.tokens - self.cached_tokens

    def plus(self, tokens: int, *, cached_tokens: int) -> "InputTokens":
        """With one request more, of which not more than all is cached."""
        cached_tokens = min(cached_tokens, tokens)
        return InputTokens(tokens=self.tokens + tokens, cached_tokens=self.cached_tokens + cached_tokens)

    def cost(self, prices: Prices) -> float:
        """What they cost, in the currency of the prices."""
        return (self.uncached_tokens * prices.input + self.cached_tokens * prices.cached) / _PER_PRICE_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkInput:
    """The input tokens of all requests of a talk, three ways.

    Attributes:
        whole: Each request has everything so far, however long; all of the one before is cached.
        tail: Each request has the system prompt, the tools and the newest messages that fit the budget. Where a message
            leaves, only system prompt and tools are cached.
        folded: The windows of a session.
    """

    whole: InputTokens
    tail: InputTokens
    folded: InputTokens


class Unfolded:
    """The requests of a talk without compaction: whole, and cut to a tail. O(1) a message, on average."""

    def __init__(self, *, fixed_tokens: int) -> None:
        self._fixed_tokens = fixed_tokens
        self._whole_tokens = fixed_tokens
        self._tail: deque[int] = deque()
        self._tail_tokens = fixed_tokens
        self._has_cut = False
        self._sent_whole_tokens = 0
        self._sent_tail_tokens = 0
        self.whole = InputTokens()
        self.tail = InputTokens()

    def append(self, tokens: int) -> None:
        """Take one more message."""
        self._whole_tokens += tokens
        self._tail_tokens += tokens
        self._tail.append(tokens)

    def send(self, budget_tokens: int) -> None:
        """Count a request of each kind. A newest message that is larger than the budget fills it alone."""
        self._cut_tail(budget_tokens)
        self.whole = self.whole.plus(self._whole_tokens, cached_tokens=self._sent_whole_tokens)
        cached_tokens = self._fixed_tokens if self._has_cut else self._sent_tail_tokens
        tail_tokens = min(self._tail_tokens, budget_tokens)
        self.tail = self.tail.plus(tail_tokens, cached_tokens=cached_tokens if self._sent_tail_tokens else 0)
        self._sent_whole_tokens, self._sent_tail_tokens = self._whole_tokens, tail_tokens

    def _cut_tail(self, budget_tokens: int) -> None:
        self._has_cut = False
        while self._tail_tokens > budget_tokens and len(self._tail) > 1:
            self._tail_tokens -= self._tail.popleft()
            self._has_cut = True
