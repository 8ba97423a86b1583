"""A window in the form that a provider takes."""

from typing import Literal

from everfold.core.primitives.json_values import JsonObject
from everfold.core.windows.anthropic import render_anthropic
from everfold.core.windows.entries import Renderable
from everfold.core.windows.openai import render_openai
from everfold.errors import InvalidInputError

Provider = Literal["openai", "anthropic"]


def render(window: Renderable, provider: Provider) -> JsonObject:
    """A window as a request: `messages`, with `system` (Anthropic) and `tools` where the session has them.

    Raises:
        InvalidInputError: the provider's form is unknown.
    """
    if provider == "openai":
        return render_openai(window)
    if provider == "anthropic":
        return render_anthropic(window)
    raise InvalidInputError(f"there is no form for the provider {provider!r}; expected 'openai' or 'anthropic'")
