"""Downloads the selected messages into the spool, and verifies them."""

__all__ = ["download", "download_plan", "errors", "remote_inventory"]
