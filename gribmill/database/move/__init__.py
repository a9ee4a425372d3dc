"""Copies everything of one database into another of a different kind, in steps that can be resumed."""

__all__ = ["move", "side"]
