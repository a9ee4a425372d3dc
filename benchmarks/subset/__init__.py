"""Fetching some messages of an hour by its inventory: gribmill and Herbie, from the same mirror."""
