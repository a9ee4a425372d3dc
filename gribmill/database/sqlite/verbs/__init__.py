"""What must be atomic: each verb runs inside one write transaction, and looks at how many rows it changed."""

__all__ = [
    "cancellation",
    "claims",
    "completion",
    "enqueue",
    "events",
    "ordering",
    "recovery",
    "reservations",
    "tenants",
    "triggers",
    "verification",
    "workers",
]
