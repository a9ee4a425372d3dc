"""Commands that run jobs, and commands that list and manage workers."""

__all__: list[str] = []
