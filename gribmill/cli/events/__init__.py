"""Commands for events, and for what responds to them: triggers and webhooks."""

__all__: list[str] = []
