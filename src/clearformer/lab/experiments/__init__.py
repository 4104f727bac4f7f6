"""One file per claim. Each opens with the claim and the number that is expected, and ends with its record."""
