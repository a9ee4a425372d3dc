"""What the map in the browser needs beside tiles: colours, units and coastlines."""

__all__ = ["coastline_file", "colours", "variables"]
