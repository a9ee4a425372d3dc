"""Formats numbers, sizes, durations and tables for a terminal."""

__all__ = ["figures", "plain_lines", "status_text", "terminal_text"]
