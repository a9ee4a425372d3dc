"""Named places and the grids they cut."""
