"""The data root: where files are located, and how they are written."""

__all__ = [
    "atomic",
    "bucket",
    "errors",
    "folder_lock",
    "latest",
    "layout",
    "no_space",
    "object_path",
    "object_ranges",
    "open_root",
    "store_options",
]
