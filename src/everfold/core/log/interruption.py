"""An answer that broke off, as the log keeps it."""

from typing import Final

from everfold.core.primitives.json_values import JsonObject

INTERRUPTED_KEY: Final = "interrupted"
"""The member of a stored message that says why it is not whole. No provider is sent it."""
INTERRUPTED_MARK: Final = "[interrupted: the answer ends here]"
"""What the model reads at the end of an answer that broke off."""


def write_interrupted(text: str, *, reason: str) -> JsonObject:
    """The message that is stored of an answer that broke off, in OpenAI's form: its text so far, and a mark."""
    shown = f"{text}\n\n{INTERRUPTED_MARK}" if text.strip() else INTERRUPTED_MARK
    return {"role": "assistant", "content": shown, INTERRUPTED_KEY: reason}
