"""Stream: the one place where the engine tells what it does.

A service publishes an event, a frozen value of `core/observation/events.py`, once the store has committed what it says.
The stream gives it to every listener that hears its kind: the feed behind `engine.events()`, which the server's event
stream, its metrics and a chat read, and whatever else was given, the log lines for example.

Three calls stay beside `publish`, because an event cannot do their work. `plugins` awaits the hooks: they see words, may
refuse a fold, and give hints. `tracer` opens spans: they surround work, and what is called inside belongs to them. `tally`
counts what happens in every turn, where an event would be made for a number.

Source: docs/adr/0029-one-stream.md.
"""

from collections.abc import Sequence

from everfold.core.observation.events import Event, WorkFailed
from everfold.errors import EverfoldError
from everfold.ports.hooks import Hooks
from everfold.ports.listeners import Listener
from everfold.ports.tracing import NO_TRACER, Tracer
from everfold.services.telling.coordinate import DEFAULT_TIMEOUT_SECS, Coordinator
from everfold.services.telling.feed import Feed
from everfold.services.telling.tally import Tally


class Stream:
    """What every part of one engine tells. Without arguments only subscribers are told.

    Args:
        listeners: Given every event that they hear, before the feed.
        hooks: The plug-ins, called in this order.
        timeout_secs: For each call of each plug-in.
        strict: Refuse a compaction when no plug-in's `on_pre_compress` succeeded.
        tracer: Takes spans; none are made when left out.

    Attributes:
        feed: The subscriptions of `engine.events()`.
        plugins: Calls the hooks.
        tracer: Opens spans.
        tally: Counts what the engine does, for the figures of each day.

    Raises:
        InvalidInputError: one of the hooks is no plug-in.
    """

    def __init__(
        self,
        listeners: Sequence[Listener] = (),
        *,
        hooks: Sequence[Hooks] = (),
        timeout_secs: float = DEFAULT_TIMEOUT_SECS,
        strict: bool = False,
        tracer: Tracer | None = None,
    ) -> None:
        self.feed = Feed()
        self.plugins = Coordinator(hooks, timeout_secs=timeout_secs, strict=strict, publish=self.publish)
        self.tracer = NO_TRACER if tracer is None else tracer
        self.tally = Tally()
        self._listeners: tuple[Listener, ...] = (*listeners, self.tally, self.feed)

    def hears(self, kind: type[Event]) -> bool:
        """Whether a listener wants events of this class; those that take work to make are made only then."""
        return any(listener.hears(kind) for listener in self._listeners)

    def publish(self, event: Event) -> None:
        """Give an event to every listener that hears its kind. Never waits."""
        for listener in self._listeners:
            if listener.hears(type(event)):
                listener.take(event)


def tell_failed_work(stream: Stream, name: str, error: Exception) -> None:
    """Tell that work beside the turns ended with an error; a dispatcher's `on_error`."""
    reason = error.code if isinstance(error, EverfoldError) else type(error).__name__
    stream.publish(WorkFailed(name=name, reason=reason, error=error))
