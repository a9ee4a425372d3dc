"""The version, in a separate module that any other module may import."""

__version__ = "0.1.0"
