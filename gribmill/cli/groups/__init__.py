"""`gribmill groups`."""

__all__: list[str] = []
