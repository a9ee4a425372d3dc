"""Names of fields: the lexicon, names from NCEP and ecCodes, and times as text."""

__all__ = ["array_name", "lexicon", "long_names", "own_variables", "time_range", "variable"]
