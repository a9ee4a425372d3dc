"""The queue's database as PostgreSQL holds it."""

__all__: list[str] = []
