"""How numbers, sizes, durations and tables are written on a terminal."""

__all__ = ["counted", "fit_table", "format_duration", "format_size", "plain_lines", "status_text", "terminal_text"]
