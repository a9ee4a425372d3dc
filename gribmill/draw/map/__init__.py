"""Draws one field of a tile as a PNG map."""

__all__ = ["coastlines", "extremes", "graticule", "plane", "png"]
