"""GRIB in: from bytes to fields on a named grid."""

__all__ = ["decode", "errors", "guess_model", "header", "inventory", "messages", "names", "open_grib", "product"]
