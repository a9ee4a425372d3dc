"""Authentication and authorization: who made a request, and which role each operation needs."""

__all__ = [
    "authentication",
    "authorization",
    "buckets",
    "principal",
    "return_path",
    "same_origin",
    "session_cookie",
    "table",
    "verified_tokens",
    "worker_id",
]
