"""The command line, one file per noun."""
