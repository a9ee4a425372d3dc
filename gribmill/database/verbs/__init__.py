"""Atomic operations: each verb runs inside one write transaction, and checks how many rows it changed.

The verbs here are common to all dialects, though their statements may differ. Each dialect implements the others.
"""

__all__ = ["common_verbs", "completion", "events", "fair_claims", "new_jobs", "reservations", "session"]
