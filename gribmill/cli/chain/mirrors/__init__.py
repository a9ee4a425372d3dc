"""`gribmill mirrors`."""

__all__: list[str] = []
