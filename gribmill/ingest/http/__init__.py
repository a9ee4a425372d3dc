"""Requests to publishers: deadlines, rate limits, status codes, digests."""

__all__ = ["client", "deadline", "errors", "rate_limit", "response", "shared_rate_limit"]
