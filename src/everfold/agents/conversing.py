"""One conversation of a hand: its question, the tools that it calls, and its answer; in memory, and then gone.

Loading this module loads Pydantic AI, which takes seconds: import it where a question is asked.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Final

from pydantic_ai import Agent, ModelSettings, UsageLimits
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.toolsets import AbstractToolset

from everfold.agents.models import FAULTS, AgentModel, find_response_cost
from everfold.agents.tally import Tally
from everfold.errors import EverfoldError, ModelReplyError

MOST_REQUESTS: Final = 12
"""How often the model of a hand is asked for one answer. Reading a calendar and two mailboxes takes three or four."""
MOST_CALLS: Final = 24
"""How many tools it may call for one."""
_RETRIES: Final = 3
"""How often it may call a tool wrongly, or one that it does not have, before it is given up."""


@dataclass(init=False)
class _CountedModel(WrapperModel):
    """A model whose every request is allowed before and counted after."""

    _tally: Tally = field(repr=False)
    _allow: Callable[[], Awaitable[None]] = field(repr=False)

    def __init__(self, wrapped: Model, *, tally: Tally, allow: Callable[[], Awaitable[None]]) -> None:
        super().__init__(wrapped)
        self._tally = tally
        self._allow = allow

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        await self._allow()
        response = await super().request(messages, model_settings, model_request_parameters)
        _count(response, self._tally)
        return response


async def converse(
    model: AgentModel,
    toolsets: Sequence[AbstractToolset[object]],
    *,
    instructions: str,
    prompt: str,
    max_output_tokens: int,
    tally: Tally,
    allow: Callable[[], Awaitable[None]],
) -> str:
    """The answer to a question, after as many tool calls as it takes; may be empty.

    Args:
        model: Who answers.
        toolsets: What may be called; entered for this conversation, and left at its end, however it ends.
        instructions: Whose word the model follows.
        prompt: The question.
        max_output_tokens: The bound of each of the model's answers.
        tally: Counts what is used.
        allow: Asked before each request to the model; raises where none may be made.

    Raises:
        ModelError: the model did not serve, gave no answer that can be used, or came to none.
        RateLimitedError: the provider wants fewer requests.
        ToolServerError: a server of tools cannot be used.
        InvalidInputError: a server has not the tools that are allowed, or one of them writes.
        OverBudgetError: as `allow` raises it.
    """
    counted = _CountedModel(model.model, tally=tally, allow=allow)
    agent = Agent(
        counted,
        output_type=[str, NoneType],
        instructions=instructions,
        toolsets=toolsets,
        retries=_RETRIES,
        model_settings=model.settings(max_output_tokens),
    )
    try:
        async with agent:
            run = await agent.run(
                prompt, usage_limits=UsageLimits(request_limit=MOST_REQUESTS, tool_calls_limit=MOST_CALLS)
            )
    except UsageLimitExceeded as error:
        raise ModelReplyError(
            f"the model {model.name} gave no answer within {MOST_REQUESTS} requests and {MOST_CALLS} tool calls; ask "
            "for less, or give it fewer tools",
            model=model.name,
        ) from error
    except EverfoldError:
        raise
    except FAULTS as error:
        raise model.translate(error) from error
    except Exception as error:
        raise ModelReplyError(
            f"the conversation with {model.name} failed with {type(error).__name__}; expected an answer. Check the "
            "cause, or use another model",
            model=model.name,
        ) from error
    return run.output or ""


def _count(response: ModelResponse, tally: Tally) -> None:
    cost = find_response_cost(response)
    tally.requests_count += 1
    tally.input_tokens += response.usage.input_tokens
    tally.cached_tokens += response.usage.cache_read_tokens
    tally.output_tokens += response.usage.output_tokens
    tally.cost_usd += cost or 0.0
    tally.unpriced_count += cost is None
    tally.answered_by = response.model_name or ""
    tally.is_cut = response.finish_reason == "length"
    tally.is_refused = response.finish_reason == "content_filter"
