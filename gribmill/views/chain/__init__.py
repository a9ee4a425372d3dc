"""Views of the chain: models, mirrors, scans, downloads, status."""

__all__ = ["backfill", "doctor", "download", "inventory", "mirror", "model", "prune", "scan", "setting", "status"]
