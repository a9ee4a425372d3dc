"""Looks for what is wrong in a data root, and mends it: tiles against their records, and the checks of `doctor`."""

__all__ = ["recorded_tiles", "repair"]
