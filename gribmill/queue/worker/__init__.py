"""Processes that run jobs: one supervisor, and executors that it may kill."""
