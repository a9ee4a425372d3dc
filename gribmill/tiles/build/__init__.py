"""Builds tiles from GRIB files."""

__all__ = ["build", "choose_names", "field_windows", "region_cut", "tile_builder", "tile_writer"]
