"""One file per job type: what its job does."""

__all__ = ["build_tile", "ingest_grib", "prune", "publish", "scan_source"]
