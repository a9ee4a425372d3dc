"""Types of options and arguments that several commands take."""

__all__ = ["duration", "ids", "lanes", "parse_names", "png_path"]
