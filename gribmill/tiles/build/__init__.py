"""Builds tiles from GRIB files."""

__all__ = ["build", "choose_names", "cut", "fill_values", "region_cut", "rotate_winds", "tile_builder", "tile_writer"]
