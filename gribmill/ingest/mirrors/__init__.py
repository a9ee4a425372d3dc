"""Upstream mirrors, their hosts, and the circuit breaker that skips failing ones."""
