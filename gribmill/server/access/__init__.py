"""Who may do what: roles, one table of operations, and who made a request."""

__all__ = ["principal", "table"]
