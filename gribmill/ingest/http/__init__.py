"""Requests to publishers: deadlines, rate limits, status codes, digests."""
