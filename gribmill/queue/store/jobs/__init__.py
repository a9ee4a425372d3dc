"""Jobs, attempts and groups: preparing, enqueueing, listing, ordering."""

__all__ = [
    "attempts",
    "groups",
    "jobs",
    "listing",
    "readiness",
]
