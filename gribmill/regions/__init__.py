"""Named regions, grids, and the windows of regions on grids."""

__all__ = ["box", "errors", "grids", "region", "tile_options", "window"]
