"""Who may use the server: tokens, sessions, the audit trail, and requests that must not be done twice."""

__all__ = ["audit", "errors", "idempotency", "roles", "scopes", "sessions", "tokens"]
