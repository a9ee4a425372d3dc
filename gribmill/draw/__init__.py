"""Draws tiles and point forecasts in the terminal, or as PNG with the optional extra `plot`."""

__all__ = ["map", "meteogram", "of_tile", "palette", "terminal"]
