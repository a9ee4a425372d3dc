"""Which hours of a run a mirror has."""
