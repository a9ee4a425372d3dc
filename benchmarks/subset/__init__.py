"""Fetching some messages of an hour by its index: gribmill and Herbie, from the same mirror."""
