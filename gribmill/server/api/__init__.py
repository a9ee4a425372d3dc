"""The HTTP API of the queue. Only gribmill.views.queue.contract maps between the contract's names and ours."""

__all__ = ["routers"]
