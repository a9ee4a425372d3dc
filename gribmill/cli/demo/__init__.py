"""`gribmill demo`: a guided tour with real processes."""

__all__: list[str] = []
