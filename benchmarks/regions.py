"""The regions that are cut: eight built-in ones of ordinary size, all on HRRR's grid."""

EIGHT = ("ne", "nw", "sw", "se", "mw", "mid_atlantic", "great_lakes", "southern_plains")
