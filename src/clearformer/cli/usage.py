"""Something was asked for in a way that cannot be meant: exit code 2, like argparse's own errors."""


class UsageError(ValueError):
    """The arguments do not go together; the message says how they would."""
