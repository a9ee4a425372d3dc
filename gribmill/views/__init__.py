"""The shapes that gribmill shows to programs: what `--json` prints, as pydantic models with a JSON Schema."""

__all__ = [
    "attempt",
    "backfill",
    "download",
    "grib",
    "job",
    "job_result",
    "job_stats",
    "job_type",
    "model",
    "point",
    "prune",
    "region",
    "reservation",
    "scan",
    "setting",
    "status",
    "tile",
    "trigger",
    "view",
    "worker",
]
