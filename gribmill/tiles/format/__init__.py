"""The tile file: NPZ with restart points, metadata, statistics."""

__all__ = [
    "generation",
    "grid_file",
    "grid_record",
    "meta",
    "meta_text",
    "npz_reader",
    "npz_writer",
    "requantize",
    "statistics",
]
