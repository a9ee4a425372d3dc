"""Copies a database into one of the other kind, in steps that can be resumed."""

__all__ = ["move", "side"]
