"""Descriptions of models: where their runs are published, which hours they have, and when."""

__all__ = ["hour_ranges", "model", "registry"]
