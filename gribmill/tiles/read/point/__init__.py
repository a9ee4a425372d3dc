"""The forecast at a place."""
