"""Clients that others wrote, each a script that runs in an environment of its own and prints JSON."""
