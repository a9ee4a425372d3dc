"""The tile file: NPZ with restart points, metadata, statistics."""

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
