"""Verify tiles and compare them."""
