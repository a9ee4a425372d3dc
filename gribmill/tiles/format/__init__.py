"""The file format of tiles: NPZ with restart points, metadata and statistics."""

__all__ = [
    "grid_file",
    "grid_record",
    "meta",
    "meta_member",
    "meta_text",
    "npz_reader",
    "npz_writer",
    "requantize",
    "statistics",
]
