"""The command line: `main.py` finds the verb, each verb has one file."""
