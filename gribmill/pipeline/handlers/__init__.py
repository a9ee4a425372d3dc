"""One file per job type: what its job does."""
