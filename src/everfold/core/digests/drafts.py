"""A draft: a model's digest, verified and waiting for its turn to be committed."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The text of a digest that a model wrote, frame and extractive lines included.

    Attributes:
        tokens: Its size by the fixed estimate.
        elided: The messages that the model read with their middle left out and named.
        faults: What was wrong with replies that were refused on the way.
        epoch: The session's epoch when its messages were read; in a later one it may hold erased words.
        digest_secs: How long it took to write.
        cost_usd: What the calls for it cost; None where no price is known.
    """

    text: str
    tokens: int
    elided: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()
    epoch: int = 0
    digest_secs: float = 0.0
    cost_usd: float | None = None


def name_refused(draft: Draft | None) -> str:
    """What was wrong with the replies that were refused before a draft was good, in words; empty when nothing was."""
    return "; ".join(draft.faults) if draft else ""


def draft_to_bytes(draft: Draft) -> bytes:
    """A draft as JSON. Keeps every code point."""
    return json.dumps(asdict(draft), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def draft_from_bytes(content: bytes) -> Draft:
    """The draft that `draft_to_bytes` wrote."""
    value = json.loads(content.decode("utf-8", "surrogatepass"))
    return Draft(elided=tuple(value.pop("elided")), faults=tuple(value.pop("faults")), **value)
