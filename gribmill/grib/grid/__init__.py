"""The grid section of both editions, converted to `gribmill.regions.grids`."""

__all__ = ["grid", "grid_section", "scan_order"]
