"""The supervisor process: its loop, its exchange with the store, its heartbeat and its upkeep."""

__all__ = ["clock_skew", "supervisor", "trigger_poller"]
