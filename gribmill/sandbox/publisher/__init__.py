"""An HTTP server that serves a folder as S3, Google Cloud Storage and NOMADS do."""

__all__ = ["fault", "faults", "server"]
