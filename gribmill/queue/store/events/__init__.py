"""Events, and what responds to them: triggers and webhooks."""

__all__ = ["events", "triggers", "webhooks"]
