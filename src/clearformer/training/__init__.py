"""One training loop for every task and device; what differs is passed in."""
