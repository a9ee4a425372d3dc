"""What the store needs of a database, and one folder per dialect: code, SQL, migrations."""

__all__ = ["move", "postgres", "protocol", "records", "sqlite", "status"]
