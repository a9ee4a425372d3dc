"""Writes GRIB: messages with ecCodes, sections octet by octet. ecCodes is imported only when it is used."""

__all__ = ["grib_message", "grid_keys", "level_keys", "sections"]
