"""The grid section of both editions, converted to `gribmill.regions.grids`."""

__all__ = ["grid", "grid_section", "reduced_gaussian", "scan_order"]
