"""One program per queue on PostgreSQL, all with the same commands; each runs in that queue's own environment."""
