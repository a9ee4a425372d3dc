"""How values are packed, and validation of a packing before it is decoded."""

__all__ = ["describe", "validate", "wide_png"]
