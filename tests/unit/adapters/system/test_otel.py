"""Spans as OpenTelemetry gets them: nested, named by the conventions, and without a word of content."""

import subprocess
import sys
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import everfold
from everfold import OtelTracer
from everfold.core.observation.events import ModelCalled
from everfold.core.observation.spans import describe_reply, describe_request, name_model_call
from everfold.errors import BudgetUnsatisfiableError, ModelUnavailableError
from everfold.ports.tracing import NO_TRACER
from everfold.testing.kit.builders import talk, user

SECRET = "marmalade"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    """Where finished spans go."""
    return InMemorySpanExporter()


@pytest.fixture
def tracer(exporter: InMemorySpanExporter) -> OtelTracer:
    """A tracer whose spans end up in the exporter."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return OtelTracer(provider)


def attributes(span: ReadableSpan) -> dict[str, object]:
    """What a span carries."""
    return dict(span.attributes or {})


async def test_a_window_is_a_span_in_figures(exporter: InMemorySpanExporter, tracer: OtelTracer) -> None:
    """Each window is a span with its session and sizes, and no span holds a word that was said."""
    async with everfold.open("memory://", tracer=tracer) as engine:
        session = await engine.session(limit=4000, system=f"Speak of {SECRET}.")
        await session.append([*talk(30, topic=SECRET), user(SECRET)])
        window = await session.window(suffix=SECRET)
        await session.window(preview=True)
    spans = exporter.get_finished_spans()
    windows = [span for span in spans if span.name == "everfold.window"]
    assert attributes(windows[0])["everfold.session.id"] == session.id
    assert attributes(windows[0])["everfold.window.tokens"] == window.report.tokens
    assert [attributes(span)["everfold.window.is_preview"] for span in windows] == [False, True]
    assert SECRET not in "".join(span.to_json() for span in spans)


async def test_an_error_is_told_by_its_code(exporter: InMemorySpanExporter, tracer: OtelTracer) -> None:
    """A span that an error leaves is failed and has the error's code; its words, which may quote, stay out."""
    async with everfold.open("memory://", tracer=tracer) as engine:
        session = await engine.session(limit=4000)
        await session.append([user(SECRET * 400)])
        with pytest.raises(BudgetUnsatisfiableError):
            await session.window(limit=500)
    with pytest.raises(KeyError), tracer.span("other"):
        raise KeyError(SECRET)
    window, other = exporter.get_finished_spans()
    assert (window.status.status_code, attributes(window)) == (
        StatusCode.ERROR,
        {"error.type": "budget_unsatisfiable"},
    )
    assert attributes(other) == {"error.type": "KeyError"}
    assert not window.events
    assert SECRET not in window.to_json() + other.to_json()


def test_a_model_call_follows_the_conventions(exporter: InMemorySpanExporter, tracer: OtelTracer) -> None:
    """A call of a model is a client span inside the step that made it, in the attributes of the conventions."""
    called = ModelCalled(
        session_id=None,
        compaction_id=None,
        purpose="digest",
        model="openai:gpt-5-mini",
        elapsed_secs=1.0,
        input_tokens=9,
    )
    with tracer.span("everfold.compaction.digest"):
        request = describe_request(called, max_output_tokens=700)
        with tracer.span(name_model_call(called.model), request, kind="client") as span:
            span.set_attributes(describe_reply(replace(called, model="gpt-5-mini-1"), finish="length"))
    call, step = exporter.get_finished_spans()
    assert (call.name, call.kind, step.kind) == ("chat gpt-5-mini", SpanKind.CLIENT, SpanKind.INTERNAL)
    assert call.parent == step.get_span_context()
    found = attributes(call)
    assert found["gen_ai.operation.name"] == "chat"
    assert found["gen_ai.request.model"] == "gpt-5-mini"
    assert found["gen_ai.usage.input_tokens"] == 9
    assert found["gen_ai.response.finish_reasons"] == ("length",)


def test_a_model_that_is_out_of_reach(exporter: InMemorySpanExporter, tracer: OtelTracer) -> None:
    """An error of ours is named by its code, as the errors page does."""
    with pytest.raises(ModelUnavailableError), tracer.span("chat m", kind="client"):
        raise ModelUnavailableError("openai:m did not answer")
    (span,) = exporter.get_finished_spans()
    assert attributes(span)["error.type"] == "model_unavailable"


def test_no_tracer_makes_nothing() -> None:
    """Without a tracer every span is the same one, which forgets what it is told."""
    with NO_TRACER.span("one") as one, NO_TRACER.span("two", {"a": 1}, kind="client") as two:
        one.set_attributes({"b": 2})
    assert one is two


def test_no_sdk_is_needed_and_nothing_is_loaded_unasked() -> None:
    """OpenTelemetry is loaded by making the tracer and not before, and the tracer works without its SDK."""
    program = (
        "import sys, everfold.bootstrap\n"
        "assert 'opentelemetry' not in sys.modules\n"
        "tracer = everfold.OtelTracer()\n"
        "with tracer.span('one', {'a': 1}) as span: span.set_attributes({'b': 2})\n"
        "assert 'opentelemetry.sdk' not in sys.modules\n"
        "sys.modules['opentelemetry'] = None\n"
        "try: everfold.OtelTracer()\n"
        "except everfold.errors.InvalidInputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "OtelTracer needs opentelemetry-api, which is not installed; install everfold[otel]\n"
