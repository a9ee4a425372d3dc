"""Fields and lines drawn with characters."""

__all__ = ["braille", "picture", "raster"]
