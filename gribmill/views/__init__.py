"""The shapes that gribmill shows to programs: what `--json` prints, as pydantic models with a JSON Schema."""

__all__ = ["access", "chain", "data", "queue", "view"]
