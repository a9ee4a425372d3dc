"""Workers that are killed and a server that crashes, under gribmill, procrastinate and pgqueuer at the same time."""
