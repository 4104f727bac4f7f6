"""The command line: `main.py` finds the verb, one file a verb does it."""
