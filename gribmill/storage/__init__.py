"""The data root: where files are, and how they are written."""

__all__ = ["atomic", "latest", "layout"]
