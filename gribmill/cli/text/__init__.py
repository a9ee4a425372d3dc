"""Formats numbers, sizes, durations and tables for a terminal."""

__all__ = ["counted", "format_duration", "format_size", "plain_lines", "status_text", "terminal_text"]
