"""Measurements, side by side with other programs; `make bench` runs them all."""

# Before ecCodes, whose wheels bring an old SQLite along.
import sqlite3  # noqa: F401
