"""OpenTelemetry traces of the chain: one trace for each file, from the scan that found it to its last tile."""

__all__ = ["worker_tracer"]
