"""Commands for events and webhooks."""

__all__: list[str] = []
