"""`gribmill groups`."""
