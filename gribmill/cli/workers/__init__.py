"""Commands that run jobs, and the list of workers."""

__all__: list[str] = []
