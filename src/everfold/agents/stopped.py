"""How an answer was stopped: where a conversation stands whose last answer did not come to its end."""

from collections.abc import Sequence
from typing import Final

from everfold.agents.chat_events import Stopped
from everfold.core.log.interruption import INTERRUPTED_KEY, INTERRUPTED_MARK
from everfold.core.log.messages import Message
from everfold.session import Session

_LOOK_BACK_COUNT: Final = 100
"""How far back the open step is looked for; no model calls as many tools at once."""
_STOPPED: Final = "the program ended before the answer did"


async def find_stopped(session: Session) -> Stopped | None:
    """How the last answer of a session was stopped; None where it is whole, or nothing was asked."""
    last_seq = (await session.inspect.state()).last_seq
    if last_seq == 0:
        return None
    recent = await session.messages(max(1, last_seq - _LOOK_BACK_COUNT), last_seq)
    said = [message for message in recent if message.kind in {"user", "assistant", "result", "late"}]
    return _judge(said) if said else None


def _judge(said: Sequence[Message]) -> Stopped | None:
    last = said[-1]
    if last.is_erased:
        return None
    if last.kind == "user":
        return Stopped(reason=_STOPPED, is_open=True)
    if last.kind == "assistant" and not last.view.calls:
        return _read_interruption(last)
    step = next((it for it in reversed(said) if it.kind == "assistant"), None)
    if step is None:
        return Stopped(reason=_STOPPED, is_open=True)
    answered = {result.call_id for it in said if it.seq > step.seq for result in it.view.results}
    missing = tuple(call.name for call in step.view.calls if call.id not in answered)
    return Stopped(seq=step.seq, reason=_STOPPED, calls=missing, text=_read_said(step), is_open=True)


def _read_interruption(message: Message) -> Stopped | None:
    reason = message.wire.get(INTERRUPTED_KEY)
    if not isinstance(reason, str):
        return None
    return Stopped(seq=message.seq, reason=reason, text=_read_said(message))


def _read_said(message: Message) -> str:
    """The text of an answer, without its calls and its mark."""
    texts = [part.text for part in message.view.parts if part.kind == "text"]
    return "\n".join(texts).removesuffix(INTERRUPTED_MARK).removesuffix("\n\n")
