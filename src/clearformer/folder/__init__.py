"""A model on disk: what it says of itself and how it reads its input (without torch), and with its weights."""
