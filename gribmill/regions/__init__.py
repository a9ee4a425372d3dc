"""Named places and the grids they cut."""

__all__ = ["box", "errors", "grids", "named_grid", "region", "tile_options", "window"]
