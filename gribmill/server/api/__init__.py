"""The HTTP API of the queue. gribmill.views.queue.contract alone knows how the contract's names and ours
correspond."""

__all__ = ["bulk", "event_feed", "routers"]
