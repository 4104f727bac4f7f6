"""The Transformer and everything it is made of: parts, stacks, families. Imports torch and nothing of ours."""
