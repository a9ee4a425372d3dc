"""Sends spans to an OpenTelemetry collector by OTLP over HTTP. Needs `gribmill[trace]`."""

from __future__ import annotations

from datetime import datetime

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation import set_span_in_context

from gribmill.pipeline.tracing.spans import SpanRecord
from gribmill.version import __version__

SEND_EVERY_MS = 2000
TIMEOUT_SECONDS = 10
LONGEST_ERROR = 1000


class GivenIds(IdGenerator):
    """Provides the ids of the next span. Only one thread creates spans."""

    trace_id = 0
    span_id = 0

    def generate_trace_id(self) -> int:
        return self.trace_id

    def generate_span_id(self) -> int:
        return self.span_id


class OtlpSender:
    """Sends spans in batches, in a thread of the SDK. Spans that cannot be sent are dropped."""

    def __init__(self, endpoint: str, share: float, worker_id: str) -> None:
        self._ids = GivenIds()
        resource = Resource.create(
            {"service.name": "gribmill", "service.version": __version__, "service.instance.id": worker_id}
        )
        # Sampling by trace id alone, so that all workers keep the same traces.
        self._provider = TracerProvider(
            sampler=TraceIdRatioBased(share), resource=resource, id_generator=self._ids, shutdown_on_exit=False
        )
        exporter = OTLPSpanExporter(endpoint=endpoint, timeout=TIMEOUT_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=SEND_EVERY_MS))
        self._tracer = self._provider.get_tracer("gribmill", __version__)

    def send(self, record: SpanRecord) -> None:
        self._ids.trace_id, self._ids.span_id = record.trace_id, record.span_id
        span = self._tracer.start_span(
            record.name,
            context=_below(record),
            kind=SpanKind.CONSUMER,
            attributes=record.attributes,
            start_time=_nanoseconds(record.started_at),
        )
        if record.error is not None:
            span.set_status(Status(StatusCode.ERROR, record.error[:LONGEST_ERROR]))
        span.end(_nanoseconds(record.ended_at))

    def close(self, seconds: float) -> None:
        """Send the remaining spans, within the time limit."""
        self._provider.force_flush(round(seconds * 1000))
        self._provider.shutdown()


def _below(record: SpanRecord) -> Context:
    if record.parent_id is None:
        return Context()
    parent = SpanContext(record.trace_id, record.parent_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return set_span_in_context(NonRecordingSpan(parent), Context())


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000) * 1_000_000
