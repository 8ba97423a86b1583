"""Ask a model for the topics of a dream: once, once more with what was wrong, then give up.

Whatever a model does wrong ends here as a note; what is left is consolidated without it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from everfold.core.dreams.requests import (
    INPUT_TOKENS,
    DreamRequest,
    ask_dream_again,
    read_dream_reply,
    write_dream_request,
)
from everfold.core.dreams.scenes import TIERS, Proposal, Scene
from everfold.core.dreams.topic_lines import Scan
from everfold.core.memory.items import Tier
from everfold.errors import ContextLengthError, LimitError, ModelError
from everfold.ports.models import ModelReply, ModelRequest

CallModel = Callable[[ModelRequest], Awaitable[ModelReply]]

ATTEMPTS_COUNT: Final = 2
"""How often a tier is asked for. Source: DESIGN 3.4, what fails is retried once."""


@dataclass(slots=True, kw_only=True)
class Proposals:
    """What came of asking, tier by tier.

    Attributes:
        cost_usd: None where nothing was answered, or no price is known.
        notes: Why there is none for a tier, without a word of any reply: it would outlive an erase.
    """

    proposals: list[Proposal] = field(default_factory=list)
    cost_usd: float | None = None
    notes: list[str] = field(default_factory=list)


async def ask_dream(call: CallModel, scene: Scene, *, scan: Scan, key: str) -> Proposals:
    """Ask for each tier that has something new. Nothing new, no call.

    Raises:
        StoreError: a call could not be recorded.
    """
    found = Proposals()
    for tier in TIERS:
        request = write_dream_request(scene, tier, key=key)
        if request is not None:
            await _ask_tier(call, scene, request, found, scan, key)
    return found


async def _ask_tier(
    call: CallModel, scene: Scene, request: DreamRequest, found: Proposals, scan: Scan, key: str
) -> None:
    tier: Tier = request.tier
    faults: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    for _ in range(ATTEMPTS_COUNT):
        try:
            reply = await call(
                ModelRequest(
                    purpose="dream",
                    instructions=request.instructions,
                    prompt=request.prompt,
                    max_output_tokens=request.max_output_tokens,
                )
            )
        except ContextLengthError as error:
            codes = (error.code,)
            request = write_dream_request(scene, tier, key=key, input_tokens=INPUT_TOKENS // 2) or request
            continue
        except (ModelError, LimitError) as error:
            codes = (error.code,)
            break
        if reply.cost_usd is not None:
            found.cost_usd = (found.cost_usd or 0.0) + reply.cost_usd
        if reply.finish != "complete":
            faults, codes = (f"it was not finished: {reply.finish}",), (reply.finish,)
        else:
            reading = read_dream_reply(reply.text, request, scan=scan)
            if reading.proposal is not None:
                found.proposals.append(reading.proposal)
                return
            faults, codes = reading.faults, reading.codes
        request = ask_dream_again(request, faults)
    listed = ", ".join(dict.fromkeys(codes))
    found.notes.append(f"the model's text for tier {tier} could not be used: {listed}")
