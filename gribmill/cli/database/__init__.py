"""`gribmill db`."""

__all__: list[str] = []
