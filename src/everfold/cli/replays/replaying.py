"""One replay with every request judged by the provider's rules."""

from dataclasses import dataclass

import anyio.lowlevel

from everfold.adapters.transcripts import Conversation
from everfold.cli.tables.output import Advance
from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.rendering import Provider
from everfold.core.windows.window import Window
from everfold.services.inspection.replay import ReplayReport, ReplayTurn
from everfold.session import Session
from everfold.testing.judges.requests import (
    check_anthropic_request,
    check_openai_request,
    check_responses_request,
    check_window_rules,
)

MOST_VIOLATIONS = 20
"""How many violations are told; one more tells nothing new."""


_GAUGE_CHARS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What one replay did, and its last request.

    Attributes:
        violations: What the provider would have refused, in any of the requests; empty when all were valid.
    """

    name: str
    session: str
    provider: Provider
    report: ReplayReport
    invalid_count: int
    violations: tuple[str, ...]
    window: Window
    request: JsonObject

    @property
    def is_sound(self) -> bool:
        """Whether every request was valid and within its budget, and everything verified holds."""
        return not self.invalid_count and not self.report.over_budget_count and self.report.verification.is_sound


async def play(session: Session, conversation: Conversation, *, provider: Provider, advance: Advance) -> Replayed:
    """Play one conversation into a session to its end.

    Raises:
        InvalidInputError: a message does not fit the log.
        BudgetUnsatisfiableError: no window can fit the limit; names the smallest that works.
    """
    replay = session.inspect.replay(conversation.messages, provider=provider)
    violations: list[str] = []
    invalid_count = 0
    last = None
    async for turn in replay.turns():
        found = judge(turn.request, provider)
        invalid_count += bool(found)
        violations += [f"request {turn.played_count}: {violation}" for violation in found]
        advance(turn.played_count, _describe(turn))
        last = turn
        await anyio.lowlevel.checkpoint()  # in memory nothing else would let a person's Ctrl-C through
    if last is None:
        raise ValueError("a conversation without messages cannot be played")
    return Replayed(
        name=conversation.name,
        session=session.id,
        provider=provider,
        report=await replay.report(),
        invalid_count=invalid_count,
        violations=tuple(violations[:MOST_VIOLATIONS]),
        window=last.window,
        request=last.request,
    )


def _describe(turn: ReplayTurn) -> str:
    """How full the window is, as a line that moves."""
    tokens, budget = turn.window.report.tokens, turn.window.report.budget_tokens
    filled = min(round(tokens / max(budget, 1) * _GAUGE_CHARS), _GAUGE_CHARS)
    gauge = "\u2588" * filled + "\u2591" * (_GAUGE_CHARS - filled)
    return f"window {gauge} {tokens:,} of {budget:,} tokens, {turn.compactions_count} folds"


def judge(request: JsonObject, provider: Provider) -> list[str]:
    """What the provider would refuse in a request, and what a window must never show."""
    if provider == "responses":
        return check_responses_request(request)
    check = check_openai_request if provider == "openai" else check_anthropic_request
    return [*check(request), *check_window_rules(request, kind=provider)]
