"""One file per job type: the only place where weather meets the queue."""
