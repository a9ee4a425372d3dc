"""A small OpenTelemetry collector on loopback: takes traces by OTLP over HTTP, and keeps their spans."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class ReceivedSpan(NamedTuple):
    """One span, as it was sent."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    error: str | None
    attributes: dict[str, Any]
    resource: dict[str, Any]


class OtlpReceiver:
    """Use it in a `with`. `status` is the answer to every request."""

    def __init__(self, status: int = 200) -> None:
        self.spans: list[ReceivedSpan] = []
        self.requests = 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.take(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1/traces"

    def take(self, body: bytes) -> None:
        self.requests += 1
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            resource = _values(group.resource.attributes)
            for scope in group.scope_spans:
                self.spans += [_span(one, resource) for one in scope.spans]

    def __enter__(self) -> OtlpReceiver:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _span(one: Any, resource: dict[str, Any]) -> ReceivedSpan:
    error = one.status.message if one.status.code == 2 else None
    return ReceivedSpan(
        one.trace_id.hex(), one.span_id.hex(), one.parent_span_id.hex(), one.name, one.start_time_unix_nano,
        one.end_time_unix_nano, error, _values(one.attributes), resource,
    )  # fmt: skip


def _values(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
