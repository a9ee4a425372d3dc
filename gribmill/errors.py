"""The root of every error that gribmill raises for a person to read."""


class GribmillError(Exception):
    """A sentence for a person: what was wrong, where, and what to do. Exits with code 1."""
