"""Delivering events by HTTP: the signed message, and a client that connects to public addresses only."""

__all__ = ["message", "post"]
