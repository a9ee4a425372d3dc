"""The data root: where files are located, and how they are written."""

__all__ = [
    "atomic",
    "bucket",
    "errors",
    "latest",
    "layout",
    "object_path",
    "object_ranges",
    "open_root",
]
