"""The web console. Pages are rendered on the server and refreshed by scripts."""

__all__ = ["extension"]
