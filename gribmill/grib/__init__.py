"""Reads GRIB files: splits them into messages, and names and decodes the fields in them."""

__all__ = [
    "decode",
    "errors",
    "guess_model",
    "inventory",
    "messages",
    "names",
    "open_grib",
    "product",
    "sections",
]
