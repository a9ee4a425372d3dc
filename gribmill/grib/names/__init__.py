"""Names of fields: the lexicon, names from NCEP and ecCodes, and levels and times as text."""

__all__ = [
    "array_name",
    "code_tables",
    "constituents",
    "lexicon",
    "long_names",
    "mrms",
    "ncep",
    "own_variables",
    "variable",
    "wgrib2_time",
    "window_name",
]
