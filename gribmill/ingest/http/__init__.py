"""Requests to publishers: deadlines, rate limits, status codes, digests."""

__all__ = ["client", "deadline", "local_files", "rate_limit", "response"]
