"""The HTTP API of the queue. contract.py alone knows how the contract's names and ours correspond."""

__all__ = ["bulk", "event_feed", "routers"]
