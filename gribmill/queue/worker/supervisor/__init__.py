"""The supervisor process: its loop, its exchange with the store, heartbeat and maintenance."""

__all__ = ["clock_skew", "supervisor", "trigger_poller"]
