"""Commands of `gribmill triggers`: one file per group of verbs."""

__all__ = ["fire"]
