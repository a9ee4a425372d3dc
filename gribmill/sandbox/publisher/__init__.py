"""An HTTP server that serves a folder in the manner of S3, Google Cloud Storage and NOMADS."""

__all__ = ["fault", "faults", "server"]
