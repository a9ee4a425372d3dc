"""The web console, rendered on the server; scripts only refresh what is shown."""

__all__ = ["extension"]
