"""Tokens and the audit trail."""

__all__ = ["audit", "token"]
