"""Who is told of what the engine does: plug-ins, the feed, and a tracer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from everfold.ports.feed import Sink
from everfold.ports.hooks import Hooks
from everfold.ports.tracing import NO_TRACER, Tracer
from everfold.services.coordinate import DEFAULT_TIMEOUT_SECS, Coordinator
from everfold.services.feed import Feed


@dataclass(frozen=True, slots=True, kw_only=True)
class Observers:
    """What every part of one engine tells. Without arguments nobody is told anything."""

    coordinator: Coordinator = field(default_factory=Coordinator)
    feed: Feed = field(default_factory=Feed)
    tracer: Tracer = NO_TRACER


def make_observers(
    *,
    hooks: Sequence[Hooks] = (),
    timeout_secs: float = DEFAULT_TIMEOUT_SECS,
    strict: bool = False,
    sinks: Sequence[Sink] = (),
    tracer: Tracer | None = None,
) -> Observers:
    """Observers whose coordinator reports to their feed.

    Raises:
        InvalidInputError: one of the hooks is no plug-in.
    """
    feed = Feed(sinks)
    coordinator = Coordinator(hooks, timeout_secs=timeout_secs, strict=strict, feed=feed)
    return Observers(coordinator=coordinator, feed=feed, tracer=tracer or NO_TRACER)
