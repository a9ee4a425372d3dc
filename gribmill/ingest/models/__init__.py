"""Models as data: where runs are published, which hours they have, and when."""
