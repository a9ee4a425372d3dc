"""A publisher for tests and demos: serves a folder over HTTP as S3 does, and fills it with synthetic forecasts."""

__all__ = ["client_settings", "errors", "forecast", "publication", "publisher"]
