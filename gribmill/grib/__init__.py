"""Reads GRIB: from bytes to fields with names, on named grids."""

__all__ = [
    "decode",
    "errors",
    "guess_model",
    "inventory",
    "message_header",
    "messages",
    "names",
    "open_grib",
    "product",
    "sections",
    "signatures",
]
