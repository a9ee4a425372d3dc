"""Named regions, grids, and the windows that regions cut from grids."""

__all__ = ["box", "errors", "grids", "named_grid", "region", "tile_options", "window"]
