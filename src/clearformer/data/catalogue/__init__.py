"""Known corpora: where they come from, their licences and checksums, and how to fetch them."""
