"""Authentication and authorization: who made a request, and which role each operation needs."""

__all__ = [
    "authentication",
    "authorization",
    "principal",
    "return_path",
    "same_origin",
    "session_cookie",
    "table",
    "worker_id",
]
