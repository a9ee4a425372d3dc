"""Tiles in an object store: writing them, and a point over a whole run, beside s3fs with xarray and zarr."""
