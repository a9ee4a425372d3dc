"""The data root: where files are, and how they are written."""

__all__ = ["atomic", "folder_lock", "latest", "layout", "no_space"]
