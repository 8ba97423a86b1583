"""How fast a log grows and how long a digest takes: whether a model's digest can be waited for.

Tokens are counted in a sum that fades: what was appended a span ago counts by 1/e, so the sum over the span is the rate
of the last minutes. One number and one moment are all that is kept of it.

Source: DESIGN section 3.2, moving averages; exponentially weighted sums after Brown, "Statistical forecasting for
inventory control" (1959).
"""

from dataclasses import dataclass, replace
from datetime import datetime
from math import exp

SPAN_SECS = 120.0
"""Over how long the rate is an average: some steps of an agent at work, one or two turns of a person who writes."""

UNKNOWN_DIGEST_SECS = 20.0
"""How long a digest is thought to take before one was measured: 700 tokens of output at 50 a second, and the reading."""

_NEWEST_SHARE = 0.3
_MARGIN = 1.5
"""How much more than the expected growth there must be room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a session has seen of itself.

    Attributes:
        tokens: The fading sum of tokens appended.
        at: When it was brought up to date; None before the first message.
        digest_secs: How long its digests took, a moving average; 0.0 before the first.
    """

    tokens: float = 0.0
    at: datetime | None = None
    digest_secs: float = 0.0

    def grown(self, tokens: int, at: datetime) -> "Growth":
        """With tokens appended at a moment. One that lies before the last counts as now."""
        if self.at is None or at <= self.at:
            return Growth(tokens=self.tokens + tokens, at=self.at or at, digest_secs=self.digest_secs)
        faded = self.tokens * exp(-(at - self.at).total_seconds() / SPAN_SECS)
        return Growth(tokens=faded + tokens, at=at, digest_secs=self.digest_secs)

    def digested(self, secs: float) -> "Growth":
        """With one more digest, which took so long."""
        known = self.digest_secs or secs
        return replace(self, digest_secs=known + _NEWEST_SHARE * (secs - known))

    @property
    def expected_tokens(self) -> int:
        """What the log is expected to grow by, with a margin, while a digest is made."""
        return int(self.tokens / SPAN_SECS * (self.digest_secs or UNKNOWN_DIGEST_SECS) * _MARGIN)


STEADY = Growth()
"""Before anything was seen."""
