"""From packed values to float32 arrays: the native kernel first, ecCodes for the rest."""

__all__ = ["eccodes", "field", "winds"]
