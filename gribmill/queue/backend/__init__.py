"""What the store needs of a database, and one folder per database."""

__all__ = ["protocol", "sqlite"]
