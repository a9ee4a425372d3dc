"""The tile file: NPZ with restart points, metadata, statistics."""
