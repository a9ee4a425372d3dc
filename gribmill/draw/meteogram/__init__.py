"""A point forecast over time, as PNG or text."""
