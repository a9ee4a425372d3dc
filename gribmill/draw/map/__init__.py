"""One field of a tile as a PNG map."""
