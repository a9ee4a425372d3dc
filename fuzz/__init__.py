"""Fuzzing of the native decode kernel."""
