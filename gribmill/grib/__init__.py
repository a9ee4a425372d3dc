"""GRIB in: from bytes to fields on a named grid."""

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
