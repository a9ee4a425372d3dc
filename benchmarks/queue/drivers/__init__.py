"""One small program per queue, all with the same commands; each runs in that queue's own environment."""
