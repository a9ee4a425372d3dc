"""Describes how values are packed, and validates packed values before they are decoded."""

__all__ = ["describe", "images", "validate"]
