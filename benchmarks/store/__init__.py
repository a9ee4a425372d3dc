"""Tiles in an object store: writing them, and reading a point of a whole run, beside zarr with xarray and s3fs."""
