"""Upstream mirrors, their hosts, and the circuit breaker that skips failing ones."""

__all__ = ["circuit_breaker", "mirror"]
