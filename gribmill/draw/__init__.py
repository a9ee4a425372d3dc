"""Tiles and point series drawn: in the terminal, or as PNG with the optional extra `plot`."""

__all__ = ["map", "meteogram", "of_tile", "palette", "terminal"]
