"""The job queue beside huey, litequeue and persist-queue."""
