"""Named regions, grids, and the windows of regions on grids."""

__all__ = ["box", "errors", "grids", "named_grid", "region", "tile_options", "window"]
