"""Tracing: spans around what takes time, for tools that observe several programs."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

from everfold.core.observation.spans import Attributes

SpanKind = Literal["internal", "client"]
"""client: a call to something outside this process, a model for example."""


class Span(Protocol):
    """Something that is being timed."""

    def set_attributes(self, attributes: Attributes) -> None:
        """Add what is known only now."""
        ...


class Tracer(Protocol):
    """Makes spans. A span that is opened inside another, in the same task, is its child."""

    def span(
        self, name: str, attributes: Attributes | None = None, *, kind: SpanKind = "internal"
    ) -> AbstractContextManager[Span]:
        """A span from entering to leaving. An error that leaves it marks it as failed, by its class, and goes on."""
        ...


class _NoSpan:
    def set_attributes(self, attributes: Attributes) -> None:
        """Forget them."""


_NO_SPAN = nullcontext[Span](_NoSpan())


class NoTracer:
    """Traces nothing: one span for all, made once."""

    def span(
        self,
        name: str,  # noqa: ARG002 - as in `Tracer`
        attributes: Attributes | None = None,  # noqa: ARG002 - as in `Tracer`
        *,
        kind: SpanKind = "internal",  # noqa: ARG002 - as in `Tracer`
    ) -> AbstractContextManager[Span]:
        """A span that does nothing."""
        return _NO_SPAN


NO_TRACER = NoTracer()
