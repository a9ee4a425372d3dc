"""Draws a point forecast over time, as PNG or text."""

__all__ = ["curves", "png", "text"]
