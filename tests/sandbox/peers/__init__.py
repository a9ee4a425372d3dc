"""Third-party clients, each a script that runs in its own environment and prints JSON."""
