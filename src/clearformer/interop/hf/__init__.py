"""Hugging Face's folders: one file a family, with its configuration and its names in both directions."""
