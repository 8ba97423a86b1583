"""Configure: what a session holds from now on: its limit, its system prompt and its tools."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from everfold.core.log.budget import require_budget, share_budget
from everfold.core.log.prompts import Prompt
from everfold.core.log.sessions import SessionSettings
from everfold.core.log.state import SessionState
from everfold.core.primitives.json_values import JsonValue, encode_json
from everfold.errors import InvalidInputError


def hold_settings(
    base: SessionSettings,
    *,
    limit: int | None,
    system: str | None = None,
    tools: Sequence[JsonValue] | None = None,
) -> SessionSettings:
    """What a session holds, with what is given in its place.

    Raises:
        InvalidInputError: the system prompt is no text, or the tools are no list of JSON.
    """
    _require_prompt(system, tools)
    prompt = Prompt(
        system=base.prompt.system if system is None else system,
        tools=base.prompt.tools if tools is None else tuple(tools),
    )
    return replace(base, limit_tokens=base.limit_tokens if limit is None else limit, prompt=prompt)


def require_room(settings: SessionSettings, state: SessionState, session: str | None = None) -> None:
    """Refuse settings under which no window of a session, or of a new one, can be shown.

    Raises:
        InvalidInputError: the limit is no positive whole number.
        BudgetUnsatisfiableError: they leave no room; names the smallest limit that works.
    """
    budget = share_budget(
        settings.limit_tokens,
        settings.policy,
        prompt_tokens=settings.prompt_tokens + state.fixed_tokens,
        calibration=state.calibration,
    )
    require = partial(require_budget, budget, settings.policy, calibration=state.calibration)
    if session is None:
        require(whose="a new session")
    else:
        require(whose=f"session {session}", session=session)


def _require_prompt(system: object, tools: object) -> None:
    if not isinstance(system, str | None):
        raise InvalidInputError(f"the system prompt must be a text, got {type(system).__name__}")
    if tools is not None and not isinstance(tools, list | tuple):
        raise InvalidInputError(f"tools must be a list of schemas, got {type(tools).__name__}")
    encode_json(list(tools or ()), at="tools")
