"""What the map needs besides tiles: colours, units and coastlines."""

__all__ = ["coastline_file", "colours", "variables"]
