"""From an index to verified messages in the spool."""
