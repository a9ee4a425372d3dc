"""A mirror of one's own: a folder served as the clouds do, and made-up forecasts to fill it with."""

__all__ = ["errors", "forecast", "publication", "publisher"]
