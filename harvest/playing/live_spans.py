"""OpenTelemetry's spans while a run is played: each attempt becomes a trace as soon as its end is on the disk.

The spans are those of `harvest data export --format otlp`, with the same ids. They are made of stored events, so their
secrets are redacted. A thread of the SDK sends them: neither a slow nor an absent receiver delays a turn. The receiver
is set by OpenTelemetry's own environment variables, such as `OTEL_EXPORTER_OTLP_ENDPOINT`.
"""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from recordings.conversations.conversation import Conversation
from recordings.events.attempts import Attempt, AttemptId
from recordings.events.events import Event, TrialEnded, TrialStarted
from recordings.formats.spans_export import SCOPE, Span, conversation_spans
from recordings.log.store import RunWriter
from recordings.log.turn_counts import add_missing_turns, most_turns
from topics.counting import pluralize
from topics.errors import InputError, Place

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

_NOWHERE = Place("")


def tracing_to(told: Callable[[str], object]) -> Callable[[RunWriter], AbstractContextManager[None]]:
    """Return `send_spans` for runs whose lost spans are reported to `told`. Raises InputError if the packages that send
    spans are not installed."""
    require_opentelemetry()
    return partial(send_spans, told=told)


@contextmanager
def send_spans(writer: RunWriter, told: Callable[[str], object]) -> Iterator[None]:
    """Send the spans of each attempt that `writer` stores, by OTLP over HTTP. At the end, wait until they are delivered
    or given up; `told` receives a sentence if some spans were not delivered."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

    delivered = 0

    class Counting(OTLPSpanExporter):
        def export(self, spans):  # type: ignore[no-untyped-def]
            nonlocal delivered
            result = super().export(spans)
            delivered += len(spans) if result is SpanExportResult.SUCCESS else 0
            return result

    with _quiet() as complaints, follow(writer, BatchSpanProcessor(Counting())) as spans:
        yield
    if lost := spans.made - delivered:
        why = f" ({complaints[0].rstrip('.')})" if complaints else ""
        told(
            f"{pluralize(lost, 'span')} could not be delivered{why}; the recording is complete, and `harvest data "
            "export --format otlp` writes all spans"
        )


@contextmanager
def follow(writer: RunWriter, processor: "SpanProcessor") -> Iterator["LiveSpans"]:
    """Give the spans of each attempt that `writer` stores to `processor`, which is shut down at the end."""
    spans = LiveSpans(writer, processor)
    writer.listener = spans.add
    try:
        yield spans
    finally:
        writer.listener = None
        spans.close()


class LiveSpans:
    """Makes spans of the events that `writer` stored. `made` is the number of spans so far."""

    def __init__(self, writer: RunWriter, processor: "SpanProcessor") -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.id_generator import IdGenerator

        class Ids(IdGenerator):
            """Gives the ids of the span that is made next."""

            trace, span = 0, 0

            def generate_trace_id(self) -> int:
                return self.trace

            def generate_span_id(self) -> int:
                return self.span

        self.made = 0
        self._header, self._worker = writer.header, writer.worker
        self._most_turns = most_turns(writer.header, ())
        self._attempts: dict[AttemptId, Attempt] = {}
        self._ids = Ids()
        named = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", SCOPE)})
        self._provider = TracerProvider(resource=named, id_generator=self._ids, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer(SCOPE)

    def add(self, event: Event) -> None:
        """Add a stored event. The end of an attempt makes its spans."""
        name = (event.trial_id, event.attempt)
        if isinstance(event, TrialStarted):
            self._attempts[name] = Attempt(event, self._worker, _NOWHERE)
            return
        if (attempt := self._attempts.get(name)) is None:  # it began before anybody followed
            return
        attempt.add_event(event, _NOWHERE)
        if isinstance(event, TrialEnded):
            self._make_spans(self._attempts.pop(name).conversation())

    def close(self) -> None:
        self._provider.shutdown()

    def _make_spans(self, one: Conversation) -> None:
        (whole,) = add_missing_turns([one], self._header)
        for span in conversation_spans(whole, self._most_turns.get((one.key.system, one.key.topic), 0)):
            self._make_span(span)

    def _make_span(self, span: Span) -> None:
        from opentelemetry.context import Context
        from opentelemetry.trace import (
            NonRecordingSpan,
            SpanContext,
            SpanKind,
            Status,
            StatusCode,
            TraceFlags,
            set_span_in_context,
        )

        self._ids.trace, self._ids.span = int(span.trace, 16), int(span.id, 16)
        above = Context()
        if span.parent:
            sampled = TraceFlags(TraceFlags.SAMPLED)
            parent = SpanContext(self._ids.trace, int(span.parent, 16), is_remote=False, trace_flags=sampled)
            above = set_span_in_context(NonRecordingSpan(parent), above)
        kind = SpanKind.CLIENT if span.parent else SpanKind.INTERNAL
        made = self._tracer.start_span(span.name, above, kind, span.attributes, start_time=span.start)
        if span.error:
            made.set_status(Status(StatusCode.ERROR, span.error))
        made.end(end_time=span.end)
        self.made += 1


def require_opentelemetry() -> None:
    """Raise InputError if the packages that send spans are not installed."""
    try:
        import opentelemetry.exporter.otlp.proto.http.trace_exporter
        import opentelemetry.sdk.trace  # noqa: F401
    except ImportError:
        raise InputError(
            "--spans needs OpenTelemetry's SDK, which is not installed",
            advice="pip install 'conversation-harvest[spans]'",
        ) from None


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """Collect what OpenTelemetry logs instead of printing it into the display of the run."""
    complaints: list[str] = []

    class Collecting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            complaints.append(record.getMessage())

    logger, handler = logging.getLogger("opentelemetry"), Collecting(logging.WARNING)
    propagated = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield complaints
    finally:
        logger.propagate = propagated
        logger.removeHandler(handler)
