"""The database: the protocol that the store uses, and one folder per dialect with code, SQL and migrations."""

__all__ = ["move", "postgres", "protocol", "records", "sqlite", "status"]
