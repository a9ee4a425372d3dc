"""The file format of tiles: NPZ with restart points, metadata and statistics."""

__all__ = [
    "meta",
    "meta_member",
    "npz_reader",
    "npz_writer",
    "requantize",
    "tile_grid",
]
