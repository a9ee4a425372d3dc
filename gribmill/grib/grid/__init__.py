"""Grid sections of both editions, read into `gribmill.regions.grids`."""

__all__ = ["grid", "scan_order"]
