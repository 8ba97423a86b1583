"""The envelope of a stored reply: what the provider's response says beside the message."""

from typing import Final

ENVELOPE_KEY: Final = "envelope"
"""The member of a stored reply that holds its id, model, ending and usage, as the provider named them. No provider is sent it."""
