"""What must be atomic: each verb runs inside one write transaction, and looks at how many rows it changed.

These are written alike for every dialect, over statements that may differ. A dialect writes the others itself.
"""

__all__ = [
    "common_verbs",
    "completion",
    "copies",
    "dependents",
    "fair_claims",
    "new_jobs",
    "reservations",
    "session",
    "triggers",
]
