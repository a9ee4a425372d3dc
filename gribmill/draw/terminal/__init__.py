"""Draws fields and lines with characters."""

__all__ = ["braille", "picture"]
