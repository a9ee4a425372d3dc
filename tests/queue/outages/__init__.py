"""What workers do when their database server fails."""
