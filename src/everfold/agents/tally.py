"""What one query of a hand used."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a conversation used: up to date at every moment, also after it was broken off.

    Attributes:
        cost_usd: Of the answers whose price is known.
        unpriced_count: Answers whose price is not.
        is_cut: The last answer ended at its bound.
        is_refused: The model declined.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    requests_count: int = 0
    unpriced_count: int = 0
    answered_by: str = ""
    is_cut: bool = False
    is_refused: bool = False

    @property
    def known_cost_usd(self) -> float | None:
        """What all of it cost; None where a price is not known, or nothing was answered."""
        return self.cost_usd if self.requests_count and not self.unpriced_count else None
