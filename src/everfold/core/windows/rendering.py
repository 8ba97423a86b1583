"""A window in the form that a provider takes."""

from typing import Literal, get_args

from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.anthropic import render_anthropic
from everfold.core.windows.entries import Renderable
from everfold.core.windows.openai import render_openai
from everfold.core.windows.responses import render_responses
from everfold.errors import InvalidInputError

Provider = Literal["openai", "anthropic", "responses"]
"""openai: chat completions. responses: OpenAI's Responses API."""


def render(window: Renderable, provider: Provider, *, keeps_addresses: bool = False) -> JsonObject:
    """A window as a request: `messages`, with `system` (Anthropic) and `tools` where the session has them.

    For the Responses API it is `input`, with `instructions` and `tools`.

    Args:
        window: What to render.
        provider: The form.
        keeps_addresses: See `render_openai`; the other forms have a place for the address of a file.

    Raises:
        InvalidInputError: the provider's form is unknown.
    """
    if provider == "openai":
        return render_openai(window, keeps_addresses=keeps_addresses)
    if provider == "anthropic":
        return render_anthropic(window)
    if provider == "responses":
        return render_responses(window)
    raise InvalidInputError(f"the form {provider!r} is unknown; expected one of {', '.join(get_args(Provider))}")
