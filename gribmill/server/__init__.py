"""HTTP API, console and metrics."""
