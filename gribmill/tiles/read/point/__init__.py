"""The forecast at a place."""

__all__ = ["point", "sample", "series"]
