"""Grid sections of both editions, read into `gribmill.regions.grids`."""
