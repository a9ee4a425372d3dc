"""The data root: where files are, and how they are written."""

__all__ = [
    "atomic",
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
