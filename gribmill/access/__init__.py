"""Access to the server: tokens, sessions, the audit trail and idempotency keys."""

__all__ = [
    "audit",
    "errors",
    "idempotency",
    "permissions",
    "sessions",
    "tokens",
]
