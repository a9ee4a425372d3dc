"""Reads GRIB: from bytes to fields with names, on named grids."""

__all__ = [
    "decode",
    "errors",
    "field_identity",
    "guess_model",
    "inventory",
    "messages",
    "names",
    "open_grib",
    "product",
    "sections",
]
