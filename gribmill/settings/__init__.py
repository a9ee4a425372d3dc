"""The settings: gribmill.toml, GRIBMILL_* variables and options, as one validated object."""

__all__ = ["load", "schema", "toml_file"]
