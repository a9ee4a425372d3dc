"""Workers: a supervisor process and the executor processes that it manages."""

__all__ = [
    "direct",
    "executor",
    "in_process",
    "job_end",
    "kept_logs",
    "options",
    "outcome_message",
    "output_log",
    "run_command",
    "supervisor",
    "task",
    "throttled_log",
]
