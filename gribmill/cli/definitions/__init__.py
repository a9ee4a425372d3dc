"""`gribmill definitions`: one file per verb."""

__all__: list[str] = []
