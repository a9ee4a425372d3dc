"""Middleware: applied to every request and response."""

__all__ = ["body_limit", "compression", "host_check", "security_headers"]
