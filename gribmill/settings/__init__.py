"""The settings: gribmill.toml, GRIBMILL_* variables and options, as one validated object."""

__all__ = ["describe_schema", "load", "origin", "schema", "toml_file"]
