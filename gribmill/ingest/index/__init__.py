"""What a file holds, as its index says: NOAA's .idx and ECMWF's .index."""
