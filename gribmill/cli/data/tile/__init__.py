"""`gribmill tile`: one file per verb."""

__all__: list[str] = []
