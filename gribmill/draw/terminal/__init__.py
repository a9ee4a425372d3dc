"""Fields and lines drawn with characters."""
