"""Executor processes: starting them, talking to them, and what runs inside one."""

__all__ = ["die_with_parent", "handle", "lane", "pool"]
