"""Workers: a supervisor process and the executor processes that it manages."""

__all__ = [
    "attempt_log",
    "direct",
    "executor",
    "in_process",
    "options",
    "outage",
    "outcome_message",
    "output",
    "run_command",
    "supervisor",
    "task",
]
