"""What a field is called: the lexicon, NCEP's and ecCodes' names, levels, time ranges."""

__all__ = [
    "array_name",
    "eccodes_names",
    "ensemble_labels",
    "levels",
    "lexicon",
    "ncep",
    "variable",
    "vectors",
    "wgrib2_time",
]
