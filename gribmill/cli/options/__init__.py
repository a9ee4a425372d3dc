"""Types of options and arguments shared by several commands."""

__all__ = [
    "accepted_by",
    "argument_values",
    "config_variable",
    "duration",
    "ids",
    "job_types",
    "lanes",
    "moment",
    "number_range",
    "parse_names",
    "png_path",
    "scale_options",
    "size",
]
