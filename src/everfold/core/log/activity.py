"""Real activity: whether a person was there, told apart from what programs put into a log.

One rule for everything that asks: what starts a turn, what counts as an exchange, and what a dream is worth having for.

Source: DESIGN section 3.5, "real user activity"; REQUIREMENTS OF-46 for the marks of ticks.
"""

from collections.abc import Iterable
from typing import Final

from everfold.core.log.messages import Message
from everfold.core.primitives.origins import Origin, Source

TICK_MARKS: Final = ("[AUTONOMOUS TICK]", "[SCHEDULED TICK]")
"""What a tick's text begins with in logs whose client had no other way to say that it is one."""


def has_real_activity(messages: Iterable[Message]) -> bool:
    """Whether at least one of the messages is a person's own: neither an injection nor a tick."""
    return any(is_persons_own(message) for message in messages)


def is_persons_own(message: Message) -> bool:
    """Whether a message was said by the user, whatever its client called it."""
    return message.view.role == "user" and is_said_by_user(message.origin, message.source, message.view.text)


def is_said_by_user(origin: Origin, source: Source, text: str) -> bool:
    """The rule for messages in the user's role."""
    return origin == "user" and source == "said" and not text.startswith(TICK_MARKS)


def find_cause(source: Source, text: str) -> Source:
    """The source that decides whose words a message in the user's role is: a tick's mark makes it one, whatever was given."""
    return "tick" if source == "said" and text.startswith(TICK_MARKS) else source
