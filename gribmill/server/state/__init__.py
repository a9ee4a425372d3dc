"""What a running server keeps in memory: rate limits, verified tokens, the event feed, bulk operations."""

__all__ = ["buckets", "bulk", "event_feed", "verified_tokens"]
