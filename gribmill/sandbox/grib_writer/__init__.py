"""Writes GRIB: messages through ecCodes, sections octet by octet. Imports nothing of ecCodes until it is used."""

__all__ = ["grib_message", "grid_keys", "level_keys", "sections"]
