"""Spans for OpenTelemetry. Needs `opentelemetry-api` only; the operator chooses where spans go."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from everfold.core.observation.spans import Attributes
from everfold.errors import EverfoldError, InvalidInputError
from everfold.ports.tracing import NO_TRACER, Span, SpanKind

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.trace import TracerProvider


class OtelTracer:
    """Gives spans to OpenTelemetry.

    Args:
        provider: Whose spans they are; the process's own provider when left out. Without an SDK it takes none.

    Raises:
        InvalidInputError: `opentelemetry-api` is not installed.
    """

    def __init__(self, provider: "TracerProvider | None" = None) -> None:
        try:
            from opentelemetry import trace
        except ModuleNotFoundError as error:
            raise InvalidInputError(
                "OtelTracer needs opentelemetry-api, which is not installed; install everfold[otel]"
            ) from error
        self._tracer = trace.get_tracer("everfold", tracer_provider=provider)
        self._kinds = {"internal": trace.SpanKind.INTERNAL, "client": trace.SpanKind.CLIENT}
        self._failed = trace.StatusCode.ERROR
        self._use = partial(trace.use_span, end_on_exit=True, record_exception=False, set_status_on_exception=False)

    def span(
        self, name: str, attributes: Attributes | None = None, *, kind: SpanKind = "internal"
    ) -> AbstractContextManager[Span]:
        """See `Tracer.span`. The words of an error stay out: they may quote a message."""
        span = self._tracer.start_span(name, attributes=attributes, kind=self._kinds[kind])
        if not span.get_span_context().is_valid:  # no exporter takes spans: do not enter it
            return NO_TRACER.span(name)
        return self._enter(span)

    @contextmanager
    def _enter(self, started: "trace.Span") -> Iterator[Span]:
        with self._use(started) as span:
            try:
                yield _OtelSpan(span)
            except Exception as error:
                span.set_attribute(
                    "error.type", error.code if isinstance(error, EverfoldError) else type(error).__name__
                )
                span.set_status(self._failed)
                raise


class _OtelSpan:
    def __init__(self, span: "trace.Span") -> None:
        self._span = span

    def set_attributes(self, attributes: Attributes) -> None:
        """See `Span.set_attributes`."""
        self._span.set_attributes(attributes)
