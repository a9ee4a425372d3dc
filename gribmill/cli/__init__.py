"""The command line, one file per noun."""

__all__ = ["main"]
