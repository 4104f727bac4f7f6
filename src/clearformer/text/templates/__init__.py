"""The part of the Jinja language that published chat templates need, read without running code."""
