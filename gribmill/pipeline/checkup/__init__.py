"""Finds and repairs problems of a data root: tiles against the catalogue, and the checks of `doctor`."""

__all__ = ["doctor", "files", "finding", "recorded_tiles", "repair"]
