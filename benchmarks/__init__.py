"""Speed, side by side with the peers in one run. Nothing here is part of the test suite."""
