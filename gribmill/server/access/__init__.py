"""Authentication and authorization: who made a request, and which role each operation needs."""

__all__ = [
    "authentication",
    "authorization",
    "buckets",
    "principal",
    "same_origin",
    "session_cookie",
    "table",
    "verified_tokens",
]
