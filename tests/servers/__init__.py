"""Servers that tests use: started by the suite itself, once per run, on loopback."""
