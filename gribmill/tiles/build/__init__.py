"""Builds tiles from GRIB files."""

__all__ = ["build", "describe_fields", "region_cut", "tile_builder", "tile_writer"]
