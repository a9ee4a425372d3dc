"""What exists: runs, hours, tiles and mirrors, recorded in the queue's database."""
