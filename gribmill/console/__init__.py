"""The console: pages of `gribmill serve` for people. Rendered on the server; scripts only refresh what is shown."""

__all__ = ["extension"]
