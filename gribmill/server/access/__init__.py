"""Who may do what: roles, one table of operations, and who made a request."""

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
