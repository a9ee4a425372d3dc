"""Reads the grid section of both editions, and converts it to `gribmill.regions.grids`."""

__all__ = ["grid", "grid_section", "rows"]
