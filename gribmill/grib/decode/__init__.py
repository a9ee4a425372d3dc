"""Decodes packed values to float32 arrays, with the native kernel or else with ecCodes."""

__all__ = ["eccodes", "field", "winds"]
