"""Workers: a supervisor process and the executor processes that it manages."""

__all__ = [
    "direct",
    "in_process",
    "job_end",
    "kept_logs",
    "lane",
    "options",
    "outcome_message",
    "output_log",
    "run_command",
    "supervisor",
    "task",
    "throttled_log",
]
