"""A hand as a context source: what a refresh asks it, and what it takes for an answer."""

from dataclasses import dataclass
from datetime import datetime

from everfold.agents.hands import Hand, Hands
from everfold.agents.questions import read_refresh_answer, write_refresh_question
from everfold.errors import EverfoldError, SourceError, SourceUnavailableError


@dataclass(frozen=True, slots=True, kw_only=True)
class HandSource:
    """A hand as a context source; see `everfold.ports.sources.ContextSource`."""

    hands: Hands
    hand: Hand

    @property
    def name(self) -> str:
        """See the port."""
        return self.hand.source

    async def summary(self, prompt: str, *, from_at: datetime, to_at: datetime, budget_tokens: int) -> str:
        """See the port. The hand is told the stretch of time, the present and the budget."""
        tokens = min(budget_tokens or self.hand.settings.max_output_tokens, self.hand.settings.max_output_tokens)
        question = write_refresh_question(prompt, from_at=from_at, to_at=to_at, max_output_tokens=tokens)
        try:
            answer = await self.hands.ask(self.hand.name, question, max_output_tokens=tokens)
        except EverfoldError as error:
            kind = SourceUnavailableError if error.retryable else SourceError
            raise kind(str(error), source=self.name) from error
        return read_refresh_answer(answer.text)

    async def close(self) -> None:
        """See the port; the hands are closed where they were opened."""
