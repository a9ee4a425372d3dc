"""`gribmill templates`."""

__all__: list[str] = []
