"""This package compared with its peers in one run: the machine, the work, the race, the table."""
