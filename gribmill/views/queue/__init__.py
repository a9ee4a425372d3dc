"""Views of the queue: jobs, groups, events, triggers, workers, tenants."""

__all__ = [
    "attempt",
    "contract",
    "database",
    "definition",
    "event",
    "job",
    "job_group",
    "job_result",
    "job_stats",
    "job_template",
    "job_type",
    "reservation",
    "tenant",
    "trigger",
    "webhook",
    "worker",
]
