"""The JSON that gribmill shows to programs, as printed by `--json`: pydantic models with a JSON Schema."""

__all__ = ["access", "chain", "data", "queue", "view"]
