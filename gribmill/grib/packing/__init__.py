"""How values are packed, and checks that a packing is consistent before it is decoded."""

__all__ = ["describe", "validate"]
