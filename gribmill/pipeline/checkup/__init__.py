"""Looks for what is wrong in a data root, and mends it: tiles against their records, and the checks of `doctor`."""

__all__ = ["doctor", "files", "finding", "recorded_tiles", "repair"]
